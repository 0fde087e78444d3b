// How an approximate search is launched; see search_steps.cuh.
#pragma once

#include "cuda/kd_tree/search/approximate/approximate_by_warps.cuh"
#include "cuda/kd_tree/search/search_dims.hpp"
#include "cuda/queries/warps_plan.hpp"
#include "cuda/kd_tree/search/approximate/warp_frontiers.cuh"

#include <bit>

namespace kith::cuda {

/// Nodes that the queue of a warp has room for; 0: it has none.
inline std::uint32_t queue_capacity(std::uint32_t max_leaves) {
  return engine::takes_queue(max_leaves) ? std::bit_ceil(max_leaves) : 0;
}

template <typename T>
ListsPlan plan_approximate(const ApproximateTask<T>& task, const SearchLimits& limits) {
  const SearchTree<T>& tree = task.knn.tree;
  const std::uint32_t entries = entries_of_list(task.knn.k, static_cast<std::uint32_t>(tree.geometry.points));
  return plan_lists<T>(task.knn.queries.count, entries,
                       ApproximateStorage<T>(tree.dims, queue_capacity(task.max_leaves), 0).bytes, limits);
}

template <typename T, std::uint32_t kDims, template <typename> class Frontier, typename Launch>
void launch_warps_with(const ApproximateTask<T>& task, const ListsPlan& plan, std::byte* scratch, Launch&& launch) {
  const ListMemory<T> lists{plan.capacity, plan.is_shared ? nullptr : reinterpret_cast<Candidate<T>*>(scratch)};
  const auto run = [&](auto kernel) {
    launch(kernel, plan.warps.blocks, plan.warps.warps_per_block * kWarp, plan.warps.shared_bytes, task, lists,
           queue_capacity(task.max_leaves));
  };
  if (plan.capacity == 0) {
    run(approximate_by_warps<T, kDims, NearestInLanes, Frontier>);
  } else {
    run(approximate_by_warps<T, kDims, NearestInMemory, Frontier>);
  }
}

/// `scratch` has plan.scratch_bytes.
template <typename T, typename Launch>
void launch_approximate_steps(const ApproximateTask<T>& task, const ListsPlan& plan, std::byte* scratch,
                              Launch&& launch) {
  if (task.knn.queries.count == 0 || task.knn.k == 0) return;
  visit_runtime_dims(task.knn.tree, task.knn.metric, [&](auto dims) {
    if (engine::takes_queue(task.max_leaves)) {
      launch_warps_with<T, dims.value, WarpQueue>(task, plan, scratch, launch);
    } else {
      launch_warps_with<T, dims.value, WarpStack>(task, plan, scratch, launch);
    }
  });
}

}  // namespace kith::cuda
