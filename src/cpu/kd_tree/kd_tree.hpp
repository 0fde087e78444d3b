// The k-d tree as it lies in memory: the points by leaf, the splits, and a box and the smallest index for every node.
#pragma once

#include "core/kd_geometry.hpp"

#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Stands for "no point" where an index is expected.
inline constexpr std::uint32_t kNoPoint = 0xffffffff;

/// Bytes per point with leaves of 8 to 16 points, beyond the coordinates themselves: 4 for the index, up to half of the
/// coordinates again for padding, and per leaf about 4 dims + 2 values for boxes and splits.
template <typename T>
struct KdTree {
  core::KdGeometry geometry;
  std::uint32_t dims = 0;
  std::uint32_t leaf_size = 0;
  std::uint32_t width = 0;  ///< places in a leaf block: the fullest leaf, rounded up to full vectors

  std::vector<T> values;                  ///< [leaf][dimension][width]; padding is zero
  std::vector<std::uint32_t> indices;     ///< [leaf][width]: the caller's numbers, ascending; padding: kNoPoint
  std::vector<std::uint16_t> split_dims;  ///< per inner node
  std::vector<T> split_values;            ///< per inner node: the coordinate of the first point of its right half
  std::vector<T> boxes;                   ///< [node][lower, upper][dimension], tight
  std::vector<std::uint32_t> smallest;    ///< per node: the smallest index inside

  const T* lower(std::uint64_t node) const { return boxes.data() + node * 2 * dims; }
  const T* upper(std::uint64_t node) const { return lower(node) + dims; }
  const T* block(std::uint64_t leaf) const { return values.data() + leaf * dims * width; }
  /// Elements from one dimension of a leaf block to the next.
  std::uint32_t block_stride(std::uint64_t) const { return width; }
  const std::uint32_t* block_indices(std::uint64_t leaf) const { return indices.data() + leaf * width; }
  std::uint32_t leaf_count(std::uint64_t leaf) const {
    return static_cast<std::uint32_t>(geometry.first(geometry.levels, leaf + 1) -
                                      geometry.first(geometry.levels, leaf));
  }
  /// The leaf on whose side of every split the query lies; any leaf is right, this one is near.
  std::uint64_t leaf_of(const T* query) const {
    std::uint64_t node = 0;
    for (std::uint32_t level = 0; level < geometry.levels; ++level) {
      node = 2 * node + 1 + (query[split_dims[node]] < split_values[node] ? 0 : 1);
    }
    return node - (geometry.leaves() - 1);
  }
  std::uint64_t memory_bytes() const {
    return values.size() * sizeof(T) + indices.size() * 4 + split_dims.size() * 2 + split_values.size() * sizeof(T) +
           boxes.size() * sizeof(T) + smallest.size() * 4;
  }
};

}  // namespace kith::cpu
