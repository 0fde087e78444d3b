// The kernels that make a cover tree ready for searches; `launch` as in search_steps.cuh.
#pragma once

#include "cuda/cover_tree/search/prepare_tree.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Blocks for so many warps' work.
inline std::uint32_t prepare_blocks(std::uint64_t warps) {
  constexpr std::uint64_t kMostBlocks = 1 << 16, kWarpsPerBlock = kPrepareThreads / kWarp;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((warps + kWarpsPerBlock - 1) / kWarpsPerBlock, 1, kMostBlocks));
}

/// The rows of `numbers` in groups.
template <typename Launch>
void launch_arrange_rows(PlainRows rows, const std::uint32_t* numbers, std::uint64_t count, std::uint32_t* to,
                         Launch&& launch) {
  launch(place_rows, prepare_blocks((count + kWarp - 1) / kWarp), kPrepareThreads, std::size_t{0}, rows, numbers, count,
         to);
}

/// Fills the nodes, centres and, if there are any, heads of a tree, which has everything else but its height. `rows`
/// are the objects by number; `centre_of` has a word per node and is not needed afterwards; *height begins as 0. There
/// is at least one object.
template <typename Launch>
void launch_prepare_steps(PlainRows rows, const engine::CoverNode* nodes, std::uint64_t count,
                          const CoverSearchTree& tree, std::uint32_t* centre_of, std::uint32_t* centres,
                          std::uint32_t* height, Launch&& launch) {
  launch(list_centres, prepare_blocks((count + kWarp - 1) / kWarp), kPrepareThreads, std::size_t{0}, nodes, count,
         centre_of);
  launch_arrange_rows(rows, centre_of, count, centres, launch);
  launch(prepare_nodes, prepare_blocks(count), kPrepareThreads, std::size_t{0}, nodes, count, tree, height);
  if (tree.object_heads == nullptr) return;
  launch(prepare_heads, prepare_blocks((tree.count + count + kWarp - 1) / kWarp), kPrepareThreads, std::size_t{0}, tree,
         count);
}

/// `chosen_count` begins as 0.
template <typename Launch>
void launch_choose_positions(const CoverSearchTree& tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                             std::uint32_t* chosen_count, Launch&& launch) {
  launch(choose_positions_between, prepare_blocks((tree.count + std::uint64_t{kWarp} - 1) / kWarp), kPrepareThreads,
         std::size_t{0}, tree.order, tree.count, first, end, chosen, chosen_count);
}

}  // namespace kith::cuda
