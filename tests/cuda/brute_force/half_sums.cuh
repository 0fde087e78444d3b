// The sums in halves that a warp computes, given out.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::test {

/// One warp: `sums` is [16][8].
template <typename Half>
__global__ void __launch_bounds__(32) give_out_half_sums(const Half* a, const Half* b, const Half* first, Half* sums) {
  const std::uint32_t row = cuda::lane_number() / 4, column = 2 * (cuda::lane_number() % 4);
  const auto two = [](const Half* at) { return at[0] | std::uint32_t{at[1]} << 16; };
  std::uint32_t of_a[4], of_b[2], both[2];
  for (std::uint32_t i = 0; i < 4; ++i) of_a[i] = two(a + 16 * (row + i % 2 * 8) + i / 2 * 8 + column);
  for (std::uint32_t i = 0; i < 2; ++i) of_b[i] = two(b + 16 * row + i * 8 + column);
  const std::uint32_t begin = two(first + column);
  cuda::mma_half_sums(both, of_a, of_b, begin, begin);
  for (std::uint32_t i = 0; i < 4; ++i) {
    sums[8 * (row + i / 2 * 8) + column + i % 2] = static_cast<Half>(both[i / 2] >> (16 * (i % 2)));
  }
}

}  // namespace kith::test
