// What tensor cores make of hard pairs lies within the bounds that the filters by products are proven with.
#include "cuda/on_device.hpp"
#include "cuda/brute_force/half_sums_on_device.hpp"
#include "cuda/brute_force/product_bound_check.hpp"
#include "cuda/brute_force/product_sums_on_device.hpp"

#include <gtest/gtest.h>

namespace kith::test {
namespace {

TEST(SmallProductBoundOnDevice, HoldsForHardPairs) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  expect_bound_holds({17, 64, 128, 784}, 50,
                     [](const ProductPairs& pairs) { return product_sums_on_device(pairs, false); });
}

TEST(SmallProductBoundOnDevice, HoldsForHardPairsOnHopper) {
  if (!has_gpu() || !has_hopper_sums()) GTEST_SKIP() << "no GPU of compute capability 9.0, or no code for it";
  expect_bound_holds({17, 33, 64, 100, 128, 784}, 50,
                     [](const ProductPairs& pairs) { return product_sums_on_device(pairs, true); });
}

TEST(SmallHalfSumBoundOnDevice, HoldsForHardSums) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  expect_half_sums_hold(500, half_sums_on_device);
}

}  // namespace
}  // namespace kith::test
