// The k nearest of a stream, for small and large k.
#include "cpu/nearest_keeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
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

/// The bound is the next value below the k-th, whatever its sign: candidates that come later must be strictly less.
template <typename T>
void expect_negative_ones_kept(std::uint32_t k, std::mt19937_64& random) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T special[] = {-kInfinity, -std::numeric_limits<T>::max(), -std::numeric_limits<T>::denorm_min(), 0, kInfinity};
  cpu::NearestKeeper<T, core::SignedCandidate<T>> keeper(k, 800, kInfinity);
  std::vector<std::pair<T, std::uint32_t>> all;
  for (std::uint32_t i = 0; i < 800; ++i) {
    const T value = random() % 4 == 0 ? special[random() % 5] : static_cast<T>(random() % 50) - 25;
    all.emplace_back(value, i);
    if (i == 0 || value <= keeper.bound_for_ascending()) keeper.offer({value, i});
  }
  std::sort(all.begin(), all.end());
  const auto found = keeper.finish();
  ASSERT_EQ(found.size(), std::min<std::size_t>(k, all.size()));
  for (std::size_t j = 0; j < found.size(); ++j) {
    ASSERT_EQ(found[j].distance, all[j].first) << "k " << k << ", rank " << j;
    ASSERT_EQ(found[j].index, all[j].second) << "k " << k << ", rank " << j;
  }
}

TEST(NearestKeeper, KeepsNegativeOnes) {
  std::mt19937_64 random(51);
  for (const std::uint32_t k : {0u, 1u, 2u, 16u, 60u, 64u, 65u, 200u, 900u}) {
    ASSERT_NO_FATAL_FAILURE(expect_negative_ones_kept<float>(k, random));
    ASSERT_NO_FATAL_FAILURE(expect_negative_ones_kept<double>(k, random));
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
