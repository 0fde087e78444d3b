// Lists of the nearest f64 candidates: against a sort of all, with ties, bounds, full logs and few candidates.
#include "cpu/kd_tree/distance_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::cpu {
namespace {

constexpr std::uint32_t kMissing = 1'000'000;

using Found = std::vector<std::pair<double, std::uint32_t>>;

/// Candidates in calls of up to 64, those beyond the limit left out as walks do.
Found by_lists(DistanceLists& lists, std::uint32_t query, std::uint32_t k, double farthest, const Found& candidates,
               std::mt19937& random) {
  lists.reset(query, farthest);
  core::Candidate<double> limit{farthest, core::kNoPoint};
  for (std::size_t at = 0; at < candidates.size();) {
    double reduced[64];
    std::uint32_t indices[64];
    std::uint64_t hits = 0;
    const std::size_t count = std::min<std::size_t>(1 + random() % 64, candidates.size() - at);
    for (std::size_t i = 0; i < count; ++i, ++at) {
      std::tie(reduced[i], indices[i]) = candidates[at];
      hits |= std::uint64_t{reduced[i] <= limit.distance} << i;
    }
    const core::Candidate<double> before = limit;
    limit = lists.on_hit()(&lists, query, hits, reduced, indices);
    EXPECT_FALSE(before < limit);
  }
  std::vector<std::uint32_t> indices(k);
  std::vector<double> reduced(k);
  lists.write(query, kMissing, indices.data(), reduced.data());
  Found found;
  for (std::uint32_t i = 0; i < k; ++i) found.emplace_back(reduced[i], indices[i]);
  return found;
}

Found by_sorting(std::uint32_t k, double farthest, Found candidates) {
  std::erase_if(candidates, [&](const auto& candidate) { return candidate.first > farthest; });
  std::ranges::sort(candidates);
  candidates.resize(k, {std::numeric_limits<double>::infinity(), kMissing});
  return candidates;
}

TEST(DistanceLists, EqualASortOnRandomCases) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t k = 1 + random() % DistanceLists::kMost, values = 1u << random() % 12;
    DistanceLists lists(k, 3);
    Found candidates;
    const std::uint32_t count = random() % 400;
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
    std::ranges::shuffle(numbers, random);
    // A few values make ties, infinity among them; falling ones make the log full.
    const bool is_falling = round % 3 == 0, has_infinity = round % 5 == 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      double distance = random() % values;
      if (is_falling) distance = (count - i) / (1 + random() % 2) + 0.25 * (random() % 4);
      if (has_infinity && random() % 4 == 0) distance = std::numeric_limits<double>::infinity();
      candidates.emplace_back(distance, numbers[i]);
    }
    const double farthest = random() % 3 == 0 ? random() % (values + 1) : std::numeric_limits<double>::infinity();
    for (const std::uint32_t query : {2u, 0u}) {
      ASSERT_EQ(by_lists(lists, query, k, farthest, candidates, random), by_sorting(k, farthest, candidates))
          << "round " << round << ", k " << k;
    }
  }
}

}  // namespace
}  // namespace kith::cpu
