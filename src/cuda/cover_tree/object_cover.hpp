// Objects that are no vectors in a cover tree on a GPU, built there or taken from the host.
#pragma once

#include "cuda/cover_tree/spaces/any_space.hpp"
#include "cuda/cover_tree/host_cover.hpp"
#include "cuda/cover_tree/search/prepared_cover.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/searcher.hpp"

#include <cstdint>
#include <memory>

namespace kith::cuda {

/// Rows of words side by side, on the host.
struct ObjectRows {
  const std::uint32_t* words = nullptr;
  std::uint32_t count = 0;
};

struct ObjectCover {
  Stream stream;
  PreparedCover cover;
  std::unique_ptr<HostCover> host;

  const engine::CoverTree& on_host() const { return host->of(cover.tree(), stream); }
};

/// Throws OutOfMemory before anything is allocated if the GPU has not enough memory, DeviceError, Interrupted.
ObjectCover build_object_cover(const AnySpace& space, const ObjectRows& rows, std::uint32_t leaf_size, int device,
                               const engine::RunOptions& run);
/// The same with a tree that is there, as that of a file, or the single leaf of brute force.
ObjectCover take_object_cover(const AnySpace& space, const ObjectRows& rows, engine::CoverTree tree, int device,
                              const engine::RunOptions& run);

}  // namespace kith::cuda
