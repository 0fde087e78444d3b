// How well a pose puts two clouds together, and the same pose a little better.
#pragma once

#include "apps/register/global/feature_cloud.hpp"
#include "apps/register/stage.hpp"
#include "core/cloud/motion.hpp"

#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

/// Both clouds ready to be put together by any number of poses.
class OverlapScore {
 public:
  OverlapScore(const FeatureCloud& source, const FeatureCloud& target, double voxel, int threads);

  /// The share of the source that lies on the target, from 0 to 1: each point whose nearest one is within `reach` and
  /// has about its normal counts, the more the nearer it is. Every `step`-th point of the source is looked at.
  double of(const core::Motion& motion, double reach, std::uint64_t step) const;

  /// A few iterations by the distances along normals. `free_mask` as in StepRule.
  core::Motion polished(const core::Motion& motion, std::uint32_t free_mask) const;

 private:
  const FeatureCloud& source_;
  const FeatureCloud& target_;
  double voxel_;
  int threads_;
  std::vector<double> weights_;  ///< of the points of the source
  Stage<double> stage_;
};

}  // namespace kith::apps::inline v0
