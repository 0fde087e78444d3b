// The memory of a build of a cover tree, known before anything is allocated.
//
// Bytes per object, for rows of W words: 4 W for rows in the order of cells (the caller's rows are not counted), 353
// for objects, cells, nodes and sorts as there may be at most, 12 for the tree, and 16 for each neighbour that lists
// have capacity for: kNeighbors, or fewer if memory is short; then lists are made for some cells at a time, again and
// again. A build by lists of near and far objects has no such neighbours.
#pragma once

#include "cuda/cover_tree/build/build_types.hpp"
#include "cuda/cover_tree/cover_rules.hpp"
#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/primitives/sum_tiles.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::cuda::cover {

/// Nodes at most: each new centre is a node, and each cell that has some is one more.
inline std::uint64_t most_nodes(std::uint32_t count) { return 2 * std::uint64_t{count}; }

/// Lists have room for the neighbours of one cell at least: for all open cells.
inline std::uint64_t least_list_capacity(std::uint32_t count, std::uint32_t leaf_size) {
  return count / (std::uint64_t{leaf_size} + 1) + 1;
}

struct CoverScratch {
  Objects objects[2] = {};        ///< of open cells; of new ones before they are looked at
  std::uint32_t* ranked[2] = {};  ///< their positions by rank
  Cells cells[2] = {};
  Moves moves = {};
  Kids kids = {};
  NeighborLists lists[2] = {};
  std::uint64_t list_capacity = 0;
  Prefix prefix = {};
  LeafObjects leaves = {};
  CoverNode* nodes = nullptr;
  std::uint64_t* node_reach = nullptr;
  std::uint32_t* flags = nullptr;         ///< per object or node
  std::uint32_t* before = nullptr;        ///< per object or node, and all
  std::uint32_t* cell_flags[2] = {};      ///< per cell
  std::uint32_t* cell_before[3] = {};     ///< per cell, and all
  std::uint64_t* close = nullptr;         ///< per cell
  std::uint32_t* tiles_before = nullptr;  ///< per cell, and all
  std::uint32_t* cell_of = nullptr;       ///< by number, of new centres
  SortPairs pairs[2] = {};
  std::uint32_t* sums = nullptr;
  std::uint64_t* long_sums = nullptr;
  Counters* counters = nullptr;
  std::uint64_t bytes = 0;
};

inline CoverScratch lay_out_cover_scratch(std::uint32_t count, std::uint64_t list_capacity, std::byte* memory) {
  ScratchParts parts(memory);
  CoverScratch scratch;
  const std::uint64_t n = count, nodes = most_nodes(count);
  scratch.counters = parts.take<Counters>(1);
  for (Objects& objects : scratch.objects) {
    objects = {parts.take<std::uint32_t>(n), parts.take<std::uint32_t>(n), parts.take<double>(n)};
  }
  for (std::uint32_t*& ranked : scratch.ranked) ranked = parts.take<std::uint32_t>(n);
  for (Cells& cells : scratch.cells) {
    cells = {parts.take<std::uint32_t>(n + 1), parts.take<std::uint32_t>(n), parts.take<std::uint32_t>(n),
             parts.take<std::uint32_t>(n), parts.take<std::uint64_t>(n)};
  }
  scratch.moves = {parts.take<double>(n), parts.take<std::uint32_t>(n)};
  scratch.kids = {parts.take<std::uint32_t>(n), parts.take<std::uint32_t>(n)};
  scratch.list_capacity = list_capacity;
  for (NeighborLists& lists : scratch.lists) {
    lists = {parts.take<std::uint64_t>(n + 1), parts.take<std::uint32_t>(n),
             parts.take<std::uint32_t>(scratch.list_capacity), parts.take<float>(scratch.list_capacity)};
  }
  scratch.prefix = {parts.take<std::uint32_t>(n + 1), parts.take<std::uint32_t>(n), parts.take<std::uint32_t>(n),
                    parts.take<std::uint32_t>(n + 1), parts.take<std::uint32_t>(n)};
  scratch.leaves = {parts.take<std::uint32_t>(n), parts.take<double>(n)};
  scratch.nodes = parts.take<CoverNode>(nodes);
  scratch.node_reach = parts.take<std::uint64_t>(nodes);
  scratch.flags = parts.take<std::uint32_t>(nodes);
  scratch.before = parts.take<std::uint32_t>(nodes + 1);
  for (std::uint32_t*& flags : scratch.cell_flags) flags = parts.take<std::uint32_t>(n);
  for (std::uint32_t*& before : scratch.cell_before) before = parts.take<std::uint32_t>(n + 1);
  scratch.close = parts.take<std::uint64_t>(n);
  scratch.tiles_before = parts.take<std::uint32_t>(n + 1);
  scratch.cell_of = parts.take<std::uint32_t>(n);
  for (SortPairs& pairs : scratch.pairs) pairs = {parts.take<std::uint64_t>(n), parts.take<std::uint32_t>(n)};
  scratch.sums = parts.take<std::uint32_t>(sum_tiles_of(nodes) + 2);
  scratch.long_sums = parts.take<std::uint64_t>(sum_tiles_of(n) + 2);
  scratch.bytes = parts.bytes();
  return scratch;
}

}  // namespace kith::cuda::cover

namespace kith::cuda {

/// What a build takes of the GPU's memory if lists have capacity for so many neighbours; the caller's rows are not
/// counted.
inline BuildMemory cover_build_memory(std::uint32_t count, std::uint32_t stride, std::uint64_t list_capacity) {
  const std::uint64_t tree =
      count * (sizeof(std::uint32_t) + sizeof(double)) + ArrangedRows::words_of(count, stride) * sizeof(std::uint32_t);
  const std::uint64_t nodes = cover::most_nodes(count) * sizeof(engine::CoverNode);
  const std::uint64_t scratch = cover::lay_out_cover_scratch(count, list_capacity, nullptr).bytes + count;  // and sorts
  return {tree + nodes, tree + nodes + scratch};
}
/// The same at least.
inline BuildMemory least_cover_build_memory(std::uint32_t count, std::uint32_t stride, std::uint32_t leaf_size) {
  return cover_build_memory(count, stride, cover::least_list_capacity(count, leaf_size));
}

/// As many neighbours as lists should have capacity for, if `free` bytes, of which a part is spared, suffice.
inline std::uint64_t cover_list_capacity(std::uint32_t count, std::uint32_t stride, const CoverRules& rules,
                                         std::uint64_t free) {
  constexpr std::uint64_t kSpared = 16, kBytesPerNeighbor = 16;  // a part of what is free; in the lists of two levels
  const std::uint64_t own = cover::least_list_capacity(count, rules.leaf_size);
  if (rules.is_by_lists()) return own;
  const std::uint64_t wanted = std::max(cover::kNeighbors * count, cover::kFewestNeighbors);
  const std::uint64_t least = least_cover_build_memory(count, stride, rules.leaf_size).peak_bytes;
  const std::uint64_t left = free - free / kSpared > least ? free - free / kSpared - least : 0;
  return own + std::min(wanted, left / kBytesPerNeighbor);
}

/// What searches need besides the tree, if every object is a node.
inline std::uint64_t cover_prepared_bytes(std::uint64_t count, std::uint32_t stride) {
  return 2 * count * (kCoverNodeBytes + std::uint64_t{stride} * sizeof(std::uint32_t));
}

/// What an index of rows takes that lie in the GPU's memory, too, and its build if `free` bytes are free before both.
inline BuildMemory cover_index_memory(std::uint64_t count, std::uint32_t stride, const CoverRules& rules,
                                      std::uint64_t free) {
  const std::uint64_t rows = count * stride * sizeof(std::uint32_t);
  const auto objects = static_cast<std::uint32_t>(count);
  const std::uint64_t capacity = cover_list_capacity(objects, stride, rules, free - std::min(free, rows));
  const BuildMemory build = cover_build_memory(objects, stride, capacity);
  const std::uint64_t index = rows + build.index_bytes + cover_prepared_bytes(count, stride);
  return {index, std::max(index, rows + build.peak_bytes)};
}

}  // namespace kith::cuda
