// A cover tree in the memory of a GPU, and its copy on the host.
#pragma once

#include "cuda/cover_tree/cover_rules.hpp"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <cstdint>

namespace kith::cuda {

/// The arrays of engine::CoverTree, and the rows of the objects in its order.
struct DeviceCoverTree {
  std::uint32_t count = 0;
  std::uint32_t stride = 0;  ///< words in a row
  CoverRules rules = {};
  std::uint64_t evaluations = 0;  ///< distances that the build measured
  DeviceBuffer<engine::CoverNode> nodes;
  DeviceBuffer<std::uint32_t> order;
  DeviceBuffer<double> distances;
  DeviceBuffer<std::uint32_t> row_words;

  ArrangedRows rows() const { return {row_words.data(), stride}; }
  std::uint64_t memory_bytes() const { return nodes.bytes() + order.bytes() + distances.bytes() + row_words.bytes(); }
};

/// Waits for the copy. Throws DeviceError.
engine::CoverTree copy_to_host(const DeviceCoverTree& tree, const Stream& stream);

}  // namespace kith::cuda
