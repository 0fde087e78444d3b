// Rows of bits by the Hamming distance as objects of the cover tree on the GPU.
#pragma once

#include "cuda/cover_tree/build/copied_row.cuh"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

class BitSpace {
 public:
  using Value = float;
  static constexpr bool kIsExact = true;

  /// Rows of so many words of 32 bits, at least one.
  explicit BitSpace(std::uint32_t words) : words_(words) {}

  KITH_HOST_DEVICE std::uint32_t stride() const { return words_; }
  KITH_HOST_DEVICE std::uint32_t context_bytes() const { return CopiedRow::bytes_for(words_); }
  __device__ void prepare(std::byte* memory, RowView row) const { CopiedRow::prepare(memory, row, words_, words_); }
  __device__ float measure(const std::byte* prepared, RowView row, float) const {
    const std::uint32_t sum = CopiedRow::sum_of_steps(
        prepared, row, words_, [](std::uint32_t a, std::uint32_t b) { return count_bits(a ^ b); });
    return static_cast<float>(sum);
  }
  KITH_HOST_DEVICE double metric(float value) const { return static_cast<double>(value); }
  KITH_HOST_DEVICE core::CoverRounding rounding() const { return {}; }

 private:
  std::uint32_t words_;
};

static_assert(DeviceSpace<BitSpace>);

}  // namespace kith::cuda
