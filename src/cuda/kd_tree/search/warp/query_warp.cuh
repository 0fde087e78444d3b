// A warp takes a query: where it lies, where its answer goes, and the memory that the warp has for it.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/measure.cuh"
#include "cuda/kd_tree/search/warp/nearest_walk.cuh"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/queries/search_warp.cuh"

namespace kith::cuda {

/// What a warp has of shared memory: the bounds of the walk, the query if the dims are a run-time value, and room for a
/// list.
template <typename T>
struct WarpStorage {
  std::uint32_t query_at = 0;
  std::uint32_t list_at = 0;
  std::uint32_t bytes = 0;

  KITH_HOST_DEVICE WarpStorage(std::uint32_t dims, std::uint32_t list_bytes) {
    const auto rounded = [](std::uint32_t size) { return (size + 15) / 16 * 16; };
    query_at = rounded(WideTree::kMostDepths * 32 * sizeof(T));
    list_at = query_at + rounded(dims * static_cast<std::uint32_t>(sizeof(T)));
    bytes = list_at + rounded(list_bytes);
  }
};

/// Where query i of a source lies, and who it is.
template <typename T>
struct FoundQuery {
  const T* values;
  std::uint64_t stride;  ///< from coordinate to coordinate
  QueryInfo info;

  __device__ FoundQuery(const SearchTree<T>& tree, const QuerySource<T>& source, const SearchFilter& filter,
                        std::uint64_t i) {
    const std::uint64_t chosen = source.chosen == nullptr ? i : source.chosen[i];
    if (source.rows != nullptr) {
      values = source.rows + chosen * source.row_stride;
      stride = 1;
      info.row = chosen;
      info.number = static_cast<std::uint32_t>(chosen);
    } else {
      const std::uint64_t leaf_number = tree.leaf_of_place(chosen);
      const SearchLeaf<T> leaf = tree.leaf(leaf_number);
      const auto slot = static_cast<std::uint32_t>(chosen - tree.geometry.first(tree.geometry.levels, leaf_number));
      values = leaf.values + slot;
      stride = leaf.count;
      info.number = leaf.numbers[slot];
      info.row = info.number - source.first;
    }
    info.is_open = filter.is_open();
    info.end = info.is_open ? kNoPoint : filter.end(info.number, info.row);
  }
};

}  // namespace kith::cuda
