// The objects measured from the root, and pairs of samples, which tell whether a cell is worth a split.
#pragma once

#include "cuda/cover_tree/build/measure_parts.cuh"

namespace kith::cuda::cover {

/// Of the first object. A thread per object; shared memory for a context per warp.
template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) measure_root(S space, RootTask task) {
  std::byte* context = context_of_warp(space);
  space.prepare(context, task.plain.at(task.objects.number[0]));
  const std::uint64_t p = thread_of_grid();
  double distance = 0;
  if (p < task.count) {
    const auto everything = std::numeric_limits<typename S::Value>::infinity();
    distance = space.metric(space.measure(context, task.rows.at(p), everything));
    task.objects.distance[p] = distance;
    task.objects.cell[p] = 0;
  }
  const std::uint64_t widest = max_of_warp(bits_of(distance));
  if (lane_number() == 0) atomic_max(task.reach, widest);
  add_evaluations(task.counters, p < task.count ? 1 : 0);
}

/// A warp per sampled object, which measures those before it. The first objects of a cell have the lowest ranks.
template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) count_close(S space, SampleTask task) {
  const LevelView& level = task.level;
  std::byte* context = context_of_warp(space);
  const auto limit = limit_of(space, level.radius);
  const std::uint32_t total = task.starts[level.cell_count];
  const std::uint32_t warps = blocks_in_grid() * (threads_per_block() / kWarp);
  std::uint32_t measured = 0;
  for (std::uint64_t at = thread_of_grid() / kWarp; at < total; at += warps) {
    const std::uint32_t cell = entry_with(task.starts, level.cell_count, static_cast<std::uint32_t>(at));
    const std::uint32_t own = static_cast<std::uint32_t>(at) - task.starts[cell];
    const std::uint32_t* numbers = level.objects.number + level.cells.first[cell];
    space.prepare(context, level.plain.at(numbers[own]));
    std::uint32_t close = 0;
    for (std::uint32_t i = lane_number(); i < own; i += kWarp) {
      const auto value = space.measure(context, level.plain.at(numbers[i]), limit);
      if (space.metric(value) <= level.radius) ++close;
      ++measured;
    }
    close = sum_of_warp(close);
    if (lane_number() == 0 && close > 0) atomic_add(task.close + cell, std::uint64_t{close});
    sync_warp();  // before the context is prepared anew
  }
  add_evaluations(level.counters, measured);
}

}  // namespace kith::cuda::cover
