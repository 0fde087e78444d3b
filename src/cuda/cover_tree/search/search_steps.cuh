// The kernels of each search in a cover tree. `launch(kernel, blocks, threads, shared bytes, arguments...)` puts one
// into a stream, or runs it on the host in tests.
#pragma once

#include "cuda/cover_tree/search/cover_knn.cuh"
#include "cuda/cover_tree/search/cover_radius.cuh"
#include "cuda/cover_tree/search/search_plan.hpp"

#include <cstddef>

namespace kith::cuda {

template <typename Task>
CoverPlan plan_cover_search(const Task& task, std::uint32_t entries, const SearchLimits& limits) {
  using T = typename decltype(task.space)::Value;
  return plan_cover<T>(task.request.queries.count, entries, task.tree.height * std::uint64_t{sizeof(CoverFrame<T>)},
                       CoverStorage<T>(task.space.context_bytes(), 0, 0).bytes, limits);
}
template <typename Space>
CoverPlan plan_search(const CoverKnnTask<Space>& task, const SearchLimits& limits) {
  return plan_cover_search(task, entries_of_list(task.request.k, task.tree.count), limits);
}
template <typename Space>
CoverPlan plan_search(const CoverRadiusTask<Space>& task, const SearchLimits& limits) {
  return plan_cover_search(task, 0, limits);
}

/// Where frames are; `scratch` has plan.frames_bytes first.
template <typename T>
CoverFrames<T> frames_of(const CoverPlan& plan, std::byte* scratch) {
  return {plan.frames_are_shared ? nullptr : reinterpret_cast<CoverFrame<T>*>(scratch)};
}

/// `scratch` has plan.frames_bytes and plan.list_bytes.
template <typename Space, typename Launch>
void launch_cover_knn(const CoverKnnTask<Space>& task, const CoverPlan& plan, std::byte* scratch, Launch&& launch) {
  using T = typename Space::Value;
  if (task.request.queries.count == 0 || task.request.k == 0) return;
  const ListMemory<T> lists{
      plan.list_capacity, plan.list_is_shared ? nullptr : reinterpret_cast<Candidate<T>*>(scratch + plan.frames_bytes)};
  const std::uint32_t threads = plan.warps.warps_per_block * kWarp;
  if (plan.list_capacity == 0) {
    launch(cover_knn<Space, NearestInLanes>, plan.warps.blocks, threads, plan.warps.shared_bytes, task, lists,
           frames_of<T>(plan, scratch));
  } else {
    launch(cover_knn<Space, NearestInMemory>, plan.warps.blocks, threads, plan.warps.shared_bytes, task, lists,
           frames_of<T>(plan, scratch));
  }
}

/// `scratch` has plan.frames_bytes.
template <typename Space, typename Launch>
void launch_cover_radius(const CoverRadiusTask<Space>& task, bool lists, const CoverPlan& plan, std::byte* scratch,
                         Launch&& launch) {
  using T = typename Space::Value;
  if (task.request.queries.count == 0) return;
  const std::uint32_t threads = plan.warps.warps_per_block * kWarp;
  launch(lists ? cover_list<Space> : cover_count<Space>, plan.warps.blocks, threads, plan.warps.shared_bytes, task,
         frames_of<T>(plan, scratch));
}

}  // namespace kith::cuda
