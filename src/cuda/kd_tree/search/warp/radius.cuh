// Everything within a bound, a warp per query: how many, then the lists, each sorted where it lies.
#pragma once

#include "cuda/kd_tree/search/warp/nearest_walk.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"
#include "cuda/queries/found_within.cuh"

namespace kith::cuda {

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kSearchThreads) count_by_warps(const __grid_constant__ RadiusTask<T> task) {
  const WarpStorage<T> storage(kDims == 0 ? task.tree.dims : 0, 0);
  std::byte* shared = shared_memory() + warp_number() * storage.bytes;
  Measure<T, kDims> measure(task.metric, task.tree.dims);
  const std::uint64_t queries = queries_of(task.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const FoundQuery<T> query(task.tree, task.queries, task.filter, i);
    measure.set_query(query.values, query.stride, reinterpret_cast<T*>(shared + storage.query_at));
    CountWithin<T> count(task.bound_of(query.info.row));
    NearestWalk<T, kDims, CountWithin<T>>(task.tree, task.filter, measure, query.info, reinterpret_cast<T*>(shared),
                                          count)
        .run();
    if (lane_number() == 0) task.counts[query.info.row] = count.count();
  }
}

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kSearchThreads) list_by_warps(const __grid_constant__ RadiusTask<T> task) {
  const WarpStorage<T> storage(kDims == 0 ? task.tree.dims : 0, 0);
  std::byte* shared = shared_memory() + warp_number() * storage.bytes;
  Measure<T, kDims> measure(task.metric, task.tree.dims);
  const std::uint64_t queries = queries_of(task.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const FoundQuery<T> query(task.tree, task.queries, task.filter, i);
    const std::uint64_t start = task.starts[query.info.row] - task.starts_base;
    measure.set_query(query.values, query.stride, reinterpret_cast<T*>(shared + storage.query_at));
    ListWithin<T> list(task.bound_of(query.info.row), {task, start});
    NearestWalk<T, kDims, ListWithin<T>>(task.tree, task.filter, measure, query.info, reinterpret_cast<T*>(shared),
                                         list)
        .run();
    list.sort(task.takes_roots);
  }
}

}  // namespace kith::cuda
