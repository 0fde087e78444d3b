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
  expect_bound_holds({17, 64, 128, 784}, 50, product_sums_on_device);
}

TEST(SmallHalfSumBoundOnDevice, HoldsForHardSums) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  expect_half_sums_hold(500, half_sums_on_device);
}

}  // namespace
}  // namespace kith::test
