// kNN, a warp per query: exact for every k, dims, type, metric and filter.
#pragma once

#include "cuda/queries/nearest_in_lanes.cuh"
#include "cuda/queries/nearest_in_memory.cuh"
#include "cuda/kd_tree/search/warp/nearest_walk.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"

namespace kith::cuda {

template <typename T, std::uint32_t kDims, template <typename> class List>
__global__ void __launch_bounds__(kSearchThreads)
    knn_by_warps(const __grid_constant__ KnnTask<T> task, ListMemory<T> lists) {
  const WarpStorage<T> storage(kIsRuntimeDims<kDims> ? task.tree.dims : 0, lists.shared_bytes());
  std::byte* shared = shared_memory() + warp_number() * storage.bytes;
  const auto points = static_cast<std::uint32_t>(task.tree.geometry.points);
  List<T> list(entries_of_list(task.k, points), lists.of_warp(shared + storage.list_at), lists.capacity);
  Measure<T, kDims> measure(task.metric, task.tree.dims);
  const std::uint64_t queries = queries_of(task.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const FoundQuery<T> query(task.tree, task.queries, task.filter, i);
    measure.set_query(query.values, query.stride, reinterpret_cast<T*>(shared + storage.query_at));
    list.reset(task.bound_of(query.info.row));
    NearestWalk<T, kDims, List<T>>(task.tree, task.filter, measure, query.info, reinterpret_cast<T*>(shared), list)
        .run();
    list.write(task.answer, query.info.row * task.k, task.k, points);
  }
}

}  // namespace kith::cuda
