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

/// Why a thread cannot take a query by itself, for people; null: it can. For plain L2 in few dims, short lists, short
/// queues.
template <typename T>
const char* why_not_by_threads(const ApproximateTask<T>& task) {
  const SearchTree<T>& tree = task.knn.tree;
  if (!task.knn.metric.is_plain_l2()) return "threads are for L2 without periodic axes";
  if (tree.dims < 2 || tree.dims > 4) return "threads take 2 to 4 dims";
  if (task.knn.k > kMostKeptByThread) return "k is too large";
  if (engine::takes_queue(task.max_leaves) && task.max_leaves > kMostQueuedByThread) return "max_leaves is too large";
  return tree.geometry.levels < 32 ? nullptr : "the tree is too deep";
}
template <typename T>
bool suits_threads(const ApproximateTask<T>& task) {
  return why_not_by_threads(task) == nullptr;
}

/// The same, or why that is not faster than a warp per query: fewer queries leave the GPU idle.
template <typename T>
const char* why_threads_do_not_pay(const ApproximateTask<T>& task) {
  const char* reason = why_not_by_threads(task);
  return reason == nullptr && task.knn.queries.count < kFewestForThreads ? "there are too few queries" : reason;
}
template <typename T>
bool threads_pay(const ApproximateTask<T>& task) {
  return why_threads_do_not_pay(task) == nullptr;
}

}  // namespace kith::cuda
