// The steps that knn and radius share for strings and sets: read and build, or load; report.
#pragma once

#include "prepared_search.hpp"
#include "search_flags.hpp"
#include "search_times.hpp"
#include "terminal_progress.hpp"

#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// What PreparedSearch is for points.
class PreparedSequenceSearch {
 public:
  /// Throws UsageError for flags that mean nothing for sequences.
  PreparedSequenceSearch(const SearchFlags& flags, TerminalProgress& progress, const PreparedSearch::Check& check);

  const SequenceIndex& index() const { return *index_; }
  SequenceView queries() const { return queries_.view(); }
  std::uint64_t query_count() const { return query_count_; }
  SequenceSearchOptions options(const ProgressCallback& progress) const;

  const ResultColumns& columns() const { return columns_; }
  nlohmann::ordered_json report() const;
  std::string engine_text() const;
  SearchTimes times() const;
  /// Sequences are never left out.
  std::string skipped_text() const { return {}; }

 private:
  void read_and_build(TerminalProgress& progress, const PreparedSearch::Check& check);
  void load(TerminalProgress& progress, const PreparedSearch::Check& check);
  /// Queries and --allow, for so many sequences of that kind.
  void read_others(SequenceMetric metric, SequenceKind kind, std::uint64_t sequences, TerminalProgress& progress);

  const SearchFlags& flags_;
  ResultColumns columns_;
  bool loaded_;
  io::SequenceFile queries_;
  std::uint64_t query_count_ = 0;
  std::optional<SequenceIndex> index_;
  std::vector<std::uint64_t> allowed_;
  double read_ms_ = 0;
  WorkTimes build_times_;
};

}  // namespace kith::cli
