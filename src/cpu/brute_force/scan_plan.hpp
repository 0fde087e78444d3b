// How a brute-force search is cut into tasks: blocks of queries, and ranges of panels when there are few queries.
#pragma once

#include "cpu/brute_force/scan.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::cpu {

/// Task t scans the queries of block t / ranges against the panels of range t % ranges.
struct ScanPlan {
  std::uint64_t queries = 0;
  std::uint32_t queries_per_block = 0;
  std::uint64_t blocks = 0;
  std::uint64_t panels = 0;
  std::uint64_t ranges = 1;
  double nanoseconds_per_task = 0;  ///< about

  std::uint64_t tasks() const { return blocks * ranges; }
  std::uint64_t first_query(std::uint64_t block) const { return block * queries_per_block; }
  std::uint32_t block_size(std::uint64_t block) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(queries_per_block, queries - first_query(block)));
  }
  std::uint64_t first_panel(std::uint64_t range) const { return range * panels / ranges; }
};

/// About what it takes to compare one query with one panel, for each dimension.
inline constexpr double kScanNanoseconds = 1;

/// `bytes_per_query` is the scratch that a query keeps while its block is scanned.
inline ScanPlan plan_scan(std::uint64_t queries, std::uint64_t panels, std::uint32_t dims, std::size_t value_bytes,
                          std::uint64_t bytes_per_query, int threads) {
  const std::uint64_t query_cache = tuning().scan_block_bytes;  // packed queries of a block: half of an L2 cache
  constexpr std::uint64_t kScratch = 64 << 20;                  // of one block
  constexpr std::uint64_t kMostQueries = std::uint64_t{kMostGroups} * kGroup;
  constexpr std::uint64_t kFewestQueries = 64;          // in a block, as long as there are enough for all threads
  constexpr std::uint64_t kTasksPerThread = 4;          // so that no thread waits long for the last one
  constexpr std::uint64_t kFewestPanels = 64;           // in a range
  constexpr std::uint64_t kMostPartialBytes = 1 << 30;  // results of ranges before they are merged

  ScanPlan plan;
  plan.queries = queries;
  plan.panels = panels;
  const double per_query = static_cast<double>(panels) * dims * kScanNanoseconds;
  const int useful =
      runtime::threads_worth(runtime::resolve_threads(threads), queries * panels, dims * kScanNanoseconds);
  const std::uint64_t wanted = kTasksPerThread * static_cast<std::uint64_t>(useful);
  const std::uint64_t by_cache = query_cache / (std::uint64_t{dims} * value_bytes + 1);
  const std::uint64_t by_scratch = kScratch / (bytes_per_query + 1);
  const std::uint64_t by_threads = std::max(kFewestQueries, queries / wanted);
  const std::uint64_t block =
      std::clamp<std::uint64_t>(std::min({by_cache, by_scratch, by_threads}), kGroup, kMostQueries);
  plan.queries_per_block = static_cast<std::uint32_t>(block / kGroup * kGroup);
  plan.blocks = (queries + plan.queries_per_block - 1) / plan.queries_per_block;

  if (wanted > kTasksPerThread && plan.blocks < wanted && plan.blocks > 0) {
    const std::uint64_t by_tasks = (wanted + plan.blocks - 1) / plan.blocks;
    const std::uint64_t by_panels = panels / kFewestPanels;
    const std::uint64_t by_memory = kMostPartialBytes / (queries * bytes_per_query + 1);
    plan.ranges = std::max<std::uint64_t>(1, std::min({by_tasks, by_panels, by_memory}));
  }
  plan.nanoseconds_per_task = per_query * plan.queries_per_block / static_cast<double>(plan.ranges);
  return plan;
}

}  // namespace kith::cpu
