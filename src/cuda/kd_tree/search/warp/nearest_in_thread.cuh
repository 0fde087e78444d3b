// The nearest candidates of one query in the registers of one thread: for few neighbours.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/queries/put_answer.cuh"

namespace kith::cuda {

/// Ascending, kMost places. With fewer wanted the first ones are taken by (0, 0), which nothing comes before, so that
/// the limit is always the last place: which register that is must be known when this is compiled.
template <typename T, std::uint32_t kMost>
class NearestInThread {
 public:
  /// 1 <= k <= kMost.
  __device__ NearestInThread(std::uint32_t k, T bound) : unused_(kMost - k) {
#pragma unroll
    for (std::uint32_t i = 0; i < kMost; ++i) {
      entries_[i] = i < unused_ ? Candidate<T>{T(0), 0} : Candidate<T>{bound, kNoPoint};
    }
  }
  /// Only candidates before this one enter.
  __device__ const Candidate<T>& limit() const { return entries_[kMost - 1]; }

  __device__ void offer(const Candidate<T>& candidate) {
    if (!(candidate < limit())) return;
    bool is_before = true;  // the candidate comes before entry i
#pragma unroll
    for (std::uint32_t i = kMost - 1; i > 0; --i) {
      const bool is_before_next = candidate < entries_[i - 1];
      entries_[i] = is_before_next ? entries_[i - 1] : is_before ? candidate : entries_[i];
      is_before = is_before_next;
    }
    if (is_before) entries_[0] = candidate;
  }

  __device__ void write(const KnnAnswer<T>& answer, std::uint64_t at, std::uint32_t missing) const {
#pragma unroll
    for (std::uint32_t i = 0; i < kMost; ++i) {
      if (i < unused_) continue;
      const bool is_filled = entries_[i].index != kNoPoint;
      put_answer(answer, at + i - unused_, is_filled ? entries_[i].index : missing,
                 is_filled ? entries_[i].distance : std::numeric_limits<T>::infinity());
    }
  }

 private:
  std::uint32_t unused_;
  Candidate<T> entries_[kMost];
};

}  // namespace kith::cuda
