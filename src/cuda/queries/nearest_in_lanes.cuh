// The nearest candidates of one query, a lane an entry: for k up to 32.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/queries/put_answer.cuh"
#include "cuda/queries/tuning.hpp"

namespace kith::cuda {

/// Ascending over the lanes. Places that are not filled hold (bound, no number), which comes after all that may enter.
template <typename T>
class NearestInLanes {
 public:
  static constexpr std::uint32_t kMost = kWarp;
  static_assert(kMost == kListInLanes, "plans give such lists no memory");

  __device__ NearestInLanes(std::uint32_t k, Candidate<T>*, std::uint32_t) : k_(k) {}

  __device__ void reset(T bound) { entry_ = limit_ = {bound, kNoPoint}; }
  /// Only candidates before this one enter.
  __device__ const Candidate<T>& limit() const { return limit_; }
  /// Of this lane.
  __device__ const Candidate<T>& entry() const { return entry_; }

  /// Each lane offers one, or none.
  __device__ void offer(const Candidate<T>& candidate, bool is_offered) {
    constexpr std::uint32_t kFew = 5;  // up to here one by one is faster than sorting them all
    const bool enters = is_offered && candidate < limit_;
    std::uint32_t entering = ballot(enters);
    if (entering == 0) return;
    if (count_bits(entering) <= kFew) {
      for (; entering != 0; entering &= entering - 1) insert(from_lane(candidate, lowest_bit(entering)));
    } else {
      Candidate<T> own = enters ? candidate : last_candidate<T>();
      sort_in_lanes(own);
      keep_lesser_half(entry_, own);
    }
    limit_ = from_lane(entry_, k_ - 1);
  }

  /// After this the limit is that of all that was offered.
  __device__ void resolve() {}

  /// Fills a row of `width` >= k entries.
  __device__ void write(const KnnAnswer<T>& answer, std::uint64_t at, std::uint32_t width,
                        std::uint32_t missing) const {
    const bool is_found = lane_number() < k_ && entry_.index != kNoPoint;
    for (std::uint32_t j = lane_number(); j < width; j += kWarp) {
      const bool is_filled = j < kWarp && is_found;
      put_answer(answer, at + j, is_filled ? entry_.index : missing,
                 is_filled ? entry_.distance : std::numeric_limits<T>::infinity());
    }
  }

 private:
  __device__ void insert(const Candidate<T>& candidate) {
    const std::uint32_t place = count_bits(ballot(entry_ < candidate));
    const Candidate<T> before = from_lane_before(entry_);
    if (lane_number() > place) entry_ = before;
    if (lane_number() == place) entry_ = candidate;
  }

  std::uint32_t k_;
  Candidate<T> entry_;
  Candidate<T> limit_;
};

}  // namespace kith::cuda
