// The builders of the k-d tree by name: each gives the same tree.
#pragma once

#include "cpu/kd_tree/builders/tree_frame.hpp"

#include <cstdint>

namespace kith::cpu {

/// rows: count x dims. Fill the tree of the frame.
template <typename T>
void build_by_histogram(TreeFrame<T>& frame, const T* rows);
template <typename T>
void build_by_presort(TreeFrame<T>& frame, const T* rows);
template <typename T>
void build_by_select(TreeFrame<T>& frame, const T* rows);
template <typename T>
void build_by_segsort(TreeFrame<T>& frame, const T* rows);

/// From points in the order of another tree, without splitting: see arrange_kd_tree.
template <typename T>
void arrange_in_order(TreeFrame<T>& frame, const KdOrder<T>& order);

/// The shape of a tree whose memory is to be estimated.
struct TreeToBuild {
  core::KdGeometry geometry;
  std::uint32_t dims = 0;
  int threads = 0;

  /// Boxes are allocated when the top levels are done.
  template <typename T>
  std::uint64_t box_bytes() const {
    return geometry.nodes() * (2 * dims * sizeof(T) + sizeof(std::uint32_t));
  }
};

/// The most memory that each takes beyond the finished tree.
template <typename T>
std::uint64_t histogram_storage(const TreeToBuild& tree);
template <typename T>
std::uint64_t presort_storage(const TreeToBuild& tree);
template <typename T>
std::uint64_t select_storage(const TreeToBuild& tree);
template <typename T>
std::uint64_t segsort_storage(const TreeToBuild& tree);

}  // namespace kith::cpu
