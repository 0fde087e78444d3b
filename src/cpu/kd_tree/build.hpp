// Builds the unique k-d tree of the contract on all cores.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"

#include <kith/progress.hpp>

#include <cstdint>

namespace kith::cpu {

struct KdBuildOptions {
  std::uint32_t leaf_size = 16;
  std::uint32_t vector_lanes = 1;  ///< leaf blocks are padded to a multiple
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// rows: count x dims, finite, side by side. O(n log n), whatever the data: duplicates, sorted input and grids cost no
/// more. Peak memory beyond rows and tree: 2 to 8 dims a record (a point and 4 bytes) per point, above 4 bytes per
/// point. The same tree for every thread count.
template <typename T>
KdTree<T> build_kd_tree(const T* rows, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options);

}  // namespace kith::cpu
