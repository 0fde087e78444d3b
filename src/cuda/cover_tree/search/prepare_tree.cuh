// A cover tree made ready for searches: rows in its order, nodes in arrays, and what leaves are made of.
#pragma once

#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kPrepareThreads = 128;

__device__ inline std::uint64_t prepare_warp() {
  return (std::uint64_t{block_number()} * threads_per_block() + thread_number()) / kWarp;
}
__device__ inline std::uint64_t prepare_warps() {
  return std::uint64_t{blocks_in_grid()} * threads_per_block() / kWarp;
}

/// Puts the rows of `numbers` at positions 0, 1, …; a warp takes a group, and the places behind the last row get that
/// row, too.
[[maybe_unused]] static __global__ void __launch_bounds__(kPrepareThreads)
    place_rows(PlainRows from, const std::uint32_t* numbers, std::uint64_t count, std::uint32_t* to) {
  constexpr std::uint64_t kGroup = ArrangedRows::kGroup;
  for (std::uint64_t group = prepare_warp(); group * kGroup < count; group += prepare_warps()) {
    const std::uint64_t position = group * kGroup + lane_number();
    const RowView row = from.at(numbers[position < count ? position : count - 1]);
    std::uint32_t* place = to + (group * from.stride * kGroup + lane_number());
    for (std::uint32_t w = 0; w < from.stride; ++w) place[std::uint64_t{w} * kGroup] = row[w];
  }
}

[[maybe_unused]] static __global__ void __launch_bounds__(kPrepareThreads)
    list_centres(const engine::CoverNode* nodes, std::uint64_t count, std::uint32_t* centres) {
  const std::uint64_t threads = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < count;
       i += threads) {
    centres[i] = nodes[i].centre;
  }
}

/// Fills the nodes of a tree whose rows are arranged; *height, which begins as 0, becomes that of the tree. A warp
/// takes a node.
[[maybe_unused]] static __global__ void __launch_bounds__(kPrepareThreads)
    prepare_nodes(const engine::CoverNode* nodes, std::uint64_t count, CoverSearchTree tree, std::uint32_t* height) {
  for (std::uint64_t i = prepare_warp(); i < count; i += prepare_warps()) {
    const engine::CoverNode node = nodes[i];
    const bool is_leaf = node.children == 0;
    bool is_same = is_leaf;
    for (std::uint32_t at = 0; is_same && at < node.count; at += kWarp) {
      bool differs = false;
      if (at + lane_number() < node.count) {
        const RowView centre = tree.centres.at(i), row = tree.objects.at(node.first + at + lane_number());
        for (std::uint32_t w = 0; w < tree.objects.stride && !differs; ++w) differs = centre[w] != row[w];
        // Numbers ascend, or a search could not stop before the last.
        const std::uint32_t* number = tree.order + (node.first + at + lane_number());
        differs = differs || (at + lane_number() > 0 && number[0] < number[-1]);
      }
      is_same = !any_lane(differs);
    }
    if (lane_number() == 0) {
      tree.nodes.reach[i] = node.reach;
      tree.nodes.to_parent[i] = node.to_parent;
      tree.nodes.first[i] = is_leaf ? node.first : node.first_child;
      tree.nodes.count[i] = is_leaf ? node.count : node.children;
      tree.nodes.objects[i] = node.count;
      tree.nodes.lowest[i] = node.lowest;
      tree.nodes.kind[i] = is_same && node.count > 1 ? CoverKind::same : is_leaf ? CoverKind::leaf : CoverKind::inner;
      std::uint32_t steps = 0;
      if (is_leaf) {
        for (std::uint64_t at = i; at != 0; at = nodes[at].parent) ++steps;
        atomic_max(height, steps);
      }
    }
  }
}

/// Fills the heads of a tree of `nodes` nodes that has everything else.
[[maybe_unused]] static __global__ void __launch_bounds__(kPrepareThreads)
    prepare_heads(CoverSearchTree tree, std::uint64_t nodes) {
  const auto head_of = [](std::uint32_t first, double distance, RowView row) -> CoverHead {
    const std::uint32_t low = row[1], high = row[2];
    return {first,
            CoverHead::packed_sizes(static_cast<std::uint32_t>(distance), row[0], count_bits(low) + count_bits(high)),
            low, high};
  };
  const std::uint64_t threads = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < tree.count + nodes;
       i += threads) {
    if (i < tree.count) {
      const double distance = tree.distances == nullptr ? 0 : tree.distances[i];
      tree.object_heads[i] = head_of(tree.order[i], distance, tree.objects.at(i));
    } else {
      const std::uint64_t node = i - tree.count;
      tree.node_heads[node] = head_of(static_cast<std::uint32_t>(tree.nodes.reach[node]), tree.nodes.to_parent[node],
                                      tree.centres.at(node));
    }
  }
}

/// The positions of objects numbered from `first` to `end`.
[[maybe_unused]] static __global__ void __launch_bounds__(kPrepareThreads)
    choose_positions_between(const std::uint32_t* order, std::uint32_t count, std::uint32_t first, std::uint32_t end,
                             std::uint32_t* chosen, std::uint32_t* chosen_count) {
  for (std::uint64_t at = prepare_warp() * kWarp; at < count; at += prepare_warps() * kWarp) {
    const std::uint64_t position = at + lane_number();
    const bool is_chosen = position < count && order[position] >= first && order[position] < end;
    const std::uint32_t all = ballot(is_chosen);
    std::uint32_t place = 0;
    if (lane_number() == 0 && all != 0) place = atomic_add(chosen_count, count_bits(all));
    place = shuffle(place, 0) + count_bits(all & ((1u << lane_number()) - 1));
    if (is_chosen) chosen[place] = static_cast<std::uint32_t>(position);
  }
}

}  // namespace kith::cuda
