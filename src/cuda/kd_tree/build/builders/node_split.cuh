// What is known of a node before and after it is split: its widest side, its split, the boxes of its halves.
#pragma once

#include "cuda/kd_tree/build/builders/builders.hpp"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

/// Whether the nodes of a level split by their tight boxes, which the builder must find; else by cut ones, which
/// `write_split` has put there.
KITH_HOST_DEVICE inline bool is_tight_level(std::uint32_t level) { return level % core::kTightBoxEvery == 0; }

/// The dimension that a node of this level and box splits; ties go to the lowest.
template <typename T>
__device__ std::uint32_t split_dim_of(const TreeShape& shape, std::uint32_t level, const T* box) {
  if (shape.cycles) return level % shape.dims;
  std::uint32_t widest = 0;
  T extent = box[shape.dims] - box[0];
  for (std::uint32_t d = 1; d < shape.dims; ++d) {
    const T side = box[shape.dims + d] - box[d];
    if (side > extent) {
      extent = side;
      widest = d;
    }
  }
  return widest;
}

/// Writes the split of a node, whose box lies in `task.box`, and the cut boxes of its halves unless they are leaves.
/// `value`: the coordinate of the first point of the right half; if that is empty, the upper end of the side.
template <typename T>
__device__ void write_split(const ArrangeTask<T>& task, std::uint32_t level, std::uint64_t j, std::uint32_t d,
                            T value) {
  const std::uint64_t node = core::KdGeometry::node(level, j);
  const std::uint32_t dims = task.shape.dims;
  value += T(0);  // -0 counts as +0
  task.tree.split_dims[node] = static_cast<std::uint16_t>(d);
  task.tree.split_values[node] = value;
  if (level + 1 == task.shape.geometry.levels || is_tight_level(level + 1)) return;
  const T* box = task.box(level, j);
  T* left = task.box(level + 1, 2 * j);
  T* right = left + 2 * dims;
  for (std::uint32_t c = 0; c < 2 * dims; ++c) {
    left[c] = c == dims + d ? value : box[c];
    right[c] = c == d ? value : box[c];
  }
}

}  // namespace kith::cuda
