// The k nearest of a stream, for small and large k.
#include "cpu/nearest_keeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

TEST(NearestKeeper, KeepsTheNearestForEveryK) {
  std::mt19937_64 random(47);
  for (const std::uint32_t k : {0u, 1u, 2u, 63u, 64u, 65u, 100u, 500u, 2000u}) {
    for (const std::uint32_t values : {1u, 3u, 1000u}) {
      const std::uint32_t count = 1500;
      std::vector<core::Candidate<float>> all;
      cpu::NearestKeeper<float> keeper(k, count, 900.0f);
      for (int round = 0; round < 2; ++round) {  // a second time after reset
        all.clear();
        keeper.reset();
        for (std::uint32_t i = 0; i < count; ++i) {
          const core::Candidate<float> candidate{static_cast<float>(random() % values), i};
          if (candidate.distance <= 900.0f) all.push_back(candidate);
          keeper.offer(candidate);
        }
        std::sort(all.begin(), all.end());
        all.resize(std::min<std::size_t>(all.size(), k));
        const auto found = keeper.finish();
        ASSERT_EQ(found.size(), all.size()) << "k " << k;
        EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin())) << "k " << k << " values " << values;
      }
    }
  }
}

TEST(NearestKeeper, TakesCandidatesInAnyOrder) {
  std::mt19937_64 random(50);
  for (const std::uint32_t k : {1u, 5u, 64u, 65u, 200u}) {
    std::vector<core::Candidate<double>> all;
    for (std::uint32_t i = 0; i < 1000; ++i) all.push_back({static_cast<double>(random() % 7), i});
    std::shuffle(all.begin(), all.end(), random);
    cpu::NearestKeeper<double> keeper(k, all.size(), std::numeric_limits<double>::infinity());
    for (const auto& candidate : all) keeper.offer(candidate);
    std::sort(all.begin(), all.end());
    const auto found = keeper.finish();
    ASSERT_EQ(found.size(), k);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin())) << "k " << k;
  }
}

TEST(NearestKeeper, TakesInfiniteDistancesUntilItIsFull) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  cpu::NearestKeeper<float> keeper(2, 3, kInfinity);
  for (std::uint32_t i = 0; i < 3; ++i) keeper.offer({kInfinity, i});
  const auto found = keeper.finish();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].index, 1u);
}

}  // namespace
}  // namespace kith::test
