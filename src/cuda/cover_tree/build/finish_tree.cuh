// When all cells are closed: sizes and places of nodes, the order of the objects, and how far nodes reach.
#pragma once

#include "cuda/cover_tree/build/close_cells.cuh"
#include "cuda/primitives/sort_pairs.hpp"

namespace kith::cuda::cover {

/// A thread per object, by number.
static __global__ void __launch_bounds__(kThreads)
    lower_leaves(const std::uint32_t* node_of, std::uint32_t count, CoverNode* nodes) {
  const std::uint64_t i = thread_of_grid();
  const std::uint32_t node = i < count ? node_of[i] : 0xffffffff;
  const bool is_needed = !all_lanes_equal(node) || lane_number() == 0;  // lane 0 has the lowest number of the warp
  if (i < count && is_needed) atomic_min(&nodes[node].lowest, static_cast<std::uint32_t>(i));
}

/// A thread per node of a level, whose own sizes are known: not the root.
static __global__ void __launch_bounds__(kThreads)
    add_to_parents(CoverNode* nodes, std::uint32_t first, std::uint32_t end) {
  const std::uint64_t i = first + thread_of_grid();
  if (i >= end) return;
  CoverNode& parent = nodes[nodes[i].parent];
  atomic_add(&parent.count, nodes[i].count);
  atomic_min(&parent.lowest, nodes[i].lowest);
}

/// Children get their places in that of their parent. A warp per parent.
static __global__ void __launch_bounds__(kThreads)
    place_children(CoverNode* nodes, std::uint32_t first, std::uint32_t end) {
  const std::uint64_t parent = first + thread_of_grid() / kWarp;
  if (parent >= end) return;
  const std::uint32_t children = nodes[parent].children, first_child = nodes[parent].first_child;
  std::uint32_t before = nodes[parent].first;
  for (std::uint32_t k = 0; k < children; k += kWarp) {
    const std::uint32_t child = k + lane_number();
    const std::uint32_t count = child < children ? nodes[first_child + child].count : 0;
    std::uint32_t sum = count;
    for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
      const std::uint32_t below = shuffle_up(sum, delta);
      if (lane_number() >= delta) sum += below;
    }
    if (child < children) nodes[first_child + child].first = before + sum - count;
    before += shuffle(sum, kWarp - 1);
  }
}

static __global__ void __launch_bounds__(kThreads)
    key_by_distance(const double* distances, std::uint32_t count, SortPairs pairs) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  pairs.keys[i] = bits_of(distances[i]);
  pairs.values[i] = static_cast<std::uint32_t>(i);
}
static __global__ void __launch_bounds__(kThreads)
    key_by_leaf(const std::uint32_t* node_of, const CoverNode* nodes, std::uint32_t count, SortPairs pairs) {
  const std::uint64_t i = thread_of_grid();
  if (i < count) pairs.keys[i] = nodes[node_of[pairs.values[i]]].first;
}
static __global__ void __launch_bounds__(kThreads)
    write_order(const std::uint32_t* sorted, const double* distances, std::uint32_t count, std::uint32_t* order,
                double* ordered) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  order[i] = sorted[i];
  ordered[i] = distances[sorted[i]];
}

/// Pieces of the objects of inner nodes that are not in their first children.
static __global__ void __launch_bounds__(kThreads)
    count_pieces(const CoverNode* nodes, std::uint32_t count, std::uint32_t* pieces, std::uint64_t* reach) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  const bool is_leaf = nodes[i].children == 0;
  pieces[i] = is_leaf ? 0 : (nodes[i].count - nodes[nodes[i].first_child].count + kTile - 1) / kTile;
  if (!is_leaf) reach[i] = 0;
}

/// The objects of first children are as far from the parent as from the child. A thread per node of a level.
static __global__ void __launch_bounds__(kThreads)
    raise_parents(CoverNode* nodes, std::uint64_t* reach, std::uint32_t first, std::uint32_t end) {
  const std::uint64_t i = first + thread_of_grid();
  if (i >= end) return;
  nodes[i].reach = number_of(reach[i]);
  const std::uint32_t parent = nodes[i].parent;
  if (parent != i && nodes[parent].first_child == i && reach[parent] < reach[i]) reach[parent] = reach[i];
}

}  // namespace kith::cuda::cover
