// The steps that knn, radius and box share, whatever POINTS holds: read, build or load, report.
#pragma once

#include "neighbor_tables.hpp"
#include "search_flags.hpp"
#include "search_times.hpp"
#include "terminal_progress.hpp"

#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/memory_limit.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::cli {

/// What a source of points, bits or sequences has to read with.
struct SourceInput {
  const SearchFlags& flags;
  TerminalProgress& progress;
  ResultColumns& columns;  ///< filled if the flags want them
};

/// The index, built from POINTS or loaded from a file, and the queries. A `Source` (sources.hpp) has
/// - `Index`, and `require_flags(input, is_index)`, which throws UsageError for flags that mean nothing here;
/// - `read_points(input)`, or for an index file `require_fitting(input, facts)`; after either one `rows()`, `dtype()`;
/// - `read_queries(input)` and then `queries()`, `query_count()`, `bytes()` of all that was read; not called where the
/// points are the queries;
/// - `build(input, options)`, and `take_columns(input, index)` of an index that was loaded;
/// - `add_facts(report, index)` and `add_skipped(report, index)` for JSON, `skipped_text(index)`.
template <typename Source>
class PreparedSearch {
 public:
  using Index = typename Source::Index;
  using Check = std::function<void(std::uint64_t, DType)>;

  /// Reads and builds, or loads. `check` is called before the index is made with the number of queries and the dtype,
  /// for estimates that must come before the work.
  PreparedSearch(const SearchFlags& flags, TerminalProgress& progress, const Check& check);

  const Index& index() const { return *index_; }
  auto queries() const { return source_.queries(); }
  std::uint64_t query_count() const { return query_count_; }
  /// The same, or nothing where the points are the queries.
  std::optional<std::uint64_t> queries_given() const {
    return flags_.self() ? std::nullopt : std::optional(query_count_);
  }
  /// How the search runs: the flags, and what was read for them. Valid as long as this lives.
  SearchOptions options(const ProgressCallback& progress) const;
  /// What was read from --radius-file: one per query; empty without it.
  std::span<const double> radii() const { return radii_; }

  /// The columns of both files, if the flags want them.
  const ResultColumns& columns() const { return columns_; }

  /// points, queries, engine, device, threads and the other keys that all searches report.
  nlohmann::ordered_json report() const;
  /// "brute force, cpu, 2 threads" for people.
  std::string engine_text() const;
  /// Those of reading and building.
  SearchTimes times() const { return {.read_ms = read_ms_, .is_loaded = is_loaded_, .build = build_times_}; }
  /// "3 points and 0 queries with NaN or infinity were left out", or nothing.
  std::string skipped_text() const { return source_.skipped_text(*index_); }

 private:
  const SearchFlags& flags_;
  std::optional<MemoryLimit> held_;  ///< of points and queries
  bool is_loaded_;
  ResultColumns columns_;
  Source source_;
  std::uint64_t query_count_ = 0;
  std::optional<Index> index_;
  std::vector<std::uint64_t> allowed_;
  std::vector<double> radii_;
  double read_ms_ = 0;
  WorkTimes build_times_;
};

/// Throws UsageError because of `flag`: the index file `has` something else.
[[noreturn]] void refuse_for_index(const SearchFlags& flags, const std::string& has, const std::string& flag);

/// Threads that work with this setting uses on the CPU.
int threads_in_use(int threads);

}  // namespace kith::cli
