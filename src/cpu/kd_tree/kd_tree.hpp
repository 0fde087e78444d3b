// The k-d tree of engine/kd_tree/kd_tree.hpp under the names that this folder knows it by.
#pragma once

#include "engine/kd_tree/kd_tree.hpp"

namespace kith::cpu {

using engine::kBlockSlack;
using engine::KdTree;

}  // namespace kith::cpu
