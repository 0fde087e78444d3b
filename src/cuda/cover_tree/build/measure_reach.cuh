// How far the objects of inner nodes are from their centres, those of the first children aside.
#pragma once

#include "cuda/cover_tree/build/measure_parts.cuh"

namespace kith::cuda::cover {

/// A warp per piece.
template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) measure_reach(S space, ReachTask task) {
  std::byte* context = context_of_warp(space);
  const auto everything = std::numeric_limits<typename S::Value>::infinity();
  const std::uint32_t total = task.pieces_before[task.node_count];
  const std::uint32_t warps = blocks_in_grid() * (threads_per_block() / kWarp);
  std::uint32_t measured = 0;
  for (std::uint64_t at = thread_of_grid() / kWarp; at < total; at += warps) {
    const std::uint32_t n = entry_with(task.pieces_before, task.node_count, static_cast<std::uint32_t>(at));
    const CoverNode& node = task.nodes[n];
    const std::uint32_t begin = node.first + task.nodes[node.first_child].count +
                                (static_cast<std::uint32_t>(at) - task.pieces_before[n]) * kTile;
    const std::uint32_t left = node.first + node.count - begin, count = left < kTile ? left : kTile;
    space.prepare(context, task.plain.at(node.centre));
    double reach = 0;
    for (std::uint32_t i = lane_number(); i < count; i += kWarp) {
      const double distance = space.metric(space.measure(context, task.rows.at(begin + i), everything));
      reach = distance > reach ? distance : reach;
      ++measured;
    }
    const std::uint64_t widest = max_of_warp(bits_of(reach));
    if (lane_number() == 0) atomic_max(task.reach + n, widest);
    sync_warp();  // before the context is prepared anew
  }
  add_evaluations(task.counters, measured);
}

}  // namespace kith::cuda::cover
