// The query's part of the bounds that heads give (cover_head.cuh).
#pragma once

#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/search/cover_head.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

static_assert(kMostEditLength <= CoverHead::kMostDistance);

class QueryHead {
 public:
  QueryHead() = default;
  __device__ explicit QueryHead(const std::byte* prepared) {
    const auto& head = *reinterpret_cast<const EditHead*>(prepared);
    length_ = static_cast<std::int32_t>(head.counts.length);
    bits_ = static_cast<std::int32_t>(head.bits);
    low_ = head.counts.low;
    high_ = head.counts.high;
  }

  /// least_edits of edit_bound.cuh. How many bits each has is known, so those of one alone tell those of the other:
  /// with d bits and l symbols more than the query, and q bits of the query alone, the other has q + d alone, and
  /// max(q + max(0, l), q + d + max(0, -l)) = q + max(0, l, d, d - l).
  __device__ __forceinline__ std::int32_t least(const CoverHead& head) const {
    const std::int32_t longer = head.length() - length_, more = head.bits() - bits_;
    const std::int32_t alone = static_cast<std::int32_t>(count_bits(low_ & ~head.low) + count_bits(high_ & ~head.high));
    return alone + larger(larger(0, longer), larger(more, more - longer));
  }
  /// The same, or what the triangle inequality tells of something that is head.distance() from where the query is
  /// `from` from, if that is known: at least 0.
  __device__ __forceinline__ std::int32_t least(const CoverHead& head, std::int32_t from, bool uses_counts) const {
    const std::int32_t apart = from - head.distance();
    const std::int32_t bound = from < 0 ? 0 : apart < 0 ? -apart : apart;
    return uses_counts ? larger(bound, least(head)) : bound;
  }

 private:
  __device__ __forceinline__ static std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

  std::int32_t length_ = 0, bits_ = 0;
  std::uint32_t low_ = 0, high_ = 0;
};

}  // namespace kith::cuda
