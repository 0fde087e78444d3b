// Everything within a bound, a warp per query: how many, then the lists, each sorted where it lies.
#pragma once

#include "cuda/kd_tree/search/warp/nearest_walk.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"

namespace kith::cuda {

template <typename T>
class CountWithin {
 public:
  __device__ explicit CountWithin(T bound) : limit_{bound, kNoPoint} {}
  __device__ const Candidate<T>& limit() const { return limit_; }
  __device__ void offer(const Candidate<T>&, bool is_offered) { count_ += count_bits(ballot(is_offered)); }
  __device__ std::uint32_t count() const { return count_; }

 private:
  Candidate<T> limit_;
  std::uint32_t count_ = 0;
};

template <typename T>
class ListWithin {
 public:
  __device__ ListWithin(T bound, AnswerEntries<T> entries) : limit_{bound, kNoPoint}, entries_(entries) {}
  __device__ const Candidate<T>& limit() const { return limit_; }
  __device__ void offer(const Candidate<T>& candidate, bool is_offered) {
    const std::uint32_t offered = ballot(is_offered);
    if (is_offered) entries_.put(count_ + count_bits(offered & ((1u << lane_number()) - 1)), candidate);
    count_ += count_bits(offered);
  }
  __device__ void sort() {
    if (count_ > kWarp) {
      sort_in_memory(entries_, count_);
      return;
    }
    sync_warp();
    const bool has_entry = lane_number() < count_;
    Candidate<T> own = has_entry ? entries_.at(lane_number()) : last_candidate<T>();
    sort_in_lanes(own);
    if (has_entry) entries_.put(lane_number(), own);
  }

 private:
  Candidate<T> limit_;
  AnswerEntries<T> entries_;
  std::uint64_t count_ = 0;
};

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kSearchThreads) count_by_warps(const __grid_constant__ RadiusTask<T> task) {
  const WarpRoom<T> room(kDims == 0 ? task.tree.dims : 0, 0);
  std::byte* shared = shared_memory() + warp_number() * room.bytes;
  Measure<T, kDims> measure(task.metric, task.tree.dims);
  const std::uint64_t queries = queries_of(task.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const FoundQuery<T> query(task.tree, task.queries, task.filter, i);
    measure.set_query(query.values, query.stride, reinterpret_cast<T*>(shared + room.query_at));
    CountWithin<T> count(task.bound_of(query.asking.row));
    NearestWalk<T, kDims, CountWithin<T>>(task.tree, task.filter, measure, query.asking, reinterpret_cast<T*>(shared),
                                          count)
        .run();
    if (lane_number() == 0) task.counts[query.asking.row] = count.count();
  }
}

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kSearchThreads) list_by_warps(const __grid_constant__ RadiusTask<T> task) {
  const WarpRoom<T> room(kDims == 0 ? task.tree.dims : 0, 0);
  std::byte* shared = shared_memory() + warp_number() * room.bytes;
  Measure<T, kDims> measure(task.metric, task.tree.dims);
  const std::uint64_t queries = queries_of(task.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const FoundQuery<T> query(task.tree, task.queries, task.filter, i);
    const std::uint64_t start = task.starts[query.asking.row] - task.starts_base;
    measure.set_query(query.values, query.stride, reinterpret_cast<T*>(shared + room.query_at));
    ListWithin<T> list(task.bound_of(query.asking.row), {task.chains + start, task.indices + start});
    NearestWalk<T, kDims, ListWithin<T>>(task.tree, task.filter, measure, query.asking, reinterpret_cast<T*>(shared),
                                         list)
        .run();
    list.sort();
  }
}

}  // namespace kith::cuda
