// Sets of numbers by the Jaccard distance as objects of the cover tree on the GPU.
#pragma once

#include "cuda/cover_tree/build/copied_row.cuh"
#include "cuda/cover_tree/spaces/sequence_words.hpp"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// Rows are those of sequence_words.hpp.
class JaccardSpace {
 public:
  using Value = float;

  /// Rows of so many words; those that are prepared may have up to `most_prepared`.
  JaccardSpace(std::uint32_t words, std::uint32_t most_prepared) : words_(words), most_prepared_(most_prepared) {}

  KITH_HOST_DEVICE std::uint32_t stride() const { return words_; }
  KITH_HOST_DEVICE std::uint32_t context_bytes() const { return CopiedRow::bytes_for(most_prepared_); }
  __device__ void prepare(std::byte* memory, RowView row) const {
    CopiedRow::prepare(memory, row, kHeadWords + row[0], most_prepared_);
  }

  /// A bit that only one of two sets has is that of an item, or more, that only this one has. So the sets have at most
  /// as many items in common as each has without those, and the value falls, or stays, as the common ones grow: both
  /// numbers are whole and exact, and the quotient is rounded once.
  __device__ float least(const std::byte* prepared, RowView row) const {
    const RowView from = CopiedRow::of(prepared);
    const std::uint32_t low = from[1], high = from[2], other_low = row[1], other_high = row[2];
    const std::uint32_t own = from[0] - count_bits(low & ~other_low) - count_bits(high & ~other_high);
    const std::uint32_t other = row[0] - count_bits(other_low & ~low) - count_bits(other_high & ~high);
    return distance(own < other ? own : other, from[0] + row[0]);
  }
  __device__ float measure(const std::byte* prepared, RowView row, float limit) const {
    const float bound = least(prepared, row);
    if (bound > limit) return bound;
    const RowView from = CopiedRow::of(prepared);
    const std::uint32_t own_end = kHeadWords + from[0], other_end = kHeadWords + row[0];
    std::uint32_t own = kHeadWords, other = kHeadWords, common = 0;
    while (own < own_end && other < other_end) {
      const std::uint32_t a = from[own], b = row[other];
      common += a == b ? 1 : 0;
      own += a <= b ? 1 : 0;
      other += b <= a ? 1 : 0;
    }
    return distance(common, from[0] + row[0]);
  }
  KITH_HOST_DEVICE double metric(float value) const { return static_cast<double>(value); }
  KITH_HOST_DEVICE core::CoverRounding rounding() const { return {0x1p-22, 0}; }

 private:
  /// Of sets that have `both` items together, common ones counted twice.
  __device__ static float distance(std::uint32_t common, std::uint32_t both) {
    const std::uint32_t all = both - common;
    return all == 0 ? 0.0f : static_cast<float>(all - common) / static_cast<float>(all);
  }

  std::uint32_t words_;
  std::uint32_t most_prepared_;
};

static_assert(DeviceSpace<JaccardSpace>);

}  // namespace kith::cuda
