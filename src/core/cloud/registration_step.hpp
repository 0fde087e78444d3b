// One iteration of a registration once its sums are there: the step, the new pose, and whether that was the last one.
// The same function on the CPU and on a GPU.
#pragma once

#include "core/arithmetic.hpp"
#include "core/cloud/linear_solve.hpp"
#include "core/cloud/match_terms.hpp"
#include "core/cloud/motion.hpp"
#include "core/cloud/ordered_sum.hpp"
#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// What does not change from iteration to iteration.
struct StepRule {
  PairRule pair;
  std::uint32_t free_mask = 0x3f;  ///< bit i: unknown i may change
  std::uint64_t points = 0;        ///< of the source
  std::uint32_t max_iterations = 64;
  double rotation_tolerance = 0;
  double translation_tolerance = 0;
  bool adapts_distance = false;
  double least_distance = 0;  ///< where it does
};

enum class StageEnd : std::uint8_t { none, converged, iterations, few_pairs, undetermined };

/// What an iteration found, before its step, and how large that was.
struct StepRecord {
  double pairs = 0;
  double squared = 0;       ///< sum of squared distances
  double error = 0;         ///< sum of weighted squared errors
  double max_distance = 0;  ///< of the pairs
  double turned = 0;
  double shifted = 0;
};

struct StageState {
  Motion motion;
  double max_distance = 0;
  std::uint32_t iteration = 0;
  StageEnd end = StageEnd::none;
};

/// The pairs without which no step is made.
KITH_HOST_DEVICE inline double least_pairs(const StepRule& rule) {
  int unknowns = 0;
  for (std::uint32_t mask = rule.free_mask; mask != 0; mask &= mask - 1) ++unknowns;
  return rule.pair.error == PairError::point ? 3 : unknowns;
}

KITH_HOST_DEVICE inline double length_of(const double* vector) {
  return square_root(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/// `squared_in_reach` is the mean squared distance of all pairs within reach where some of them do not count; -1: all
/// do. The distance adapts to it: by the pairs that were kept it would shrink without end, and the pairs with it.
template <int Unknowns>
KITH_HOST_DEVICE void advance(const StepRule& rule, const double* sums, StageState& state, StepRecord& record,
                              double squared_in_reach = -1) {
  using Places = TermPlaces<Unknowns>;
  record.pairs = sums[Places::kPairs];
  record.squared = sums[Places::kSquared];
  record.error = sums[Places::kError];
  record.max_distance = state.max_distance;
  record.turned = record.shifted = 0;
  if (record.pairs < least_pairs(rule)) {
    state.end = StageEnd::few_pairs;
    return;
  }
  double x[Unknowns];
  const std::uint32_t solved = solve_symmetric<Unknowns>(sums, sums + Places::kRight, rule.free_mask, x);
  MotionStep step;
  for (int i = 0; i < 3; ++i) {
    step.turn[i] = x[i];
    step.shift[i] = x[3 + i];
  }
  if constexpr (Unknowns == 7) {  // a cloud does not turn inside out, and does not explode
    step.scale = larger(x[6], -0.5);
    if (step.scale > 1) step.scale = 1;
  }
  record.turned = length_of(step.turn);
  record.shifted = length_of(step.shift);
  const bool is_finite = record.turned + record.shifted + absolute(step.scale) + record.squared < 1e300;
  if (solved == 0 || !is_finite) {  // no surface, no weight, or sums that overflowed
    record.turned = record.shifted = 0;
    state.end = StageEnd::undetermined;
    return;
  }
  Motion next = state.motion;
  apply_step(step, next);
  if (!(length_of(next.shift) + next.scale < 1e300)) {  // thrown out of all bounds: the last pose stays
    record.turned = record.shifted = 0;
    state.end = StageEnd::undetermined;
    return;
  }
  state.motion = next;
  ++state.iteration;

  double next_distance = state.max_distance;
  if (rule.adapts_distance) {
    const double mean = squared_in_reach < 0 ? record.squared / record.pairs : squared_in_reach;
    const double wanted = larger(3 * square_root(mean), rule.least_distance);
    if (wanted < next_distance) next_distance = wanted;
  }
  const bool keeps_distance = next_distance >= 0.99 * state.max_distance;
  state.max_distance = next_distance;
  // A change of the scale is measured as a turn: by the shifts that it causes, relative to the distance from the
  // centre.
  if (keeps_distance && record.turned <= rule.rotation_tolerance && record.shifted <= rule.translation_tolerance &&
      absolute(step.scale) <= rule.rotation_tolerance) {
    state.end = StageEnd::converged;
  } else if (state.iteration >= rule.max_iterations) {
    state.end = StageEnd::iterations;
  }
}

}  // namespace kith::core
