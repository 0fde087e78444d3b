// Which nodes hold a point that a bitmap allows, so that walks pass over the others.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "runtime/parallel.hpp"

#include <cstdint>
#include <vector>

namespace kith::cpu {

/// One bit per node, bit i % 64 of word i / 64 for node i. O(points).
template <typename T>
std::vector<std::uint64_t> alive_nodes(const KdTree<T>& tree, const std::uint64_t* allowed, int threads) {
  const std::uint64_t first_leaf = tree.geometry.leaves() - 1, nodes = tree.geometry.nodes();
  std::vector<std::uint64_t> alive((nodes + 63) / 64, 0);
  runtime::parallel_for(alive.size(), {.threads = threads}, [&](std::uint64_t word) {
    for (std::uint64_t node = std::max(word * 64, first_leaf); node < std::min(nodes, word * 64 + 64); ++node) {
      const std::uint32_t* indices = tree.block_indices(node - first_leaf);
      std::uint64_t any = 0;
      for (std::uint32_t i = 0; i < tree.leaf_count(node - first_leaf); ++i) {
        any |= allowed[indices[i] / 64] >> (indices[i] % 64) & 1;
      }
      alive[word] |= any << (node % 64);
    }
  });
  for (std::uint64_t node = first_leaf; node-- > 0;) {
    const auto bit = [&](std::uint64_t i) { return alive[i / 64] >> (i % 64) & 1; };
    alive[node / 64] |= (bit(2 * node + 1) | bit(2 * node + 2)) << (node % 64);
  }
  return alive;
}

}  // namespace kith::cpu
