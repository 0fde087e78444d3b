// Lists of neighbouring cells.
//
// With r the radius of a level, R = 2 r and D the largest distance in a cell, all D <= R: an object of cell a can come
// within its own distance of a new centre of cell b only if m(a, b) <= 2 D_a + D_b, and centres of both are within r of
// each other only if m(a, b) <= D_a + D_b + r. The lists hold all with m(a, b) <= D_a + D_b + 2 R. Then those of the
// next level, where R' <= R / 2, come from cells in these lists: if m(x, y) <= D_x + D_y + 2 R' <= 4 R' <= 2 R, where x
// was made of a and y of b, then m(a, b) <= D_a + D_b + 2 R.
//
// Rounding: CoverRounding::nearest(m(a, b), D_a + D_b) is not above the computed m(x, y); three computed distances
// instead of two are covered, because only one term of relative error each is used of the four. The lists keep what is
// not above 2 R + 32 relative R + g(R). By induction the computed m(x, y) of a kept pair is at most 4 R' + 60 relative
// R' + 5 absolute + g(R') <= 2 R + 30 relative R + 5 absolute + g(R / 2), so g(R) = 6 absolute log2(R / absolute) does.
#pragma once

#include "cuda/cover_tree/build/measure_parts.cuh"

#include <cmath>

namespace kith::cuda::cover {

/// How far centres of neighbours may be apart beyond the largest distances in both cells.
inline double most_apart(double radius, const CoverRounding& rounding) {
  const double widest = 2 * radius;
  const double tiny = rounding.absolute > 0 ? 6 * rounding.absolute * std::log2(widest / rounding.absolute) : 0;
  return 2 * widest + 32 * rounding.relative * widest + tiny;
}

/// A warp per cell.
template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) list_neighbors(S space, NeighborTask task) {
  const LevelView& level = task.level;
  const std::uint64_t at = task.first_cell + thread_of_grid() / kWarp;
  if (at >= task.end_cell) return;
  const auto cell = static_cast<std::uint32_t>(at);
  const CoverRounding rounding = space.rounding();
  const double reach = number_of(level.cells.reach[cell]);
  const auto limit = limit_of(space, 2 * (2 * level.radius + task.most_apart));  // more than any that is kept
  std::byte* context = context_of_warp(space);
  space.prepare(context, level.plain.at(level.cells.centre[cell]));

  const std::uint64_t start = task.is_counting ? 0 : task.lists.starts[cell];
  std::uint32_t found = 0, measured = 0;
  const auto offer = [&](std::uint32_t other, bool is_there) {
    bool is_near = false;
    double distance = 0;
    if (is_there) {
      distance = space.metric(space.measure(context, level.plain.at(level.cells.centre[other]), limit));
      is_near = !(rounding.nearest(distance, reach + number_of(level.cells.reach[other])) > task.most_apart);
      ++measured;
    }
    const std::uint32_t near = ballot(is_near);
    if (is_near && !task.is_counting) {
      const std::uint64_t place = start + found + count_bits(near & ((1u << lane_number()) - 1));
      task.lists.cells[place] = other;
      task.lists.distances[place] = toward_zero(distance);
    }
    found += count_bits(near);
  };

  if (!task.has_old) {
    for (std::uint32_t first = 0; first < level.cell_count; first += kWarp) {
      offer(first + lane_number(), first + lane_number() < level.cell_count);
    }
  } else {
    const std::uint32_t origin = level.cells.origin[cell], others = task.old.counts[origin];
    const std::uint32_t* old = task.old.cells + task.old.starts[origin];
    for (std::uint32_t first = 0; first < others; first += kWarp) {
      const bool is_there = first + lane_number() < others;
      const std::uint32_t other = is_there ? old[first + lane_number()] : 0;
      const std::uint32_t begin = task.kids.begin[other];
      const LaneRanges kids(begin, is_there ? task.kids.end[other] - begin : 0);
      for (std::uint32_t k = 0; k < kids.total; k += kWarp) {
        std::uint32_t lane = 0;
        const std::uint32_t kid = kids.item(k + lane_number(), lane);
        offer(kid, k + lane_number() < kids.total);
      }
    }
  }
  if (lane_number() == 0) task.lists.counts[cell] = found;
  add_evaluations(level.counters, measured);
}

}  // namespace kith::cuda::cover
