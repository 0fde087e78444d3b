// A cover tree in the memory of a GPU, ready for searches.
#pragma once

#include "cuda/cover_tree/device_cover_tree.hpp"
#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Owns all of it. `view` is what kernels read.
///
/// bytes besides the tree: 33 per node, and the rows of the nodes' centres; heads: 16 per node and object
class PreparedCover {
 public:
  PreparedCover() = default;
  /// `rows` are the objects by number, in device memory; they are read no longer than this call, which waits for the
  /// device. `has_heads`: the space needs them, AnySpace::has_heads. Throws OutOfMemory, DeviceError.
  PreparedCover(DeviceCoverTree tree, const std::uint32_t* rows, bool has_heads, const Stream& stream);

  const CoverSearchTree& view() const { return view_; }
  const DeviceCoverTree& tree() const { return tree_; }
  std::uint64_t size() const { return tree_.count; }
  std::uint64_t node_count() const { return tree_.nodes.size(); }
  std::uint64_t memory_bytes() const {
    return tree_.memory_bytes() + centres_.bytes() + nodes_.bytes() + heads_.bytes();
  }

 private:
  DeviceCoverTree tree_;
  DeviceBuffer<std::uint32_t> centres_;
  DeviceBuffer<std::byte> nodes_;
  DeviceBuffer<CoverHead> heads_;
  CoverSearchTree view_;
};

/// A tree of the host, which may have no distances, on the GPU. `rows` as above.
DeviceCoverTree copy_to_device(const engine::CoverTree& tree, const std::uint32_t* rows, std::uint32_t stride,
                               const Stream& stream);

/// The positions of the objects numbered from `first` to `end`, in any order, and how many they are.
void choose_positions(const CoverSearchTree& tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                      std::uint32_t* chosen_count, const Stream& stream);

}  // namespace kith::cuda
