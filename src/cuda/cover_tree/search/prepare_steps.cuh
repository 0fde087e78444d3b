// The kernels that make a cover tree ready for searches; `launch` as in search_steps.cuh.
#pragma once

#include "cuda/cover_tree/search/prepare_tree.cuh"

#include <algorithm>
#include <cstdint>

namespace kith::cuda {

/// Blocks for so many warps' work.
inline std::uint32_t prepare_blocks(std::uint64_t warps) {
  constexpr std::uint64_t kMostBlocks = 1 << 16, kWarpsPerBlock = kPrepareThreads / kWarp;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((warps + kWarpsPerBlock - 1) / kWarpsPerBlock, 1, kMostBlocks));
}

/// Where all goes that a search needs besides the tree itself.
struct PreparedRoom {
  std::uint32_t* objects = nullptr;    ///< ArrangedRows::words_of(count, stride)
  std::uint32_t* centres = nullptr;    ///< the same for nodes
  std::uint32_t* centre_of = nullptr;  ///< a word per node; not needed afterwards
  std::byte* nodes = nullptr;          ///< CoverNodes::kBytes per node
  std::uint32_t* height = nullptr;     ///< begins as 0
};

/// The tree for searches, but for its height. `rows` are the objects by number; `nodes`, `order` and `distances` the
/// arrays of the tree. There is at least one object.
template <typename Launch>
CoverSearchTree launch_prepare_steps(PlainRows rows, const engine::CoverNode* nodes, std::uint64_t node_count,
                                     const std::uint32_t* order, const double* distances, std::uint32_t count,
                                     const PreparedRoom& room, Launch&& launch) {
  CoverSearchTree tree;
  tree.nodes = CoverNodes(room.nodes, node_count);
  tree.order = order;
  tree.distances = distances;
  tree.objects = {room.objects, rows.stride};
  tree.centres = {room.centres, rows.stride};
  tree.count = count;
  launch(arrange_rows, prepare_blocks((count + kWarp - 1) / kWarp), kPrepareThreads, std::size_t{0}, rows, order,
         std::uint64_t{count}, room.objects);
  launch(list_centres, prepare_blocks((node_count + kWarp - 1) / kWarp), kPrepareThreads, std::size_t{0}, nodes,
         node_count, room.centre_of);
  launch(arrange_rows, prepare_blocks((node_count + kWarp - 1) / kWarp), kPrepareThreads, std::size_t{0}, rows,
         static_cast<const std::uint32_t*>(room.centre_of), node_count, room.centres);
  launch(prepare_nodes, prepare_blocks(node_count), kPrepareThreads, std::size_t{0}, nodes, node_count, tree,
         room.height);
  return tree;
}

}  // namespace kith::cuda
