// Poses that many matches agree on.
#pragma once

#include "apps/register/global/feature_cloud.hpp"
#include "apps/register/global/feature_matches.hpp"
#include "core/cloud/rigid_fit.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// A pose, and how many matches it moves onto each other.
struct PoseCandidate {
  core::Motion motion;
  std::uint64_t matches = 0;
};

/// What poses may do.
struct PoseFreedom {
  core::FitFreedom fit = core::FitFreedom::free;
  bool keeps_z = false;  ///< then the shift along z, between the centred clouds, is this:
  double z = 0;
};

/// The candidates with the most matches first (ties: in the order in which they were found), at most `most`. Places
/// within `tolerance` count as the same.
std::vector<PoseCandidate> consistent_poses(const FeatureCloud& source, const FeatureCloud& target,
                                            std::span<const FeatureMatch> matches, double tolerance,
                                            const PoseFreedom& freedom, std::uint64_t most, int threads);

/// How many matches a pose moves onto each other.
std::uint64_t count_consistent(const FeatureCloud& source, const FeatureCloud& target,
                               std::span<const FeatureMatch> matches, const core::Motion& motion, double tolerance);

}  // namespace kith::apps::inline v0
