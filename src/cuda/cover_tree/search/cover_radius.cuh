// Everything within a bound in a cover tree, a warp per query: how many, then the lists, each sorted where it lies.
#pragma once

#include "cuda/cover_tree/search/cover_query.cuh"
#include "cuda/cover_tree/search/cover_walk.cuh"
#include "cuda/queries/found_within.cuh"

namespace kith::cuda {

template <typename T>
class CoverCount {
 public:
  static constexpr bool kCountsOnly = true;
  static constexpr bool kHasList = false;

  __device__ explicit CoverCount(T bound) : limit_{bound, kNoPoint} {}
  __device__ const Candidate<T>& limit() const { return limit_; }
  __device__ void offer(const Candidate<T>&, bool is_offered) { count_ += count_bits(ballot(is_offered)); }
  __device__ void add(std::uint32_t count) { count_ += count; }
  __device__ void resolve() {}
  __device__ std::uint32_t count() const { return count_; }

 private:
  Candidate<T> limit_;
  std::uint32_t count_ = 0;
};

template <typename T>
class CoverList : public ListWithin<T> {
 public:
  static constexpr bool kCountsOnly = false;
  static constexpr bool kHasList = false;
  using ListWithin<T>::ListWithin;
  __device__ void resolve() {}
};

/// Calls `answer(row, bound, walk_with)` for each query of this warp; walk_with(collector) walks.
template <typename Space, typename Collector, typename Answer>
__device__ __forceinline__ void cover_radius_queries(const CoverRadiusTask<Space>& task,
                                                     const CoverFrames<typename Space::Value>& frames,
                                                     const Answer& answer) {
  using T = typename Space::Value;
  const CoverStorage<T> storage(task.space.context_bytes(), frames.shared_bytes(task.tree.height), 0);
  std::byte* shared = shared_memory() + warp_number() * storage.bytes;
  CoverWalk<Space, Collector> walk(task.space, task.tree, task.request.filter, shared + storage.context_at,
                                   frames.of_warp(shared + storage.frames_at, task.tree.height),
                                   *reinterpret_cast<CoverQueue*>(shared));
  const RadiusRequest<T>& request = task.request;
  const std::uint64_t queries = queries_of(request.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const CoverQuery<T> query(task.tree, request.queries, request.filter, i);
    const std::uint64_t row = query.info.row;
    const T bound = request.bound_of(row);
    answer(row, bound, [&](Collector& collector) {
      if (!(bound >= 0)) return;
      task.space.prepare(shared + storage.context_at, query.row);
      walk.ask(query.info, collector, T(1));
      walk.run();
    });
    sync_warp();  // the next query is not prepared while this one is still read
  }
  report_evaluations(task.request.evaluations, walk.evaluations());
}

template <typename Space>
__global__ void __launch_bounds__(kSearchThreads)
    cover_count(const __grid_constant__ CoverRadiusTask<Space> task, CoverFrames<typename Space::Value> frames) {
  using T = typename Space::Value;
  cover_radius_queries<Space, CoverCount<T>>(task, frames, [&](std::uint64_t row, T bound, const auto& walk_with) {
    CoverCount<T> count(bound);
    walk_with(count);
    if (lane_number() == 0) task.request.counts[row] = count.count();
  });
}

template <typename Space>
__global__ void __launch_bounds__(kSearchThreads)
    cover_list(const __grid_constant__ CoverRadiusTask<Space> task, CoverFrames<typename Space::Value> frames) {
  using T = typename Space::Value;
  cover_radius_queries<Space, CoverList<T>>(task, frames, [&](std::uint64_t row, T bound, const auto& walk_with) {
    const std::uint64_t start = task.request.starts[row] - task.request.starts_base;
    CoverList<T> list(bound, {task.request, start});
    walk_with(list);
    list.sort(task.request.takes_roots);
  });
}

}  // namespace kith::cuda
