// The iterations of one stage of a registration on the CPU.
#pragma once

#include "apps/register/nearest_matches.hpp"
#include "apps/register/stage.hpp"
#include "core/cloud/registration_step.hpp"

#include <kith/apps/registration.hpp>

#include <vector>

namespace kith::apps::inline v0 {

/// What a stage hands on.
struct Refined {
  core::StageState state;
  std::vector<core::StepRecord> records;
  /// At the last pose: sums over its pairs, with six unknowns or, if the scale is looked for, seven.
  std::vector<double> sums;
  /// For gicp the same with the distances along the target's normals alone: that of gicp itself lets every direction
  /// seem as firm as the thickness of the surfaces. Else empty.
  std::vector<double> surfaces;
  std::vector<RegisteredPair> pairs;  ///< if wanted
  /// If the stage leads on to another one: the last match of each point of the source, or kNoMatch. All from `sums` on
  /// is empty then.
  std::vector<std::uint32_t> matches;
};

/// Which pairs count.
struct PairChoice {
  double keep = 1;
  bool reciprocal = false;
  bool want_pairs = false;
  bool leads_on = false;  ///< to another stage: pose, records and matches are all that is wanted
};

/// Iterates from `start` until the rule ends it. `unknowns` is 6 or 7. `hints` change the time alone.
template <typename T>
Refined refine(const Stage<T>& stage, const core::Frame& frame, const core::StepRule& rule, const PairChoice& choice,
               int unknowns, const core::StageState& start, const MatchHints& hints, int threads,
               const ProgressCallback& progress);

}  // namespace kith::apps::inline v0
