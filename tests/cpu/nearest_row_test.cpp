// The k nearest of a stream, kept in the caller's arrays.
#include "cpu/nearest_row.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

/// `least` is subtracted from all values.
template <typename T, typename Kept = core::Candidate<T>>
void expect_nearest(std::uint32_t k, std::uint32_t values, T farthest, std::mt19937_64& random, T least = 0) {
  std::vector<std::uint32_t> indices(k + 1, 77);
  std::vector<T> reduced(k + 1, T(77));
  cpu::NearestRow<T, Kept> row(k, farthest, indices.data(), reduced.data());
  std::vector<Kept> all;
  std::vector<std::uint32_t> order(700);
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  for (const std::uint32_t index : order) {
    const Kept candidate{static_cast<T>(random() % values) - least, index};
    if (candidate.distance <= farthest) all.push_back(candidate);
    row.offer(candidate);
  }
  std::sort(all.begin(), all.end());
  all.resize(std::min<std::size_t>(all.size(), k));
  EXPECT_EQ(row.bound(), all.size() < k ? farthest : all.back().distance);
  ASSERT_EQ(row.finish(1000), all.size());
  for (std::uint32_t j = 0; j < k; ++j) {
    EXPECT_EQ(indices[j], j < all.size() ? all[j].index : 1000) << "k " << k << ", rank " << j;
    EXPECT_EQ(reduced[j], j < all.size() ? all[j].distance : std::numeric_limits<T>::infinity());
  }
  EXPECT_EQ(indices[k], 77u);  // nothing past the end is touched
  EXPECT_EQ(reduced[k], T(77));
}

TEST(NearestRow, KeepsTheNearestForEveryK) {
  std::mt19937_64 random(91);
  for (const std::uint32_t k : {1u, 2u, 3u, 7u, 64u, 65u, 699u, 700u, 1000u}) {
    for (const std::uint32_t values : {1u, 3u, 1000u}) {
      expect_nearest<float>(k, values, 900.0f, random);
      expect_nearest<double>(k, values, 900.0, random);
      expect_nearest<double>(k, values, 0.0, random);
      expect_nearest<float, core::SignedCandidate<float>>(k, values, 400.0f, random, 500.0f);
      expect_nearest<double, core::SignedCandidate<double>>(k, values, -100.0, random, 500.0);
    }
  }
}

}  // namespace
}  // namespace kith::test
