// What the steps of the build hand to each other. Plain data, for host and device.
#pragma once

#include "core/host_device.hpp"
#include "core/kd_geometry.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kith::cuda {

/// Points in device memory: coordinate d of point i is values[i * row_stride + d * dim_stride].
template <typename T>
struct PointSource {
  const T* values = nullptr;
  std::uint64_t row_stride = 0;
  std::uint64_t dim_stride = 0;
  const std::uint32_t* indices = nullptr;  ///< the number of each point; null: its place

  KITH_HOST_DEVICE T at(std::uint64_t i, std::uint32_t d) const { return values[i * row_stride + d * dim_stride]; }
  KITH_HOST_DEVICE std::uint32_t index(std::uint64_t i) const {
    return indices == nullptr ? static_cast<std::uint32_t>(i) : indices[i];
  }
};

/// The arrays of a tree, as engine/kd_tree/kd_tree.hpp describes them, in device memory.
template <typename T>
struct TreeArrays {
  std::byte* blocks = nullptr;
  std::uint16_t* split_dims = nullptr;
  T* split_values = nullptr;
  T* boxes = nullptr;
  std::uint32_t* smallest = nullptr;
};

/// What is built.
struct TreeShape {
  core::KdGeometry geometry;
  std::uint32_t dims = 0;
  std::uint32_t point_bytes = 0;
  bool cycles = false;  ///< splits go x, y, z, x, … instead of the widest side
};

/// The shape of the contract's tree.
template <typename T>
TreeShape tree_shape(std::uint64_t points, std::uint32_t dims, std::uint32_t leaf_size, bool cycles) {
  const std::uint64_t bytes = dims * sizeof(T) + sizeof(std::uint32_t);
  return {core::KdGeometry::of(points, leaf_size), dims,
          static_cast<std::uint32_t>((bytes + sizeof(T) - 1) / sizeof(T) * sizeof(T)), cycles};
}

/// How far apart the columns of a copy of the points begin: vectors of 16 bytes fit.
inline std::uint64_t column_stride(const TreeShape& shape) { return (shape.geometry.points + 3) / 4 * 4; }

/// Bytes of each of the two copies of the points; one of them becomes the leaf blocks, which need no more.
template <typename T>
std::uint64_t copy_bytes(const TreeShape& shape) {
  return shape.geometry.points * shape.point_bytes + 4 * std::uint64_t{shape.dims} * sizeof(T) + 16;
}

/// A number whose unsigned order is the order of the coordinates; -0 counts as +0. Finite numbers are neither 0 nor the
/// largest.
template <typename T>
using OrderedKey = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <typename T>
KITH_HOST_DEVICE OrderedKey<T> ordered_key(T value) {
  using Key = OrderedKey<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  const Key bits = std::bit_cast<Key>(value + T(0));
  const auto negative = static_cast<Key>(static_cast<std::make_signed_t<Key>>(bits) >> (8 * sizeof(T) - 1));
  return bits ^ (negative | kSign);
}

template <typename T>
KITH_HOST_DEVICE T value_of_key(OrderedKey<T> key) {
  using Key = OrderedKey<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  const auto positive = static_cast<Key>(static_cast<std::make_signed_t<Key>>(key) >> (8 * sizeof(T) - 1));
  return std::bit_cast<T>(static_cast<Key>(key ^ (~positive | kSign)));
}

}  // namespace kith::cuda
