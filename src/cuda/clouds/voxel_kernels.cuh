// Kernels of voxels: the box of the points, the key of each, groups of equal keys in sorted order, and what stands for
// each group.
#pragma once

#include "core/arithmetic.hpp"
#include "core/cloud/chunked_sum.hpp"
#include "cuda/clouds/voxel_types.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/primitives/sort_pairs.hpp"

#include <cstdint>
#include <limits>

namespace kith::cuda {

inline constexpr std::uint32_t kVoxelThreads = 256;

/// Calls work(i) for each i below count.
template <typename Work>
__device__ __forceinline__ void for_each_voxel_item(std::uint32_t count, Work&& work) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kVoxelThreads;
  for (std::uint64_t i = std::uint64_t{block_number()} * kVoxelThreads + thread_number(); i < count; i += step) {
    work(static_cast<std::uint32_t>(i));
  }
}

/// `box` begins with the largest keys, then as many zeros. NaN makes a corner NaN or infinite.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kVoxelThreads)
    find_voxel_box(const __grid_constant__ VoxelTask<T> task, OrderedKey<T>* box) {
  OrderedKey<T> lower[kDims], upper[kDims];
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    lower[d] = ~OrderedKey<T>{0};
    upper[d] = 0;
  }
  for_each_voxel_item(task.count, [&](std::uint32_t i) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const OrderedKey<T> key = ordered_key(task.rows[i * task.row_stride + d]);
      lower[d] = key < lower[d] ? key : lower[d];
      upper[d] = key > upper[d] ? key : upper[d];
    }
  });
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const OrderedKey<T> least = min_of_warp(lower[d]), most = max_of_warp(upper[d]);
    if (lane_number() == 0) {
      atomic_min(&box[d], least);
      atomic_max(&box[kDims + d], most);
    }
  }
}

/// A thread per row.
template <typename T, std::uint32_t kDims, typename Key>
__global__ void __launch_bounds__(kVoxelThreads)
    voxel_keys(const __grid_constant__ VoxelTask<T> task, KeyedPairs<Key> pairs) {
  for_each_voxel_item(task.count, [&](std::uint32_t i) {
    Key key = 0;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const double cell = core::voxel_cell(static_cast<double>(task.rows[i * task.row_stride + d]), task.size);
      key |= static_cast<Key>(static_cast<std::int64_t>(cell) - task.cells[d].low) << task.cells[d].shift;
    }
    pairs.keys[i] = key;
    pairs.values[i] = i;
  });
}

/// A thread per position: 1 where a group begins.
template <typename Key>
__global__ void __launch_bounds__(kVoxelThreads)
    mark_groups(const Key* keys, std::uint32_t count, std::uint32_t* firsts) {
  for_each_voxel_item(count, [&](std::uint32_t p) { firsts[p] = p == 0 || keys[p] != keys[p - 1] ? 1 : 0; });
}

/// A thread per position: where each group begins, and which rows are the first of one. `groups` has the sums of
/// mark_groups before each position, and behind the last.
__global__ void __launch_bounds__(kVoxelThreads)
    start_groups(const std::uint32_t* groups, std::uint32_t count, const std::uint32_t* rows, std::uint32_t* starts,
                 std::uint32_t* is_first_row) {
  for_each_voxel_item(count, [&](std::uint32_t p) {
    const bool is_first = groups[p + 1] != groups[p];
    if (is_first) starts[groups[p]] = p;
    is_first_row[rows[p]] = is_first ? 1 : 0;
  });
}

/// Sorted rows in groups.
struct VoxelGroups {
  const std::uint32_t* rows = nullptr;    ///< ascending in each group
  const std::uint32_t* groups = nullptr;  ///< per position how many begin before it; then how many there are
  const std::uint32_t* starts = nullptr;  ///< where each begins
  const std::uint32_t* places = nullptr;  ///< per row how many first rows are before it

  __device__ std::uint32_t count(std::uint32_t positions) const { return groups[positions]; }
  __device__ std::uint32_t end(std::uint32_t group, std::uint32_t positions) const {
    return group + 1 < groups[positions] ? starts[group + 1] : positions;
  }
  __device__ std::uint32_t place(std::uint32_t group) const { return places[rows[starts[group]]]; }
};

/// The squared distance of a row from a mean.
template <std::uint32_t kDims, typename T>
__device__ __forceinline__ double squared_from(const T* point, const double (&mean)[kDims]) {
  double squared = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const double apart = static_cast<double>(point[d]) - mean[d];
    squared = core::fused_multiply_add(apart, apart, squared);
  }
  return squared;
}

/// Writes what stands for a group: its mean or the row `kept`.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void put_sample(const VoxelTask<T>& task, std::uint32_t place, const double (&mean)[kDims],
                                           std::uint32_t kept) {
  const bool is_mean = task.keep == apps::VoxelKeep::mean;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    task.sample[std::uint64_t{place} * kDims + d] =
        is_mean ? static_cast<T>(mean[d]) : task.rows[kept * task.row_stride + d];
  }
  if (task.kept_rows != nullptr) task.kept_rows[place] = kept;
}

/// A thread per group; those of more than a chunk of a sum are put down for sample_large_groups.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kVoxelThreads)
    sample_groups(const __grid_constant__ VoxelTask<T> task, VoxelGroups groups, std::uint32_t* large,
                  std::uint32_t* large_count) {
  for_each_voxel_item(groups.count(task.count), [&](std::uint32_t group) {
    const std::uint32_t first = groups.starts[group], end = groups.end(group, task.count);
    const std::uint32_t place = groups.place(group);
    if (task.counts != nullptr) task.counts[place] = end - first;
    double mean[kDims] = {};
    std::uint32_t kept = groups.rows[first];
    if (task.keep != apps::VoxelKeep::first) {
      if (end - first > core::kSumChunk) {
        large[atomic_add(large_count, 1u)] = group;
        return;
      }
      for (std::uint32_t p = first; p < end; ++p) {
        const T* const point = task.rows + groups.rows[p] * task.row_stride;
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) mean[d] += static_cast<double>(point[d]);
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) mean[d] = mean[d] / (end - first);
      if (task.wants_nearest()) {
        double best = squared_from<kDims>(task.rows + kept * task.row_stride, mean);
        for (std::uint32_t p = first + 1; p < end; ++p) {
          const std::uint32_t row = groups.rows[p];
          const double squared = squared_from<kDims>(task.rows + row * task.row_stride, mean);
          if (!(squared < best)) continue;
          best = squared;
          kept = row;
        }
      }
    }
    put_sample<T, kDims>(task, place, mean, kept);
  });
}

template <std::uint32_t kDims>
struct LargeGroupShared {
  double sums[kVoxelThreads][kDims];  ///< of a chunk for each thread
  double mean[kDims];
  double best[kVoxelThreads];
  std::uint32_t at[kVoxelThreads];
};

/// A block per group of more than a chunk, a thread per chunk of its sum: core::ChunkedSum.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kVoxelThreads)
    sample_large_groups(const __grid_constant__ VoxelTask<T> task, VoxelGroups groups, const std::uint32_t* large,
                        const std::uint32_t* large_count) {
  auto& shared = *reinterpret_cast<LargeGroupShared<kDims>*>(shared_memory());
  for (std::uint32_t g = block_number(); g < *large_count; g += blocks_in_grid()) {
    const std::uint32_t group = large[g], first = groups.starts[group], end = groups.end(group, task.count);
    const std::uint32_t chunks = (end - first + core::kSumChunk - 1) / core::kSumChunk;
    double total = 0;  // of dimension thread_number
    for (std::uint32_t round = 0; round < chunks; round += kVoxelThreads) {
      const std::uint32_t chunk = round + thread_number();
      double sum[kDims] = {};
      if (chunk < chunks) {
        const std::uint32_t from = first + chunk * core::kSumChunk;
        const std::uint32_t to = end - from < core::kSumChunk ? end : from + core::kSumChunk;
        for (std::uint32_t p = from; p < to; ++p) {
          const T* const point = task.rows + groups.rows[p] * task.row_stride;
#pragma unroll
          for (std::uint32_t d = 0; d < kDims; ++d) sum[d] += static_cast<double>(point[d]);
        }
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) shared.sums[thread_number()][d] = sum[d];
      sync_block();
      if (thread_number() < kDims) {
        const std::uint32_t some = chunks - round < kVoxelThreads ? chunks - round : kVoxelThreads;
        for (std::uint32_t c = 0; c < some; ++c) total += shared.sums[c][thread_number()];
      }
      sync_block();
    }
    if (thread_number() < kDims) shared.mean[thread_number()] = total / (end - first);
    sync_block();
    double mean[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) mean[d] = shared.mean[d];
    double best = std::numeric_limits<double>::infinity();
    std::uint32_t at = task.wants_nearest() ? end : first;  // a position
    if (task.wants_nearest()) {
      for (std::uint32_t p = first + thread_number(); p < end; p += kVoxelThreads) {
        const double squared = squared_from<kDims>(task.rows + groups.rows[p] * task.row_stride, mean);
        if (at != end && !(squared < best)) continue;
        if (squared < best) best = squared;  // one that is not a number counts as infinity
        at = p;
      }
    }
    shared.best[thread_number()] = best;
    shared.at[thread_number()] = at;
    sync_block();
    if (thread_number() == 0) {
      for (std::uint32_t i = 1; i < kVoxelThreads; ++i) {
        const bool is_tied = shared.best[i] == best && shared.at[i] < at;
        if (!(shared.best[i] < best || is_tied)) continue;
        best = shared.best[i];
        at = shared.at[i];
      }
      put_sample<T, kDims>(task, groups.place(group), mean, groups.rows[at]);
    }
    sync_block();
  }
}

/// A thread per position.
__global__ void __launch_bounds__(kVoxelThreads)
    map_to_voxels(VoxelGroups groups, std::uint32_t count, std::uint32_t* map) {
  for_each_voxel_item(count, [&](std::uint32_t p) { map[groups.rows[p]] = groups.place(groups.groups[p + 1] - 1); });
}

}  // namespace kith::cuda
