// Decides candidates of a round: one becomes a centre if all within the radius that have a lower rank are decided, and
// none of them is a centre.
//
// All undecided candidates of lower rank are in the round's prefix, and new centres of earlier rounds are farther than
// the radius. Decisions are never taken back, so that it does not matter which of them a warp sees: they all end at the
// one set that the greedy loop over the ranks finds. The undecided one of lowest rank is always decided.
#pragma once

#include "cuda/cover_tree/build/measure_parts.cuh"

namespace kith::cuda::cover {

/// A warp per candidate.
template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) resolve_prefix(S space, RoundTask task) {
  const LevelView& level = task.level;
  const Prefix& prefix = task.prefix;
  const std::uint64_t i = thread_of_grid() / kWarp;
  if (i >= task.prefix_count || load_fresh(prefix.states + i) != kUndecided) return;
  const std::uint32_t position = prefix.positions[i], cell = level.objects.cell[position];
  if (cell < task.first_cell || cell >= task.end_cell) return;
  const std::uint32_t number = level.objects.number[position], rank = core::cover_rank(number);
  const double distance = level.objects.distance[position];
  const CoverRounding rounding = space.rounding();
  const auto limit = limit_of(space, level.radius);
  std::byte* context = context_of_warp(space);
  space.prepare(context, level.plain.at(number));

  const std::uint32_t others = task.lists.counts[cell];
  const std::uint64_t start = task.lists.starts[cell];
  std::uint32_t measured = 0;
  bool is_covered = false, must_wait = false;
  for (std::uint32_t first = 0; first < others && !is_covered && !must_wait; first += kWarp) {
    std::uint32_t begin = 0, size = 0;
    if (first + lane_number() < others) {
      const std::uint64_t entry = start + first + lane_number();
      const std::uint32_t other = task.lists.cells[entry];
      const double apart = static_cast<double>(task.lists.distances[entry]);
      if (!(rounding.nearest(apart, distance + number_of(level.cells.reach[other])) > level.radius)) {
        begin = prefix.before[level.cells.first[other]];
        size = prefix.before[level.cells.first[other + 1]] - begin;
      }
    }
    const LaneRanges ranges(begin, size);
    for (std::uint32_t k = 0; k < ranges.total && !is_covered && !must_wait; k += kWarp) {
      std::uint32_t lane = 0, state = kCovered;
      const std::uint32_t item = ranges.item(k + lane_number(), lane);
      std::uint32_t other = 0;
      if (k + lane_number() < ranges.total) {
        other = level.objects.number[prefix.positions[item]];
        if (core::cover_rank(other) < rank) state = load_fresh(prefix.states + item);
      }
      bool is_close = false;
      if (state != kCovered) {
        is_close = space.metric(space.measure(context, level.plain.at(other), limit)) <= level.radius;
        ++measured;
      }
      is_covered = any_lane(is_close && state == kCentre);
      must_wait = any_lane(is_close && state == kUndecided);
    }
  }
  if (lane_number() == 0 && (is_covered || !must_wait)) prefix.states[i] = is_covered ? kCovered : kCentre;
  add_evaluations(level.counters, measured);
}

}  // namespace kith::cuda::cover
