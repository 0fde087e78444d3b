// Rows of bits searched on the CPU: every query is compared with every row.
#pragma once

#include "engine/object_searcher.hpp"

#include <memory>

namespace kith::cpu {

/// | what it takes | bytes                                                 |
/// |---------------|-------------------------------------------------------|
/// | rows          | 8 per word of a row, up to 7 rows more at the end     |
std::unique_ptr<engine::BitSearcher> build_bit_search(const engine::BitBuildRequest& request);

}  // namespace kith::cpu
