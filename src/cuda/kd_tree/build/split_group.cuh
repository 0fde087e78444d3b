// Splits a group of up to six levels: passes that count, steps that find medians, one scatter. No word goes to the host
// in between.
//
// Per point and group, read (r) and written (w), D dims of T:
//   pass 0          r D*T, w 2 D                  cells, tight box and a histogram of every dimension
//   pass 1 .. m-1   r up to 2 D + 1, w 1          a histogram of each node, its points sorted to halves
//   scatter         r D*T + 4 + 1, w D*T + 4      all levels at once
// The steps between look only at histograms and at candidates: the points in the medians' cells, about 1 in 1000.
#pragma once

#include "cuda/kd_tree/build/build_plan.hpp"
#include "cuda/kd_tree/build/passes/count_level.cuh"
#include "cuda/kd_tree/build/passes/count_root.cuh"
#include "cuda/kd_tree/build/medians/find_medians.cuh"
#include "cuda/kd_tree/build/scatter/place_candidates.cuh"
#include "cuda/kd_tree/build/scatter/scatter_points.cuh"

namespace kith::cuda {

/// Launches everything for points of kDims dimensions in a known layout; 0: of any number in any layout. Through
/// `launch(name, bytes read and written, kernel, blocks, threads, shared bytes, Together, arguments…)`.
template <typename T, std::uint32_t kDims, Layout kLayout, typename Launch>
void split_group_of(const GroupParameters<T>& group, const GpuLimits& limits, Launch&& launch) {
  const std::uint32_t processors = limits.processors;
  const std::uint32_t segments = 1u << group.first_level, passes = segments * group.parts;
  const std::uint64_t points = group.shape.geometry.points, row = std::uint64_t{group.shape.dims} * sizeof(T),
                      cells = std::uint64_t{group.shape.dims} * 2;
  launch("pass 0", points * (row + cells), count_root<T, kDims, kLayout>, passes, kPassThreads,
         RootShared<T>::bytes(group.shape.dims), Together{}, group);
  const std::uint32_t dims = group.shape.dims;
  const bool has_samples = group.sample_shift > 0;
  launch("medians", 0, find_root_medians<T>, segments, kStepThreads,
         StepLayout<T>(dims, (dims + 1) * bins_at(0, dims, group.most_bins), has_samples, 0).bytes, Together{}, group);
  // A list may be as long as its node; all blocks should be there at a time, and the registers of a multiprocessor are
  // enough for kStepThreads.
  const auto threads_for = [&](std::uint32_t parents) {
    constexpr std::uint32_t kLeast = 128, kEach = 16;  // threads, and candidates for each if all points are
    std::uint32_t threads = kStepThreads;
    while (threads > kLeast && std::uint64_t{threads} * parents > std::uint64_t{kStepThreads} * processors) {
      threads /= 2;
    }
    while (threads > 2 * kLeast && std::uint64_t{threads} * kEach / 2 * parents >= points) threads /= 2;
    return threads;
  };
  for (std::uint32_t level = 1; level < group.levels; ++level) {
    const std::uint32_t parents = segments << (level - 1), each = blocks_for_list(parents, processors);
    launch("passes", points * (cells + (level > 1 ? 2 : 1)), count_level<T, kDims>, passes, kPassThreads,
           level_shared_bytes<T>(), Together{}, group, level);
    const std::uint32_t threads = threads_for(parents);
    launch("medians", 0, find_medians<T>, parents * each, threads,
           StepLayout<T>(dims, 4 * bins_at(level, dims, group.most_bins), has_samples, threads).bytes,
           Together{each > 1}, group, level - 1, each);
  }
  const std::uint64_t most = (points >> group.first_level) + 1 + kTogether<T>;  // tiles begin where vectors do
  const std::uint64_t tile = std::uint64_t{kScatterEach<T, kDims>} * kScatterThreads;
  const auto tiles = static_cast<std::uint32_t>((most + tile - 1) / tile);
  const std::uint32_t parents = segments << (group.levels - 1), each = blocks_for_list(parents, processors);
  launch("scatter", points * (2 * row + 5 + (group.source.indices != nullptr ? 4 : 0)),
         scatter_points<T, kDims, kLayout>, segments * tiles, kScatterThreads, scatter_shared_bytes<T, kDims>(),
         Together{}, group, tiles);
  const std::uint32_t threads = threads_for(parents);
  launch("medians", 0, place_candidates<T>, parents * each, threads, StepLayout<T>(dims, 0, has_samples, threads).bytes,
         Together{each > 1}, group, each);
}

template <typename T, std::uint32_t kDims, typename Launch>
void split_group_in_layout(const GroupParameters<T>& group, const GpuLimits& limits, Launch&& launch) {
  const PointSource<T>& source = group.source;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(source.values) % 16 == 0;
  if (is_aligned && source.row_stride == kDims && source.dim_stride == 1) {
    split_group_of<T, kDims, Layout::rows>(group, limits, launch);
  } else if (is_aligned && source.row_stride == 1 && source.dim_stride % kTogether<T> == 0) {
    split_group_of<T, kDims, Layout::columns>(group, limits, launch);
  } else {
    split_group_of<T, 0, Layout::any>(group, limits, launch);
  }
}

/// Two to four dimensions are known to the compiler.
template <typename T, typename Launch>
void split_group(const GroupParameters<T>& group, const GpuLimits& limits, Launch&& launch) {
  switch (group.shape.dims) {
    case 2:
      return split_group_in_layout<T, 2>(group, limits, launch);
    case 3:
      return split_group_in_layout<T, 3>(group, limits, launch);
    case 4:
      return split_group_in_layout<T, 4>(group, limits, launch);
    default:
      return split_group_of<T, 0, Layout::any>(group, limits, launch);
  }
}

}  // namespace kith::cuda
