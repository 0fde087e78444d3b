// What the kernels of a search get: the tree and what it is asked. Plain data, for host and device.
#pragma once

#include "core/order/candidate.hpp"
#include "core/host_device.hpp"
#include "core/kd_geometry.hpp"
#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/kd_tree/search/wide_tree.hpp"
#include "cuda/queries/requests.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// In place of dims that a kernel knows: any number of them, under L2 on plain axes. 0 stands for any metric.
inline constexpr std::uint32_t kManyDims = 0xffff;
template <std::uint32_t kDims>
inline constexpr bool kIsRuntimeDims = kDims == 0 || kDims == kManyDims;

/// A leaf where it lies.
template <typename T>
struct SearchLeaf {
  const T* values = nullptr;               ///< [dimension][point]
  const std::uint32_t* numbers = nullptr;  ///< [point]
  std::uint32_t count = 0;
};

/// What a search reads of a tree: the arrays that engine/kd_tree/kd_tree.hpp describes, in device memory.
template <typename T>
struct SearchTree {
  const std::byte* blocks = nullptr;
  const std::uint16_t* split_dims = nullptr;
  const T* split_values = nullptr;
  const T* boxes = nullptr;
  const std::uint32_t* smallest = nullptr;
  core::KdGeometry geometry;
  std::uint32_t dims = 0;
  std::uint32_t point_bytes = 0;

  // For searches by packets: the points once more, as packed_points.cuh says, and what kernels need not compute then.
  const std::byte* packed = nullptr;
  std::uint32_t most_per_leaf = 0;
  WideTree wide{0};

  SearchTree() = default;
  SearchTree(const TreeArrays<T>& arrays, const TreeShape& shape)
      : blocks(arrays.blocks),
        split_dims(arrays.split_dims),
        split_values(arrays.split_values),
        boxes(arrays.boxes),
        smallest(arrays.smallest),
        geometry(shape.geometry),
        dims(shape.dims),
        point_bytes(shape.point_bytes) {}

  KITH_HOST_DEVICE const T* lower(std::uint64_t node) const { return boxes + node * 2 * dims; }
  KITH_HOST_DEVICE SearchLeaf<T> leaf(std::uint64_t number) const {
    const std::uint64_t first = geometry.first(geometry.levels, number);
    SearchLeaf<T> leaf;
    leaf.count = static_cast<std::uint32_t>(geometry.first(geometry.levels, number + 1) - first);
    leaf.values = reinterpret_cast<const T*>(blocks + first * point_bytes);
    leaf.numbers = reinterpret_cast<const std::uint32_t*>(leaf.values + std::uint64_t{dims} * leaf.count);
    return leaf;
  }
  /// The leaf that holds the point at a place of the permuted order.
  KITH_HOST_DEVICE std::uint64_t leaf_of_place(std::uint64_t place) const {
    return (((place + 1) << geometry.levels) - 1) / geometry.points;
  }
};

/// What a warp has of shared memory: the bounds of the walk, the query if the dims are a run-time value, and a list if
/// there is one.
template <typename T>
struct WarpStorage {
  std::uint32_t query_at = 0;
  std::uint32_t list_at = 0;
  std::uint32_t bytes = 0;

  KITH_HOST_DEVICE WarpStorage(std::uint32_t dims, std::uint32_t list_bytes) {
    const auto rounded = [](std::uint32_t size) { return (size + 15) / 16 * 16; };
    query_at = rounded(WideTree::kMostDepths * 32 * sizeof(T));
    list_at = query_at + rounded(dims * static_cast<std::uint32_t>(sizeof(T)));
    bytes = list_at + rounded(list_bytes);
  }
};

/// A request, and the tree that answers it.
template <typename T>
struct KnnTask : KnnRequest<T> {
  SearchTree<T> tree = {};
};
template <typename T>
struct RadiusTask : RadiusRequest<T> {
  SearchTree<T> tree = {};
};
template <typename T>
struct BoxTask : BoxRequest<T> {
  SearchTree<T> tree = {};
};

}  // namespace kith::cuda
