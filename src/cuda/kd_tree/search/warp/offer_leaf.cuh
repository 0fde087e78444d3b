// A warp offers the points of leaves to a list, a lane a point.
#pragma once

#include "cuda/queries/query_info.hpp"
#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/kd_tree/search/measure.cuh"
#include "cuda/kd_tree/search/search_types.hpp"

namespace kith::cuda {

/// `lanes` lanes to a leaf of up to `most` points. Every lane names the leaf that it helps with; without `has_leaf` it
/// offers nothing.
template <typename T, std::uint32_t kDims, typename Collector>
__device__ __forceinline__ void offer_leaf(const SearchLeaf<T>& leaf, bool has_leaf, std::uint32_t lanes,
                                           std::uint32_t most, const SearchFilter& filter,
                                           const Measure<T, kDims>& measure, const QueryInfo& info,
                                           Collector& collector) {
  const std::uint32_t count = has_leaf ? leaf.count : 0;
  for (std::uint32_t first = 0; first < most; first += lanes) {
    const std::uint32_t i = first + lane_number() % lanes;
    Candidate<T> candidate = last_candidate<T>();
    bool is_offered = i < count;
    if (is_offered) {
      candidate.distance = measure.to_point(leaf.values + i, leaf.count);
      is_offered = candidate.distance <= collector.limit().distance;
    }
    if (is_offered) {
      candidate.index = leaf.numbers[i];
      if (!info.is_open) is_offered = filter.admits(info.number, info.end, candidate.index);
    }
    collector.offer(candidate, is_offered);
  }
}

}  // namespace kith::cuda
