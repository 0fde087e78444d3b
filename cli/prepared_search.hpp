// The steps that knn and radius share: read, build or load, report.
#pragma once

#include "result_columns.hpp"
#include "search_flags.hpp"
#include "search_times.hpp"
#include "terminal_progress.hpp"

#include <kith/index.hpp>
#include <kith/io/read_points.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::cli {

/// The index, built from points or loaded from a file, and the queries.
class PreparedSearch {
 public:
  using Check = std::function<void(std::uint64_t, DType)>;

  /// Reads and builds, or loads. `check` is called before the index is made with the number of queries and the dtype,
  /// for estimates that must come before the work.
  PreparedSearch(const SearchFlags& flags, TerminalProgress& progress, const Check& check);

  const Index& index() const { return *index_; }
  PointView queries() const { return queries_; }
  std::uint64_t query_count() const { return query_count_; }
  /// How the search runs: the flags, and what was read for them. Valid as long as this lives.
  SearchOptions options(const ProgressCallback& progress) const;
  /// What was read from --radius-file: one per query; empty without it.
  std::span<const double> radii() const { return radii_; }

  /// The columns of both files, if the flags want them.
  const ResultColumns& columns() const { return columns_; }

  /// points, queries, engine, device, threads and the other keys that both commands report.
  nlohmann::ordered_json report() const;
  /// "brute force, cpu, 2 threads" for people.
  std::string engine_text() const;
  /// Those of reading and building.
  SearchTimes times() const;
  /// "3 points and 0 queries with NaN or infinity were left out", or nothing.
  std::string skipped_text() const;

 private:
  void read_and_build(TerminalProgress& progress, const Check& check);
  void load(TerminalProgress& progress, const Check& check);
  /// Sets the queries; `dims` are those of the points, for a file without rows.
  void read_query_file(DType dtype, std::uint32_t dims, TerminalProgress& progress);
  /// What --allow and --radius-file name; the queries are known.
  void read_value_files(std::uint64_t points, TerminalProgress& progress);

  const SearchFlags& flags_;
  io::PointFile points_file_;
  std::optional<io::PointFile> queries_file_;
  PointView queries_;
  ResultColumns columns_;
  std::uint64_t query_count_ = 0;
  bool loaded_ = false;
  std::optional<Index> index_;
  std::vector<std::uint64_t> allowed_;
  std::vector<double> radii_;
  std::uint64_t skipped_queries_ = 0;
  double read_ms_ = 0;
  WorkTimes build_times_;
};

/// Threads that work with this setting uses on the CPU.
int threads_in_use(int threads);

}  // namespace kith::cli
