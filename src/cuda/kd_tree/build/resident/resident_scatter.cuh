// The end of a split in shared memory: each block brings its points into the order of their nodes and writes them
// there.
#pragma once

#include "cuda/kd_tree/build/resident/resident_count.cuh"

namespace kith::cuda {

/// Writes the points of a block to the nodes of the group's last level, in runs. The splits of all levels are known.
template <typename T>
__device__ void scatter_resident(const ResidentBlock<T>& own) {
  const ResidentGroup<T>& p = own.p;
  const std::uint32_t children = 1u << p.levels;
  constexpr std::uint32_t threads = kResidentThreads;
  if (thread_number() < kMostResidentChildren) own.child_counts()[thread_number()] = 0;
  sync_block();
  for (std::uint32_t slot = thread_number(); slot < own.count; slot += threads) {
    const std::uint32_t child = decided_node(own, p.levels, slot);
    own.states()[slot] = static_cast<std::uint8_t>(child);
    own.positions()[slot] = static_cast<std::uint16_t>(atomic_add(&own.child_counts()[child], 1u));
  }
  sync_block();
  if (warp_number() == 0) {
    static_assert(kMostResidentChildren <= kWarp);
    const std::uint32_t child = lane_number(), count = own.child_counts()[child];
    const std::uint32_t start = sum_to_lane(count) - count;
    own.child_starts()[child] = start;
    if (child < children) {
      own.child_places()[child] = own.first(p.levels, child) + atomic_add(p.cursors + child, count) - start;
    }
    sync_warp();
  }
  sync_block();
  std::uint16_t* order = own.bins();
  for (std::uint32_t slot = thread_number(); slot < own.count; slot += threads) {
    order[own.child_starts()[own.states()[slot]] + own.positions()[slot]] = static_cast<std::uint16_t>(slot);
  }
  sync_block();
  for (std::uint32_t i = thread_number(); i < own.count; i += threads) {
    const std::uint32_t slot = order[i], to = own.child_places()[own.states()[slot]] + i;
    for (std::uint32_t d = 0; d < own.dims; ++d) p.out_values[d * p.out_stride + to] = own.value(slot, d);
    p.out_indices[to] = p.source.index(own.place(slot));
  }
}

}  // namespace kith::cuda
