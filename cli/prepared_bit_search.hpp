// The steps that knn and radius share under --metric hamming: read rows of bits and build, or load; report.
#pragma once

#include "prepared_search.hpp"
#include "search_flags.hpp"
#include "search_times.hpp"
#include "terminal_progress.hpp"

#include <kith/bit_index.hpp>
#include <kith/io/read_bits.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// What PreparedSearch is for points.
class PreparedBitSearch {
 public:
  /// Throws UsageError for flags that mean nothing for bits.
  PreparedBitSearch(const SearchFlags& flags, TerminalProgress& progress, const PreparedSearch::Check& check);

  const BitIndex& index() const { return *index_; }
  BitView queries() const { return queries_; }
  std::uint64_t query_count() const { return query_count_; }
  BitSearchOptions options(const ProgressCallback& progress) const;

  const ResultColumns& columns() const { return columns_; }
  nlohmann::ordered_json report() const;
  std::string engine_text() const;
  SearchTimes times() const;
  /// Bits are never bad.
  std::string skipped_text() const { return {}; }

 private:
  void read_and_build(TerminalProgress& progress, const PreparedSearch::Check& check);
  void load(TerminalProgress& progress, const PreparedSearch::Check& check);
  /// Queries and --allow, for so many rows of so many bits.
  void read_others(std::uint64_t rows, std::uint32_t bits, TerminalProgress& progress);
  io::BitFile read(const std::string& path, TerminalProgress& progress) const;

  const SearchFlags& flags_;
  ResultColumns columns_;  // rows of bits have none
  bool loaded_;
  io::BitFile queries_file_;
  BitView queries_;
  std::uint64_t query_count_ = 0;
  std::optional<BitIndex> index_;
  std::vector<std::uint64_t> allowed_;
  double read_ms_ = 0;
  WorkTimes build_times_;
};

}  // namespace kith::cli
