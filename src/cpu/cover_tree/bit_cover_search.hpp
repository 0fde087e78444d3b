// Rows of bits on the CPU by a cover tree, for rows that lie in clusters.
#pragma once

#include "engine/object_searcher.hpp"

#include <memory>

namespace kith::cpu {

/// Throws OutOfMemory, Interrupted.
std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request);
/// Throws CorruptFile that names the first thing wrong with the tree, unless the file is trusted.
std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request);

}  // namespace kith::cpu
