// A warp takes a query: where it lies, where its answer goes, and the memory that the warp has for it.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/measure.cuh"
#include "cuda/kd_tree/search/warp/nearest_walk.cuh"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/queries/search_warp.cuh"

namespace kith::cuda {

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
