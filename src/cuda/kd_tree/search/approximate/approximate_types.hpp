// Approximate kNN: what its kernels get, and which of them takes a search.
#pragma once

#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/kd_tree/tuning.hpp"
#include "engine/kd_tree/walk_order.hpp"

#include <cstdint>

namespace kith::cuda {

/// kNN with leave to miss something: engine::KnnRules tells what `shrink` and `max_leaves` mean.
template <typename T>
struct ApproximateTask {
  KnnTask<T> knn;
  T shrink = 1;
  std::uint32_t max_leaves = 0;   ///< 0: no budget
  std::uint8_t* exact = nullptr;  ///< per row of the answer: 1 if it is certainly exact; null: not requested
};

/// Whether a thread can take a query by itself: plain L2 in few dims, short lists, short queues.
template <typename T>
bool suits_threads(const ApproximateTask<T>& task) {
  const SearchTree<T>& tree = task.knn.tree;
  const bool has_short_queue = !engine::takes_queue(task.max_leaves) || task.max_leaves <= kMostQueuedByThread;
  return task.knn.metric.is_plain_l2() && tree.dims >= 2 && tree.dims <= 4 && tree.geometry.levels < 32 &&
         task.knn.k <= kMostKeptByThread && has_short_queue;
}

/// Whether that is faster than a warp per query, too: fewer queries leave the GPU idle.
template <typename T>
bool threads_pay(const ApproximateTask<T>& task) {
  return suits_threads(task) && task.knn.queries.count >= kFewestForThreads;
}

}  // namespace kith::cuda
