// Which points of two clouds look alike.
#pragma once

#include "apps/register/global/feature_cloud.hpp"

#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

struct FeatureMatch {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  float distance = 0;  ///< of the descriptors
};

/// Pairs that are nearest to each other by their descriptors, the most alike first (ties by number), at most `most`.
std::vector<FeatureMatch> feature_matches(const FeatureCloud& source, const FeatureCloud& target, std::uint64_t most,
                                          int threads);

}  // namespace kith::apps::inline v0
