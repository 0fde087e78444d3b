// The k-d tree in the memory of a GPU: the same arrays, the same bytes as on the host.
#pragma once

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/kd_tree/build/build_types.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Owns the arrays that engine/kd_tree/kd_tree.hpp describes. `blocks` holds points x point_bytes bytes and no more.
template <typename T>
struct DeviceTree {
  TreeShape shape;
  std::uint32_t leaf_size = 0;
  DeviceBuffer<std::byte> blocks;
  DeviceBuffer<std::uint16_t> split_dims;
  DeviceBuffer<T> split_values;
  DeviceBuffer<T> boxes;
  DeviceBuffer<std::uint32_t> smallest;

  DeviceTree() = default;
  /// Arrays without values. Throws OutOfMemory.
  DeviceTree(const TreeShape& wanted, std::uint32_t most_per_leaf, const Stream& stream)
      : shape(wanted),
        leaf_size(most_per_leaf),
        blocks(wanted.geometry.points * wanted.point_bytes, stream),
        split_dims(wanted.geometry.leaves() - 1, stream),
        split_values(wanted.geometry.leaves() - 1, stream),
        boxes(wanted.geometry.nodes() * 2 * wanted.dims, stream),
        smallest(wanted.geometry.nodes(), stream) {}

  TreeArrays<T> arrays() {
    return {blocks.data(), split_dims.data(), split_values.data(), boxes.data(), smallest.data()};
  }
  std::uint64_t memory_bytes() const {
    return blocks.bytes() + split_dims.bytes() + split_values.bytes() + boxes.bytes() + smallest.bytes();
  }
};

}  // namespace kith::cuda
