// What a warp does with the points within the bound of its query: count them, or write and sort them.
#pragma once

#include "core/arithmetic.hpp"
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

/// The list that begins at `start` of the caller's arrays.
template <typename T>
struct ListEntries {
  T* reduced;
  std::uint32_t* indices;
  std::int64_t* wide;  ///< if not null, numbers are there

  __device__ ListEntries(const RadiusRequest<T>& request, std::uint64_t start)
      : reduced(request.reduced + start),
        indices(request.indices == nullptr ? nullptr : request.indices + start),
        wide(request.wide == nullptr ? nullptr : request.wide + start) {}

  __device__ Candidate<T> at(std::uint64_t i) const {
    return {reduced[i], wide == nullptr ? indices[i] : static_cast<std::uint32_t>(wide[i])};
  }
  __device__ void put(std::uint64_t i, const Candidate<T>& candidate) {
    reduced[i] = candidate.distance;
    if (wide == nullptr) {
      indices[i] = candidate.index;
    } else {
      wide[i] = candidate.index;
    }
  }
};

/// Sorts a list where it lies, and only then takes roots: different numbers may have the same.
template <typename T>
__device__ inline void sort_list(ListEntries<T> entries, std::uint64_t count, bool takes_roots) {
  if (count > kWarp) {
    sort_in_memory(entries, count);
    for (std::uint64_t i = lane_number(); takes_roots && i < count; i += kWarp) {
      entries.reduced[i] = core::square_root(entries.reduced[i]);
    }
    return;
  }
  sync_warp();
  const bool has_entry = lane_number() < count;
  Candidate<T> own = has_entry ? entries.at(lane_number()) : last_candidate<T>();
  sort_in_lanes(own);
  if (takes_roots) own.distance = core::square_root(own.distance);
  if (has_entry) entries.put(lane_number(), own);
}

template <typename T>
class ListWithin {
 public:
  __device__ ListWithin(T bound, ListEntries<T> entries) : limit_{bound, kNoPoint}, entries_(entries) {}
  __device__ const Candidate<T>& limit() const { return limit_; }
  __device__ void offer(const Candidate<T>& candidate, bool is_offered) {
    const std::uint32_t offered = ballot(is_offered);
    if (is_offered) entries_.put(count_ + count_bits(offered & ((1u << lane_number()) - 1)), candidate);
    count_ += count_bits(offered);
  }
  __device__ void sort(bool takes_roots) { sort_list(entries_, count_, takes_roots); }

 private:
  Candidate<T> limit_;
  ListEntries<T> entries_;
  std::uint64_t count_ = 0;
};

}  // namespace kith::cuda
