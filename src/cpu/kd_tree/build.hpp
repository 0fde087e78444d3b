// Builds the unique k-d tree of the contract on all cores.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/kd_tree/kd_order.hpp"

#include <kith/index.hpp>
#include <kith/progress.hpp>

#include <cstdint>

namespace kith::cpu {

using engine::KdOrder;

struct KdBuildOptions {
  std::uint32_t leaf_size = 16;
  bool cycles = false;  ///< split x, y, z, x, … instead of the widest side
  Builder builder = Builder::automatic;
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// rows: count x dims, finite, side by side. O(n log n), whatever the data: duplicates, sorted input and grids cost no
/// more. The same tree for every builder and thread count. Throws std::bad_alloc.
template <typename T>
KdTree<T> build_kd_tree(const T* rows, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options);

/// A tree over points in the order of another one, as engine/kd_tree/kd_order.hpp says: each node takes the points of a
/// subtree, so nothing is compared or moved around. Boxes are tight, and the smallest numbers are right, whatever the
/// order: searches give what they give on the contract's tree, and as fast if the other tree is a good one. O(n).
template <typename T>
KdTree<T> arrange_kd_tree(const KdOrder<T>& order, std::uint64_t count, std::uint32_t dims,
                          const KdBuildOptions& options);

/// The most memory that build_kd_tree takes beyond the finished tree.
template <typename T>
std::uint64_t kd_build_storage(const core::KdGeometry& geometry, std::uint32_t dims, const KdBuildOptions& options);

}  // namespace kith::cpu
