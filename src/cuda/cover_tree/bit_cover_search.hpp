// Rows of bits in a cover tree on a GPU.
#pragma once

#include "engine/object_searcher.hpp"

#include <memory>

namespace kith::cuda {

/// The tree is the one that the CPU builds. Throws OutOfMemory before anything is allocated if the GPU has not enough
/// memory, DeviceError.
std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request);

/// From the sections of a file, which the CPU checks. Throws CorruptFile.
std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request);

}  // namespace kith::cuda
