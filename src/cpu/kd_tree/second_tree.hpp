// A second tree over the points of a tree, for searches that the first one does not serve, and what trees take.
#pragma once

#include "cpu/kd_tree/build.hpp"
#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/backend.hpp"
#include "engine/searcher.hpp"
#include "engine/kd_tree/tree_sections.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cpu {

template <typename T>
engine::BuildBytes kd_tree_bytes(std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options) {
  const core::KdGeometry geometry = core::KdGeometry::of(count, options.leaf_size);
  const std::uint64_t tree = KdTree<T>::bytes_of(geometry, dims);
  return {tree, tree + kBlockSlack + kd_build_storage<T>(geometry, dims, options)};
}

/// The contract's tree over the points of `tree`, each coordinate changed by `change`.
template <typename T, typename Change>
KdTree<T> second_tree(const KdTree<T>& tree, const engine::RunOptions& run, Change change) {
  std::vector<T> rows(tree.geometry.points * tree.dims);
  engine::copy_tree_rows(tree, rows.data(), run.threads);
  std::transform(rows.begin(), rows.end(), rows.begin(), change);
  const KdBuildOptions options{
      .leaf_size = tree.leaf_size, .cycles = tree.cycles, .threads = run.threads, .progress = run.progress};
  return build_kd_tree(rows.data(), tree.geometry.points, tree.dims, options);
}

/// The most that both trees take while the second one is made.
template <typename T>
std::uint64_t second_tree_bytes(const KdTree<T>& tree, int threads) {
  const std::uint64_t rows = tree.geometry.points * tree.dims * sizeof(T);
  const KdBuildOptions options{.leaf_size = tree.leaf_size, .threads = threads};
  return tree.memory_bytes() + rows + kd_tree_bytes<T>(tree.geometry.points, tree.dims, options).peak;
}

}  // namespace kith::cpu
