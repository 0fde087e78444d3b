// The k-d tree as it lies in memory and in a file: the points by leaf, the splits, a box and the smallest index for
// every node.
#pragma once

#include "core/kd_geometry.hpp"
#include "core/order/candidate.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace kith::engine {

using core::kNoPoint;

/// Bytes that may be read past the last leaf block: vectors run over the end of a leaf.
inline constexpr std::uint64_t kBlockSlack = 128;

/// A view of the arrays of a tree, which `owner` keeps alive.
///
/// Bytes per point: `point_bytes`, and per leaf of 8 to 16 points 2 boxes (of 2 dims values) and 10 + sizeof(T) bytes.
template <typename T>
struct KdTree {
  core::KdGeometry geometry;
  std::uint32_t dims = 0;
  std::uint32_t leaf_size = 0;
  bool cycles = false;            ///< splits go x, y, z, x, … instead of the widest side
  std::uint32_t point_bytes = 0;  ///< what a point takes in a block: its coordinates and its number, aligned

  std::span<const std::byte> blocks;          ///< leaf after leaf: coordinates [dimension][point], then numbers
                                              ///< [point], ascending, then zeros
  std::span<const std::uint16_t> split_dims;  ///< per inner node
  std::span<const T> split_values;            ///< per inner node: the coordinate of the first point of its right half
  std::span<const T> boxes;                   ///< [node][lower, upper][dimension], tight
  std::span<const std::uint32_t> smallest;    ///< per node: the smallest index inside
  std::shared_ptr<const void> owner;

  static std::uint32_t point_bytes_of(std::uint32_t dims) {
    const std::uint64_t bytes = dims * sizeof(T) + sizeof(std::uint32_t);
    return static_cast<std::uint32_t>((bytes + sizeof(T) - 1) / sizeof(T) * sizeof(T));
  }

  /// What the arrays of such a tree take.
  static std::uint64_t bytes_of(const core::KdGeometry& geometry, std::uint32_t dims) {
    return geometry.points * point_bytes_of(dims) + (geometry.leaves() - 1) * (sizeof(std::uint16_t) + sizeof(T)) +
           geometry.nodes() * (2 * dims * sizeof(T) + sizeof(std::uint32_t));
  }

  const T* lower(std::uint64_t node) const { return boxes.data() + node * 2 * dims; }
  const T* upper(std::uint64_t node) const { return lower(node) + dims; }
  std::uint32_t leaf_count(std::uint64_t leaf) const {
    return static_cast<std::uint32_t>(geometry.first(geometry.levels, leaf + 1) -
                                      geometry.first(geometry.levels, leaf));
  }
  /// The coordinates of a leaf: [dimension][point], `block_stride` apart.
  const T* block(std::uint64_t leaf) const {
    return reinterpret_cast<const T*>(blocks.data() + geometry.first(geometry.levels, leaf) * point_bytes);
  }
  std::uint32_t block_stride(std::uint64_t leaf) const { return leaf_count(leaf); }
  /// The numbers of the points of a leaf.
  const std::uint32_t* block_indices(std::uint64_t leaf) const {
    return reinterpret_cast<const std::uint32_t*>(block(leaf) + std::uint64_t{dims} * leaf_count(leaf));
  }
  /// The child of a node on whose side of the split the query lies.
  std::uint64_t child_towards(std::uint64_t node, const T* query) const {
    return 2 * node + 1 + (query[split_dims[node]] < split_values[node] ? 0 : 1);
  }
  /// What all arrays take.
  std::uint64_t memory_bytes() const {
    return blocks.size_bytes() + split_dims.size_bytes() + split_values.size_bytes() + boxes.size_bytes() +
           smallest.size_bytes();
  }
};

/// The most points of a leaf that search well: measured at sizes with fuller and emptier leaves, k = 1 to 16.
constexpr std::uint32_t default_leaf_size(std::uint32_t dims) {
  if (dims <= 3) return 24;
  if (dims == 4) return 32;
  return dims <= 6 ? 64 : 128;
}

/// What the caller asked for, or the default for 0.
inline std::uint32_t leaf_size_of(std::uint32_t wanted, std::uint32_t dims) {
  return wanted == 0 ? default_leaf_size(dims) : wanted;
}

}  // namespace kith::engine
