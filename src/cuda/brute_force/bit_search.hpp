// Rows of bits searched on a GPU: every query is compared with every row.
#pragma once

#include "engine/object_searcher.hpp"

#include <memory>

namespace kith::cuda {

/// The rows take 8 bytes per word. Throws OutOfMemory before anything is allocated if the GPU has not enough memory,
/// DeviceError.
std::unique_ptr<engine::BitSearcher> build_bit_search(const engine::BitBuildRequest& request);

}  // namespace kith::cuda
