// What becomes of the points that a scan reports: the nearest are kept, or all are listed or counted.
#pragma once

#include "core/order/candidate.hpp"
#include "cpu/nearest_keeper.hpp"
#include "cpu/nearest_row.hpp"
#include "engine/searcher.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Which points a scan may report to the queries of one block.
struct ScanScope {
  std::uint64_t points = 0;  ///< indices from here on are padding
  std::uint64_t first_query = 0;
  engine::PointFilter filter;
};

/// Calls `take(candidate)` for each real point of a hit.
template <typename Found, typename T, typename Take>
void for_each_scanned(const ScanScope& scope, std::uint32_t query, std::uint64_t first_point, const T* reduced,
                      std::uint64_t hits, Take&& take) {
  const bool is_open = scope.filter.is_open();
  for (; hits != 0; hits &= hits - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(hits));
    const std::uint64_t index = first_point + i;
    if (index >= scope.points) continue;
    const Found found{reduced[i], static_cast<std::uint32_t>(index)};
    if (is_open || scope.filter.admits(scope.first_query + query, found.index)) take(found);
  }
}

/// Collects the k nearest of each query of a block. `Kept` is core::SignedCandidate where reduced distances may be
/// negative.
template <typename T, typename Kept = core::Candidate<T>>
struct ScanNearest {
  ScanScope scope;
  std::vector<NearestKeeper<T, Kept>> keepers;

  static T on_hit(void* self, std::uint32_t query, std::uint64_t first, const T* reduced, std::uint64_t hits) {
    auto& collector = *static_cast<ScanNearest*>(self);
    NearestKeeper<T, Kept>& keeper = collector.keepers[query];
    for_each_scanned<Kept>(collector.scope, query, first, reduced, hits, [&](Kept found) { keeper.offer(found); });
    return keeper.bound_for_ascending();
  }
};

/// Collects the k nearest of the only query where its answer is wanted.
template <typename T, typename Kept = core::Candidate<T>>
struct ScanNearestRow {
  ScanScope scope;
  NearestRow<T, Kept> row;

  static T on_hit(void* self, std::uint32_t query, std::uint64_t first, const T* reduced, std::uint64_t hits) {
    auto& collector = *static_cast<ScanNearestRow*>(self);
    for_each_scanned<Kept>(collector.scope, query, first, reduced, hits,
                           [&](Kept found) { collector.row.offer(found); });
    return collector.row.bound();
  }
};

/// Collects everything within the bound.
template <typename T>
struct ScanList {
  ScanScope scope;
  engine::Reach<T> reach;
  std::vector<std::vector<core::Candidate<T>>> lists;

  static T on_hit(void* self, std::uint32_t query, std::uint64_t first, const T* reduced, std::uint64_t hits) {
    auto& collector = *static_cast<ScanList*>(self);
    for_each_scanned<core::Candidate<T>>(collector.scope, query, first, reduced, hits,
                                         [&](core::Candidate<T> found) { collector.lists[query].push_back(found); });
    return collector.reach.of(collector.scope.first_query + query);
  }
};

/// Counts what lies within the bound.
template <typename T>
struct ScanCount {
  ScanScope scope;
  engine::Reach<T> reach;
  std::vector<std::uint32_t> counts;

  static T on_hit(void* self, std::uint32_t query, std::uint64_t first, const T* reduced, std::uint64_t hits) {
    auto& collector = *static_cast<ScanCount*>(self);
    for_each_scanned<core::Candidate<T>>(collector.scope, query, first, reduced, hits,
                                         [&](core::Candidate<T>) { ++collector.counts[query]; });
    return collector.reach.of(collector.scope.first_query + query);
  }
};

}  // namespace kith::cpu
