// The columns of a file that a command carries from input to output beside the coordinates.
#pragma once

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// Rows to be written: coordinates, then the carried columns.
struct KeptRows {
  PointSet points;
  std::vector<std::string> names;  ///< one per column; empty if the input names none
  std::optional<io::Labels> labels;
};

/// One column of scores, if any, and others that are only carried along.
class KeptColumns {
 public:
  /// `score` may be empty. Columns that are coordinates already (named in `read.columns`) are not carried twice.
  KeptColumns(const std::string& score, const std::vector<std::string>& carried, const io::ReadOptions& read);

  /// What to read beside the coordinates.
  const std::vector<std::string>& extras() const { return extras_; }
  /// Throws UsageError if the file has no such columns at all, as an index has none.
  void require_in(const io::PointFile& file, const std::string& path) const;
  /// The column of scores as doubles; empty without one.
  std::vector<double> scores(const io::PointFile& file) const;
  /// The rows of these numbers with all their columns. If the types differ, all become f64, which holds both.
  KeptRows take(const io::PointFile& file, const std::vector<std::uint32_t>& rows, int threads) const;

 private:
  std::vector<std::string> extras_;     // the score first
  std::vector<std::uint32_t> carried_;  // which of them are written
  bool has_score_ = false;
};

}  // namespace kith::cli
