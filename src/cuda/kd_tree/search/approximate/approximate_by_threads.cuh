// Approximate kNN, a thread per query: for many queries, few neighbours and plain L2 in few dims. Queries come in the
// order of the leaves, so the threads of a warp walk about the same way; they look for leaves together and read leaves
// together.
#pragma once

#include "cuda/kd_tree/search/approximate/approximate_walk.cuh"
#include "cuda/kd_tree/search/measure.cuh"
#include "cuda/kd_tree/search/warp/nearest_in_thread.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"
#include "cuda/kd_tree/search/approximate/thread_frontiers.cuh"

namespace kith::cuda {

/// Measures the nodes that a thread comes to, one by one.
template <typename T, std::uint32_t kDims>
class ThreadScout {
 public:
  __device__ ThreadScout(const SearchTree<T>& tree, const Measure<T, kDims>& measure)
      : tree_(tree), measure_(measure) {}

  __device__ T to_root() const { return measure_.to_box(tree_.lower(0)); }
  __device__ void to_children(std::uint32_t node, T& left, T& right) const {
    const T* boxes = tree_.boxes + (std::uint64_t{2} * node + 1) * 2 * kDims;
    left = measure_.to_box(boxes);
    right = measure_.to_box(boxes + 2 * kDims);
  }

 private:
  const SearchTree<T>& tree_;
  const Measure<T, kDims>& measure_;
};

/// A few points at a time, so that they are on their way together.
template <typename T, std::uint32_t kDims, typename List>
__device__ __forceinline__ void offer_leaf_by_thread(const SearchLeaf<T>& leaf, const SearchFilter& filter,
                                                     const Measure<T, kDims>& measure, const QueryInfo& info,
                                                     List& list) {
  constexpr std::uint32_t kAtOnce = 4;
  for (std::uint32_t first = 0; first < leaf.count; first += kAtOnce) {
    T reduced[kAtOnce];
#pragma unroll
    for (std::uint32_t j = 0; j < kAtOnce; ++j) {
      const std::uint32_t i = first + j < leaf.count ? first + j : first;
      reduced[j] = measure.to_point(leaf.values + i, leaf.count);
    }
#pragma unroll
    for (std::uint32_t j = 0; j < kAtOnce; ++j) {
      if (first + j >= leaf.count || reduced[j] > list.limit().distance) continue;
      const std::uint32_t number = leaf.numbers[first + j];
      if (info.is_open || filter.admits(info.number, info.end, number)) list.offer({reduced[j], number});
    }
  }
}

template <typename T, std::uint32_t kDims, std::uint32_t kKept, template <typename> class Frontier>
__global__ void __launch_bounds__(kSearchThreads)
    approximate_by_threads(const __grid_constant__ ApproximateTask<T> task) {
  const KnnTask<T>& knn = task.knn;
  const std::uint64_t queries = queries_of(knn.queries);
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < queries;
       i += step) {
    const FoundQuery<T> query(knn.tree, knn.queries, knn.filter, i);
    Measure<T, kDims> measure(knn.metric, kDims);
    measure.set_query(query.values, query.stride, nullptr);
    NearestInThread<T, kKept> list(knn.k, knn.bound);
    ThreadScout<T, kDims> scout(knn.tree, measure);
    ThreadNode<T> put_aside[kMostPutAside];
    Frontier<T> frontier(put_aside);
    ApproximateWalk walk(task, query.info.end, scout, frontier, list);
    while (walk.find_leaf()) {
      offer_leaf_by_thread(knn.tree.leaf(walk.leaf()), knn.filter, measure, query.info, list);
    }
    const std::uint64_t row = query.info.row;
    list.write(knn.answer, row * knn.k, static_cast<std::uint32_t>(knn.tree.geometry.points));
    if (task.exact != nullptr) task.exact[row] = walk.is_certain() ? 1 : 0;
  }
}

}  // namespace kith::cuda
