// The last step of the build: one block finishes one subtree in shared memory.
#pragma once

#include "cuda/kd_tree/build_types.hpp"

namespace kith::cuda {

/// What the step needs. The subtrees are the nodes of level `top_level`; none holds more than `capacity` points.
template <typename T>
struct FinishParameters {
  TreeShape shape;
  std::uint32_t top_level = 0;
  std::uint32_t capacity = 0;  ///< a power of two from 256 to 4096; the block has capacity / 8 threads
  bool is_staged = true;       ///< the coordinates of a subtree fit in shared memory beside the rest
  /// The points of subtree j are those at the places [first(top_level, j), first(top_level, j + 1)).
  PointSource<T> source;
  /// Of each subtree, [2^top_level][lower, upper][dims]: its parent's box cut at the split. Not looked at if top_level is
  /// a multiple of kTightBoxEvery: then the box is the tight one, found here.
  const T* cut_boxes = nullptr;
  TreeArrays<T> tree;  ///< written: blocks; splits of levels top_level and below; boxes and smallest of all nodes
  std::uint32_t* arrivals = nullptr;  ///< [2^top_level], zero: subtrees that are done below each node above
  std::uint32_t* refused = nullptr;   ///< not 0: an earlier step found bad points, nothing is done
  bool looks_for_bad = false;         ///< no earlier step looked: set `refused` and stop if a coordinate is not finite
};

}  // namespace kith::cuda
