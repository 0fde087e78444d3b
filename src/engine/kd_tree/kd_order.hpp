// Points in the order of a balanced k-d tree with one node per point, as exported trees have it.
#pragma once

#include <cstdint>

namespace kith::engine {

/// The node of the places [first, last) is in the middle, at floor((first + last) / 2) or, of two middles, at the left
/// one; the places before it and after it are its subtrees.
template <typename T>
struct KdOrder {
  const T* rows = nullptr;                    ///< count x dims, finite
  const std::uint32_t* numbers = nullptr;     ///< of the points: each from 0 to count - 1 once
  const std::uint32_t* split_dims = nullptr;  ///< of the nodes, below dims
  bool left_middle = false;
};

}  // namespace kith::engine
