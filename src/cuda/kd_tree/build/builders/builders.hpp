// The builders of the k-d tree that have names, on a GPU: what each receives, what it returns, and its memory. Plain
// data, for host and device; `histogram`, the default, is in the folders beside this one.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/runtime/scratch_parts.hpp"

#include <kith/index.hpp>

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Whether the builder is one of this folder.
inline bool is_named(Builder builder) {
  return builder == Builder::presort || builder == Builder::select || builder == Builder::segsort;
}

/// What a builder works on, all in device memory.
template <typename T>
struct ArrangeTask {
  TreeShape shape;
  std::uint32_t top_level = 0;  ///< whose nodes the finish takes, each as the work of a block
  PointSource<T> source;        ///< only read; free to be overwritten when the builder is done
  /// `split_dims` and `split_values` are results. `boxes` and `smallest` are free to use; the finish writes them.
  TreeArrays<T> tree;
  std::byte* copy = nullptr;         ///< copy_bytes<T>(shape), free to use: for the points in their new order
  std::byte* scratch = nullptr;      ///< as much as scratch_of_builder<T> says
  std::uint32_t* refused = nullptr;  ///< 0; becomes 1 if a coordinate is not finite: then no result counts
  std::uint32_t shared_bytes = 0;    ///< that a block may have

  /// Where the box of a node may lie until the finish: lower, then upper ends.
  KITH_HOST_DEVICE T* box(std::uint32_t level, std::uint64_t j) const {
    return tree.boxes + core::KdGeometry::node(level, j) * 2 * shape.dims;
  }
};

/// What a builder returns. Where leaves begin and end is known (KdGeometry); inside a leaf points have any order.
template <typename T>
struct ArrangedPoints {
  PointSource<T> points;  ///< by place; in `copy` or `scratch`. With `indices`; columns: row_stride is 1
  /// The points of each leaf are at its places, and all splits are written. Else those of each node of `top_level`
  /// are, the splits above are written, the cut boxes of these nodes lie in `task.box`, and the finish does the rest.
  bool has_leaves = true;
  bool is_refused = false;  ///< nothing was arranged: the builder has seen that a coordinate is not finite
};

/// The columns and numbers of points in a copy.
template <typename T>
struct PointColumns {
  T* values = nullptr;
  std::uint64_t stride = 0;
  std::uint32_t* numbers = nullptr;

  KITH_HOST_DEVICE PointSource<T> source() const { return {values, 1, stride, numbers}; }
};

template <typename T>
PointColumns<T> columns_in(std::byte* copy, const TreeShape& shape) {
  T* values = reinterpret_cast<T*>(copy);
  const std::uint64_t stride = column_stride(shape);
  return {values, stride, reinterpret_cast<std::uint32_t*>(values + stride * shape.dims)};
}

/// What a builder takes beside the two copies of the points.
struct BuilderScratch {
  std::uint64_t bytes = 0;  ///< of `scratch`
  std::uint64_t extra = 0;  ///< that sorts take for a while
};

/// The scratch memory of a build by a builder with a name.
struct NamedScratch {
  std::uint32_t* refused = nullptr;
  std::uint32_t* arrivals = nullptr;  ///< of the finish
  std::byte* builders = nullptr;      ///< the builder's own
  std::uint64_t zero_bytes = 0;       ///< from the beginning, before the builder starts
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;  ///< with what sorts take
};

/// `own`: what the builder takes.
inline NamedScratch lay_out_named(const BuilderScratch& own, std::uint32_t top_level, std::byte* memory) {
  ScratchParts parts(memory);
  NamedScratch scratch;
  scratch.refused = parts.take<std::uint32_t>(1);
  scratch.arrivals = parts.take<std::uint32_t>(std::uint64_t{1} << top_level);
  scratch.zero_bytes = parts.bytes();
  scratch.builders = parts.take<std::byte>(own.bytes);
  scratch.bytes = parts.bytes();
  scratch.peak_bytes = scratch.bytes + own.extra;
  return scratch;
}

}  // namespace kith::cuda
