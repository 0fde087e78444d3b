// The columns of a file that dedupe passes on beside the coordinates: all of them, unless flags say otherwise.
#pragma once

#include "output_flags.hpp"

#include <kith/io/table.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::cli {

/// What the flags say about columns.
struct ColumnFlags {
  std::string by;                  ///< the column of scores; empty: none
  std::vector<std::string> carry;  ///< only these beside the coordinates and the scores; empty: all
  std::vector<std::string> drop;   ///< but not these; "all": coordinates only
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

 private:
  void choose(const std::string& path, const ColumnFlags& flags, const io::ReadOptions& read);

  io::PointFile file_;
  io::Table table_;  // empty: there is nothing beside the coordinates, or it is not wanted
};

}  // namespace kith::cli
