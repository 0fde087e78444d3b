// The columns of a file that a command passes on beside the coordinates: all of them, unless flags say otherwise.
#pragma once

#include "output_flags.hpp"

#include <kith/io/table.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

/// What the flags say about columns.
struct ColumnFlags {
  std::string by;                  ///< the column of scores; empty: none
  std::vector<std::string> carry;  ///< only these beside the coordinates and the scores; empty: all
  std::vector<std::string> drop;   ///< but not these; "all": coordinates only
};

/// What a result has in place of columns of the file, or besides; one value per row that is written.
struct NewColumns {
  const PointSet* coordinates = nullptr;  ///< in place of those that were read
  std::vector<io::Column> columns = {};   ///< in place of those of the same name, else behind all others
};

/// Points and, unless nothing else is wanted, the table that they are taken from.
class KeptColumns {
 public:
  /// Reads the file once. Throws as `read_input`, and UsageError if a column is not there.
  KeptColumns(const std::string& path, const ColumnFlags& flags, const io::ReadOptions& read, const OutputFlags& output,
              const ProgressCallback& progress);

  const io::PointFile& file() const { return file_; }
  /// The column of scores as doubles; empty without one.
  std::vector<double> scores() const;
  /// Writes the rows of these numbers. Prints notes on what the format cannot hold.
  void write(const std::string& path, std::span<const std::uint32_t> rows, const io::WriteOptions& options,
             const OutputFlags& output, int threads) const;
  /// The same with new columns.
  void write(const std::string& path, std::span<const std::uint32_t> rows, const NewColumns& fresh,
             const io::WriteOptions& options, const OutputFlags& output, int threads) const;
  /// The first column of this name, in any case, that holds numbers and is no coordinate; null if there is none.
  const io::Column* find_numbers(std::string_view name) const;

 private:
  void choose(const std::string& path, const ColumnFlags& flags, const io::ReadOptions& read);
  void replace_coordinates(io::Table& table, const PointSet& coordinates) const;

  io::PointFile file_;
  io::Table table_;                            // empty: there is nothing beside the coordinates, or it is not wanted
  std::vector<std::string> coordinate_names_;  // in the table, one per dimension
};

}  // namespace kith::cli
