// What a warp does with the points within the bound of its query: count them, or write and sort them.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"

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

}  // namespace kith::cuda
