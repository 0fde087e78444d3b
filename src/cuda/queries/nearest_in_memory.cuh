// The nearest candidates of one query in memory, shared or global, kept by a warp: for any k.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/queries/put_answer.cuh"

namespace kith::cuda {

/// A sorted list and a list of fresh candidates of the same capacity, a power of two of at least k. When the fresh ones
/// are full they are sorted and joined: a candidate costs O(log^2 k / 32) steps of the warp, whatever the order in
/// which they come.
template <typename T>
class NearestInMemory {
 public:
  /// `memory` has room for 2 * capacity candidates.
  __device__ NearestInMemory(std::uint32_t k, Candidate<T>* memory, std::uint32_t capacity)
      : sorted_{memory}, fresh_{memory + capacity}, k_(k), capacity_(capacity) {}

  __device__ void reset(T bound) {
    limit_ = {bound, kNoPoint};
    count_ = kept_ = 0;
    sync_warp();
    for (std::uint32_t i = lane_number(); i < capacity_; i += kWarp) sorted_.put(i, limit_);
    sync_warp();
  }
  __device__ const Candidate<T>& limit() const { return limit_; }

  __device__ void offer(const Candidate<T>& candidate, bool is_offered) {
    for (;;) {
      const bool enters = is_offered && candidate < limit_;
      const std::uint32_t entering = ballot(enters), more = count_bits(entering);
      if (more == 0) return;
      if (count_ + more <= capacity_) {
        if (enters) fresh_.put(count_ + count_bits(entering & ((1u << lane_number()) - 1)), candidate);
        count_ += more;
        return;
      }
      join();  // and look again: the limit is lower now
    }
  }

  /// After this the limit is that of all that was offered.
  __device__ void resolve() {
    if (count_ > 0 && kept_ + count_ >= k_) join();
  }

  __device__ void write(const KnnAnswer<T>& answer, std::uint64_t at, std::uint32_t width, std::uint32_t missing) {
    if (count_ > 0) join();
    for (std::uint32_t j = lane_number(); j < width; j += kWarp) {
      const Candidate<T> entry = j < k_ ? sorted_.at(j) : last_candidate<T>();
      const bool is_filled = entry.index != kNoPoint;
      put_answer(answer, at + j, is_filled ? entry.index : missing,
                 is_filled ? entry.distance : std::numeric_limits<T>::infinity());
    }
  }

 private:
  /// The fresh ones, sorted, meet the sorted ones from behind: the lesser of each pair stay, and need only be merged.
  __device__ void join() {
    sort_in_memory(fresh_, count_);
    for (std::uint32_t i = lane_number(); i < count_; i += kWarp) {
      const std::uint32_t mirror = capacity_ - 1 - i;
      const Candidate<T> own = sorted_.at(mirror), other = fresh_.at(i);
      if (other < own) sorted_.put(mirror, other);
    }
    sync_warp();
    for (std::uint32_t stride = capacity_ / 2; stride > 0; stride /= 2) {
      compare_pairs(sorted_, capacity_, stride, false);
    }
    limit_ = sorted_.at(k_ - 1);
    kept_ = kept_ + count_ < capacity_ ? kept_ + count_ : capacity_;
    count_ = 0;
    sync_warp();
  }

  CandidateEntries<T> sorted_;
  CandidateEntries<T> fresh_;
  std::uint32_t k_;
  std::uint32_t capacity_;
  std::uint32_t count_ = 0;  ///< of the fresh ones
  std::uint32_t kept_ = 0;   ///< of the sorted ones
  Candidate<T> limit_;
};

}  // namespace kith::cuda
