// Sequences of one length by the number of places where they differ, as objects of the cover tree on the GPU.
#pragma once

#include "cuda/cover_tree/build/copied_row.cuh"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// Rows are those of sequence_words.hpp.
class HammingSpace {
 public:
  using Value = float;
  static constexpr bool kIsExact = true;

  explicit HammingSpace(std::uint32_t words) : words_(words) {}

  KITH_HOST_DEVICE std::uint32_t stride() const { return words_; }
  KITH_HOST_DEVICE std::uint32_t context_bytes() const { return CopiedRow::bytes_for(words_); }
  __device__ void prepare(std::byte* memory, RowView row) const { CopiedRow::prepare(memory, row, words_, words_); }
  __device__ float measure(const std::byte* prepared, RowView row, float) const {
    const std::uint32_t sum = CopiedRow::sum_of_steps(
        prepared, row, words_, [](std::uint32_t a, std::uint32_t b) { return count_bits(different_bytes(a ^ b)); });
    return static_cast<float>(sum);
  }
  KITH_HOST_DEVICE double metric(float value) const { return static_cast<double>(value); }
  KITH_HOST_DEVICE core::CoverRounding rounding() const { return {}; }

 private:
  /// A bit for each byte that is not 0.
  __device__ static std::uint32_t different_bytes(std::uint32_t word) {
    constexpr std::uint32_t kLow = 0x7f7f7f7f;
    return (((word & kLow) + kLow) | word) & ~kLow;
  }

  std::uint32_t words_;
};

static_assert(DeviceSpace<HammingSpace>);

}  // namespace kith::cuda
