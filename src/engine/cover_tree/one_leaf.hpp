// A tree that knows nothing of its objects: a search of it measures them all.
#pragma once

#include "engine/cover_tree/cover_tree.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

namespace kith::engine {

/// One leaf with all objects in the order of their numbers, and no distances.
inline CoverTree one_leaf_tree(std::uint32_t objects) {
  struct Arrays {
    CoverNode root;
    std::vector<std::uint32_t> order;
  };
  const auto arrays = std::make_shared<Arrays>();
  arrays->order.resize(objects);
  std::iota(arrays->order.begin(), arrays->order.end(), 0u);
  arrays->root.reach = std::numeric_limits<double>::infinity();
  arrays->root.count = objects;
  CoverTree tree;
  tree.leaf_size = objects;
  if (objects > 0) tree.nodes = {&arrays->root, 1};
  tree.order = arrays->order;
  tree.owner = arrays;
  return tree;
}

}  // namespace kith::engine
