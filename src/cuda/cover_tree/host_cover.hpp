// A cover tree of the GPU on the host, for who saves it: copied when it is first needed.
#pragma once

#include "cuda/cover_tree/device_cover_tree.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/with_memory.hpp"

#include <mutex>

namespace kith::cuda {

/// Thread-safe.
class HostCover {
 public:
  HostCover() = default;
  /// The tree is on the host already.
  explicit HostCover(engine::CoverTree tree) {
    std::call_once(once_, [&] { tree_ = std::move(tree); });
  }
  HostCover(const HostCover&) = delete;
  HostCover& operator=(const HostCover&) = delete;

  /// Others wait for the first call; if it fails the next one tries again. Throws OutOfMemory, DeviceError.
  const engine::CoverTree& of(const DeviceCoverTree& tree, const Stream& stream) const {
    std::call_once(once_, [&] {
      engine::with_memory(tree.nodes.bytes() + tree.order.bytes() + tree.distances.bytes(),
                          "the host's copy of the tree", [&] { tree_ = copy_to_host(tree, stream); });
    });
    return tree_;
  }

 private:
  mutable std::once_flag once_;
  mutable engine::CoverTree tree_;
};

}  // namespace kith::cuda
