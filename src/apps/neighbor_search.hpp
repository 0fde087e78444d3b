// The neighbours of many queries, found and handed on part by part, so that their lists need not fit into memory at
// once.
#pragma once

#include <kith/apps/neighbor_options.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace kith::apps::inline v0 {

/// The index for a known number of queries. Times and the index's own account of itself go to `work`.
Index build_index(PointView points, std::uint64_t queries, const NeighborOptions& options, NeighborWork& work);

/// Lists of the queries from `first` on.
using TakeLists = std::function<void(std::uint64_t first, const Neighbors& lists)>;

/// Hands on the lists of all queries, in their order; `index_below` as in SearchOptions. `stage` names the work in
/// reports. The time of the searches goes to `work.search_ms`, that of `take` to `work.vote_ms`.
void search_in_order(const Index& index, PointView queries, std::span<const std::uint32_t> index_below,
                     const NeighborOptions& options, std::string_view stage, NeighborWork& work, const TakeLists& take);

/// How many of a sorted row of neighbours are there; missing ones come last.
inline std::uint32_t count_of_found(const std::uint32_t* row, std::uint32_t k, std::uint32_t missing) {
  while (k > 0 && row[k - 1] == missing) --k;
  return k;
}

}  // namespace kith::apps::inline v0
