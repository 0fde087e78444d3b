// The steps by which a GPU puts points into voxels. Points are sorted by the key of their voxel, in the order of their
// rows in each (sorts are stable); sums number the groups, and their first rows.
//
//   step                  bytes per point, read and written, f32 in 3-D, keys of 32 bits   10^7 points at 4 TB/s
//   box, keys             12, then 12 + 8                                                  0.08 ms
//   sort                  4, then 16 for each 8 bits of keys                               0.13 ms for 24 bits
//   mark, start, number   8 + 16 + 16 + 8                                                  0.12 ms
//   sample                4 + a sector of 32, twice if the nearest is wanted               0.09 to 0.18 ms
//   map                   16                                                               0.04 ms
//
// The times are bounds by bytes alone, not measured; gpu_cloud_timer measures. Memory: 24 bytes per point, 32 with keys
// of 64 bits, and what the sort takes.
#pragma once

#include "cuda/clouds/voxel_kernels.cuh"
#include "cuda/primitives/sums_before.cuh"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::cuda {

template <typename Key>
struct VoxelScratch {
  KeyedPairs<Key> pairs, other;
  std::uint32_t* groups;  ///< one more than points, as places
  std::uint32_t* places;
  std::uint32_t* sums;
  std::uint32_t* large;  ///< the groups that are large, after their number
  std::uint64_t bytes;
};

/// Lies in `memory`, aligned to 256 bytes; null: only `bytes` counts.
template <typename Key>
VoxelScratch<Key> lay_out_voxel_scratch(std::uint32_t count, std::byte* memory) {
  ScratchParts parts(memory);
  VoxelScratch<Key> scratch;
  for (KeyedPairs<Key>* pairs : {&scratch.pairs, &scratch.other}) {
    pairs->keys = parts.take<Key>(count);
    pairs->values = parts.take<std::uint32_t>(count);
  }
  scratch.groups = parts.take<std::uint32_t>(std::uint64_t{count} + 1);
  scratch.places = parts.take<std::uint32_t>(std::uint64_t{count} + 1);
  scratch.sums = parts.take<std::uint32_t>(sum_tiles_of(count) + 2);
  scratch.large = parts.take<std::uint32_t>(count / core::kSumChunk + 2);
  scratch.bytes = parts.bytes();
  return scratch;
}

/// `Device`: StepDevice, or what stands for it in tests.
template <typename T, std::uint32_t kDims, typename Device>
class VoxelSteps {
 public:
  explicit VoxelSteps(Device& device) : device_(device) {}

  /// Puts the box of the points down as ordered keys, 2 * kDims of them.
  void find_box(const VoxelTask<T>& task, OrderedKey<T>* box) {
    OrderedKey<T> start[2 * kDims] = {};
    std::fill_n(start, kDims, ~OrderedKey<T>{0});
    device_.phase("box");
    device_.write(box, start, sizeof start);
    launch(find_voxel_box<T, kDims>, task.count, task, box);
  }

  /// Waits for the number of voxels. `bits` are those of the keys.
  template <typename Key>
  std::uint32_t run(const VoxelTask<T>& task, std::uint32_t bits, VoxelScratch<Key> scratch) {
    const std::uint32_t count = task.count;
    device_.phase("keys");
    launch(voxel_keys<T, kDims, Key>, count, task, scratch.pairs);
    device_.phase("sort");
    if (bits > 0) {
      const KeyedPairs<Key> sorted = device_.sort(scratch.pairs, scratch.other, count, 0, bits);
      if (sorted.keys != scratch.pairs.keys) std::swap(scratch.pairs, scratch.other);
    }
    device_.phase("groups");
    std::uint32_t* const starts = scratch.other.values;  // what was sorted from is free
    launch(mark_groups<Key>, count, static_cast<const Key*>(scratch.pairs.keys), count, scratch.groups);
    sum_before(scratch.groups, count, scratch.sums);
    launch(start_groups, count, static_cast<const std::uint32_t*>(scratch.groups), count,
           static_cast<const std::uint32_t*>(scratch.pairs.values), starts, scratch.places);
    sum_before(scratch.places, count, scratch.sums);
    const VoxelGroups groups{scratch.pairs.values, scratch.groups, starts, scratch.places};
    device_.phase("sample");
    device_.zero(scratch.large, sizeof(std::uint32_t));
    launch(sample_groups<T, kDims>, count, task, groups, scratch.large + 1, scratch.large);
    if (count > core::kSumChunk && task.keep != apps::VoxelKeep::first) {
      const std::uint32_t blocks = std::min(count / core::kSumChunk, device_.resident_blocks());
      device_.launch(sample_large_groups<T, kDims>, blocks, kVoxelThreads, sizeof(LargeGroupShared<kDims>), task,
                     groups, static_cast<const std::uint32_t*>(scratch.large + 1),
                     static_cast<const std::uint32_t*>(scratch.large));
    }
    if (task.map != nullptr) {
      device_.phase("map");
      launch(map_to_voxels, count, groups, count, task.map);
    }
    device_.phase("");
    std::uint32_t voxels = 0;
    device_.read(&voxels, scratch.groups + count, sizeof voxels);
    return voxels;
  }

 private:
  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint32_t items, const Arguments&... arguments) {
    const std::uint32_t blocks = items / kVoxelThreads + 1;
    device_.launch(kernel, std::min(blocks, device_.resident_blocks()), kVoxelThreads, 0, arguments...);
  }

  /// values[i] becomes the sum of those before it, and one more entry that of all.
  void sum_before(std::uint32_t* values, std::uint32_t count, std::uint32_t* sums) {
    launch_sums_before(values, count, sums, values, true,
                       [&](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared,
                           auto... arguments) { device_.launch(kernel, blocks, threads, shared, arguments...); });
  }

  Device& device_;
};

}  // namespace kith::cuda
