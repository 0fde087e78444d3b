// What kith classify learns from and what it labels, read and brought to scale.
#pragma once

#include "commands/classify_flags.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/neighbor_options.hpp>
#include <kith/io/class_file.hpp>
#include <kith/io/read_points.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::cli {

/// A test file, read so that its coordinates are those of the training file.
struct TestFile {
  io::PointFile content;
  io::ReadOptions read;     ///< how it was read
  bool has_target = false;  ///< the column of --label or --regress is there
};

/// Columns go together by name where both files have names, else by position; the column to be predicted may be
/// missing. Throws UsageError that names what does not fit; else as `io::read_points`.
TestFile read_test_file(const ClassifyFlags& flags, const io::PointFile& train, const ProgressCallback& progress);

/// A row of the test file whose field for the label is empty.
inline constexpr std::uint32_t kNoTruth = std::numeric_limits<std::uint32_t>::max();

/// A row of the test file that gets no label.
inline constexpr std::uint32_t kLeftOut = kNoTruth;

struct ClassifyInput {
  io::ClassFile class_file;  ///< if FILE was given
  TestFile test;             ///< else

  PointView points;                  ///< what is known, brought to scale
  PointView queries;                 ///< what is to be labelled
  std::vector<std::uint32_t> codes;  ///< of the points: their classes
  std::uint32_t classes = 0;         ///< of the points
  std::vector<std::string> names;    ///< of tables: the classes of the points, in order, then others of the test file
  std::vector<std::uint32_t> truth;  ///< of the queries: numbers into `names`, or kNoTruth; empty if not known
  std::vector<double> values;        ///< of the points, for --regress
  std::vector<double> true_values;   ///< of the queries, NaN where missing; empty if not known
  /// With --skip-nonfinite, per row of the test file: its number among the queries, or kLeftOut; empty: all are
  /// queries.
  std::vector<std::uint32_t> query_of_row;
  std::uint64_t points_left_out = 0;
  std::uint64_t queries_left_out = 0;
  double read_ms = 0;
  double scale_ms = 0;

  apps::LabelView labels() const { return {codes, classes}; }
  /// Which query a row of the test file is, or kLeftOut.
  std::uint64_t query_of(std::uint64_t row) const { return query_of_row.empty() ? row : query_of_row[row]; }

  PointSet own_points;  ///< what the views look at
  PointSet own_queries;
};

/// Reads the files, puts classes in order (numbers by value, else by their bytes) and scales. Throws as the readers;
/// BadData, unless --skip-nonfinite, if a training row has no label or a value is not finite.
ClassifyInput read_classify_input(const ClassifyFlags& flags, TerminalProgress& progress);

}  // namespace kith::cli
