// The bound of what the filter with sums in halves may be off: what it assumes of a tensor core, and its halves.
#include "cuda/brute_force/filter/half_sum_bound.hpp"

#include "cuda/brute_force/half_sums.cuh"
#include "cuda/brute_force/half_sums.hpp"
#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kith::test {
namespace {

TEST(HalfSumBound, HoldsForHardSums) {
  expect_half_sums_hold(200, [](const HalfSumRowsOf16& rows) {
    std::vector<std::uint16_t> sums(16 * 8);
    cuda::emulation::run_grid(1, 32, 0, cuda::emulation::Residence::one_by_one, [&] {
      give_out_half_sums(rows.a.data(), rows.b.data(), rows.first.data(), sums.data());
    });
    return sums;
  });
}

TEST(HalfSumBound, RoundsDownAndUp) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float here = cuda::emulation::from_half_bits(bits), next = cuda::emulation::from_half_bits(bits + 1);
    for (const float x : {std::nextafter(here, next), (here + next) / 2, std::nextafter(next, here)}) {
      ASSERT_EQ(cuda::to_half_bits_down(x), bits);
      ASSERT_EQ(cuda::to_half_bits_up(x), bits + 1);
      ASSERT_EQ(cuda::to_half_bits_down(-x), (bits + 1) | 0x8000);
      ASSERT_EQ(cuda::to_half_bits_up(-x), bits | 0x8000);
    }
    ASSERT_EQ(cuda::to_half_bits_down(here), bits);
    ASSERT_EQ(cuda::to_half_bits_up(here) & 0x7fff, bits);
    ASSERT_EQ(cuda::half_below(static_cast<std::uint16_t>(bits + 1)), bits);
    ASSERT_EQ(cuda::half_below(static_cast<std::uint16_t>(bits | 0x8000)), (bits + 1) | 0x8000);
  }
  EXPECT_EQ(cuda::half_below(0), 0x8001);
}

TEST(HalfSumBound, ScalesSuitDeviations) {
  for (int exponent = -120; exponent < 100; ++exponent) {
    const float deviation = std::ldexp(1.3f, exponent), scale = cuda::half_sum_scale(deviation);
    EXPECT_GE(scale, 16 * deviation);
    EXPECT_LE(scale, 32 * deviation);
  }
  EXPECT_FALSE(cuda::is_half_sum_scale(cuda::half_sum_scale(0)));
  EXPECT_FALSE(cuda::is_half_sum_scale(cuda::half_sum_scale(1e-40f)));
  EXPECT_FALSE(cuda::is_half_sum_scale(cuda::half_sum_scale(3e38f)));
  EXPECT_FALSE(cuda::is_half_sum_scale(cuda::half_sum_scale(std::numeric_limits<float>::infinity())));
}

}  // namespace
}  // namespace kith::test
