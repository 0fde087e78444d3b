// The kernel that splits the upper levels of a small set: a cluster of blocks keeps the points in shared memory.
//
// Per point: read once, written once, whatever the number of levels. Per level the cluster synchronises twice: when all
// points are counted, and when the candidates, those in the counter of a median, are listed. What follows from the
// counters and the lists each block finds by itself, so there is nothing to wait for. Nodes with more candidates than a
// list holds take three barriers more for each further round of counting.
#pragma once

#include "cuda/kd_tree/build/build_plan.hpp"
#include "cuda/kd_tree/build/resident/resident_scatter.cuh"
#include "cuda/kd_tree/build/resident/resident_split.cuh"
#include "cuda/runtime/together.hpp"

namespace kith::cuda {

/// Loads the points of a block, and clears what the cluster counts in and what the finish does. Synchronises the block.
template <typename T>
__device__ void load_resident(const ResidentBlock<T>& own) {
  const ResidentGroup<T>& p = own.p;
  for (std::uint32_t d = 0; d < own.dims; ++d) {
    const T* column = p.source.values + d * p.source.dim_stride;
    for (std::uint32_t slot = thread_number(); slot < own.count; slot += kResidentThreads) {
      copy_to_shared(own.values() + d * p.capacity + slot, column + own.place(slot) * p.source.row_stride);
    }
  }
  for (std::uint32_t slot = thread_number(); slot < own.count; slot += kResidentThreads) own.states()[slot] = 0;
  own.clear_histogram(0);
  if (block_number() == 0) {
    if (thread_number() < 1u << p.levels) p.cursors[thread_number()] = p.arrivals[thread_number()] = 0;
    if (thread_number() == 0) *p.tied = 0;
  }
  wait_for_copies();
  sync_block();
}

/// Writes zeros where points would go: the finish loads them before it sees that it has to stop.
template <typename T>
__device__ void refuse_points(const ResidentBlock<T>& own) {
  const ResidentGroup<T>& p = own.p;
  for (std::uint32_t slot = thread_number(); slot < own.count; slot += kResidentThreads) {
    const std::uint64_t to = own.place(slot);
    for (std::uint32_t d = 0; d < own.dims; ++d) p.out_values[d * p.out_stride + to] = 0;
    p.out_indices[to] = 0;
  }
  if (block_number() != 0) return;
  const std::uint32_t sides = (1u << p.levels) * 2 * own.dims;
  for (std::uint32_t i = thread_number(); i < sides; i += kResidentThreads) p.child_boxes[i] = 0;
}

template <typename T>
__global__ void __launch_bounds__(kResidentThreads, 1) split_resident(const __grid_constant__ ResidentGroup<T> p) {
  ResidentBlock<T> own(p);
  start_next();
  wait_for_previous();
  load_resident(own);
  const bool is_finite = find_root_box(own);
  if (block_number() == 0 && thread_number() == 0) *p.refused = is_finite ? 0 : 1;
  if (!is_finite) {
    refuse_points(own);
    return;
  }
#pragma unroll 1
  for (std::uint32_t level = 0; level < p.levels; ++level) {
    begin_level(own, level);
    count_points(own, level, 0);
    sync_cluster();
    bool is_open = choose_counters(own, level, 0);
    own.clear_histogram(own.turn ^ 1);
    decide_by_counters(own, level, 0);
    own.turn ^= 1;
#pragma unroll 1
    for (std::uint32_t round = 1; is_open; ++round) {
      is_open = narrow_candidates(p, level, round, own.turn);
      own.turn ^= 1;
    }
    sync_cluster();
    end_level(own, level);
  }
  scatter_resident(own);
}

/// Launches the kernel. Through `launch(name, bytes read and written, kernel, blocks, threads, shared bytes, Together,
/// arguments…)`.
template <typename T, typename Launch>
void split_group(const ResidentGroup<T>& group, const GpuLimits&, Launch&& launch) {
  const TreeShape& shape = group.shape;
  launch("resident", shape.geometry.points * 2 * (shape.dims * sizeof(T) + sizeof(std::uint32_t)), split_resident<T>,
         group.blocks, kResidentThreads, ResidentLayout<T>{group.capacity}.bytes(shape.dims),
         Together{.cluster = group.blocks}, group);
}

}  // namespace kith::cuda
