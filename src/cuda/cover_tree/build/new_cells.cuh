// After the rounds of a level: the new centres become cells and nodes, and the objects lie cell by cell again.
#pragma once

#include "cuda/cover_tree/build/close_cells.cuh"
#include "cuda/primitives/sort_pairs.hpp"

namespace kith::cuda::cover {

/// To be sorted by rank.
static __global__ void __launch_bounds__(kThreads) key_by_rank(std::uint32_t count, SortPairs pairs) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  pairs.keys[i] = core::cover_rank(static_cast<std::uint32_t>(i));
  pairs.values[i] = static_cast<std::uint32_t>(i);
}

/// One cell with everything, by rank.
static __global__ void __launch_bounds__(kThreads)
    write_root(const std::uint32_t* numbers, std::uint32_t count, Objects objects, std::uint32_t* ranked, Cells cells) {
  const std::uint64_t p = thread_of_grid();
  if (p >= count) return;
  objects.number[p] = numbers[p];
  ranked[p] = static_cast<std::uint32_t>(p);
  if (p > 0) return;
  cells.first[0] = 0;
  cells.first[1] = count;
  cells.centre[0] = numbers[0];
  cells.node[0] = 0;
  cells.origin[0] = 0;
  cells.reach[0] = 0;
}

static __global__ void __launch_bounds__(kThreads)
    flag_new_centres(const std::uint32_t* numbers, Moves moves, std::uint32_t count, std::uint32_t* flags) {
  const std::uint64_t p = thread_of_grid();
  if (p < count) flags[p] = moves.centre[p] == numbers[p] ? 1 : 0;
}

/// To be sorted by (cell, number).
static __global__ void __launch_bounds__(kThreads)
    key_new_centres(Objects objects, const std::uint32_t* flags, const std::uint32_t* before, std::uint32_t count,
                    std::uint32_t number_bits, SortPairs pairs, Counters* counters) {
  const std::uint64_t p = thread_of_grid();
  if (p == 0) counters->centres = before[count];
  if (p >= count || flags[p] == 0) return;
  pairs.keys[before[p]] = std::uint64_t{objects.cell[p]} << number_bits | objects.number[p];
  pairs.values[before[p]] = static_cast<std::uint32_t>(p);
}

/// How cells go on: as they are, or as so many new ones, the first with the same centre.
static __global__ void __launch_bounds__(kThreads)
    count_kids(Cells cells, std::uint32_t count, const std::uint32_t* before, std::uint32_t* stays,
               std::uint32_t* grows) {
  const std::uint64_t c = thread_of_grid();
  if (c >= count) return;
  const std::uint32_t centres = before[cells.first[c + 1]] - before[cells.first[c]];
  stays[c] = centres == 0 ? 1 : 0;
  grows[c] = centres == 0 ? 0 : centres + 1;
}

/// Cells that stay come first, because their nodes have lower numbers.
struct Growth {
  Cells old = {};
  std::uint32_t old_count = 0;
  const std::uint32_t* centres_before = nullptr;  ///< per position
  const std::uint32_t* stays_before = nullptr;    ///< per cell, and all
  const std::uint32_t* grows_before = nullptr;
  Cells fresh = {};
  Kids kids = {};
  CoverNode* nodes = nullptr;
  std::uint32_t node_count = 0;
  std::int32_t level = 0;
  Counters* counters = nullptr;
};

__device__ inline void write_node(const Growth& growth, std::uint32_t node, std::uint32_t centre, std::uint32_t parent,
                                  double to_parent) {
  CoverNode made;
  made.to_parent = to_parent;
  made.centre = centre;
  made.parent = parent;
  made.lowest = 0xffffffff;
  made.level = growth.level;
  growth.nodes[node] = made;
}

__device__ inline void write_cell(const Growth& growth, std::uint32_t at, std::uint32_t centre, std::uint32_t node,
                                  std::uint32_t origin) {
  growth.fresh.centre[at] = centre;
  growth.fresh.node[at] = node;
  growth.fresh.origin[at] = origin;
  growth.fresh.reach[at] = 0;
}

static __global__ void __launch_bounds__(kThreads) write_old_cells(Growth growth) {
  const std::uint64_t i = thread_of_grid();
  if (i == 0) growth.counters->grown = growth.grows_before[growth.old_count];
  if (i >= growth.old_count) return;
  const auto c = static_cast<std::uint32_t>(i);
  const std::uint32_t centre = growth.old.centre[c], node = growth.old.node[c];
  const std::uint32_t grown = growth.grows_before[c + 1] - growth.grows_before[c];
  if (grown == 0) {
    const std::uint32_t at = growth.stays_before[c];
    growth.kids.begin[c] = at;
    growth.kids.end[c] = at + 1;
    write_cell(growth, at, centre, node, c);
    return;
  }
  const std::uint32_t at = growth.stays_before[growth.old_count] + growth.grows_before[c];
  const std::uint32_t first_child = growth.node_count + growth.grows_before[c];
  growth.kids.begin[c] = at;
  growth.kids.end[c] = at + grown;
  growth.nodes[node].first_child = first_child;
  growth.nodes[node].children = grown;
  write_node(growth, first_child, centre, node, 0);
  write_cell(growth, at, centre, first_child, c);
}

/// A thread per new centre, in the order of (cell, number).
static __global__ void __launch_bounds__(kThreads)
    write_new_cells(Growth growth, Objects objects, SortPairs centres, std::uint32_t count, std::uint32_t* cell_of) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  const std::uint32_t position = centres.values[i], cell = objects.cell[position], number = objects.number[position];
  const std::uint32_t place = 1 + static_cast<std::uint32_t>(i) - growth.centres_before[growth.old.first[cell]];
  const std::uint32_t node = growth.node_count + growth.grows_before[cell] + place;
  const std::uint32_t at = growth.stays_before[growth.old_count] + growth.grows_before[cell] + place;
  write_node(growth, node, number, growth.old.node[cell], objects.distance[position]);
  write_cell(growth, at, number, node, cell);
  cell_of[number] = at;
}

/// By rank, to be sorted by the new cell.
static __global__ void __launch_bounds__(kThreads)
    key_objects(Objects objects, const std::uint32_t* ranked, Moves moves, std::uint32_t count,
                const std::uint32_t* kids_begin, const std::uint32_t* cell_of, SortPairs pairs) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  const std::uint32_t position = ranked[i], centre = moves.centre[position];
  pairs.keys[i] = centre == kOwner ? kids_begin[objects.cell[position]] : cell_of[centre];
  pairs.values[i] = static_cast<std::uint32_t>(i);
}

static __global__ void __launch_bounds__(kThreads)
    place_objects(Objects from, const std::uint32_t* ranked, Moves moves, SortPairs sorted, std::uint32_t count,
                  Objects to, std::uint32_t* to_ranked, Cells cells, std::uint32_t cell_count) {
  const std::uint64_t p = thread_of_grid();
  const bool is_there = p < count;
  const std::uint32_t cell = is_there ? static_cast<std::uint32_t>(sorted.keys[p]) : 0xffffffff;
  std::uint64_t distance = 0;
  if (is_there) {
    const std::uint32_t position = ranked[sorted.values[p]];
    to_ranked[sorted.values[p]] = static_cast<std::uint32_t>(p);
    to.number[p] = from.number[position];
    to.cell[p] = cell;
    to.distance[p] = moves.distance[position];
    distance = bits_of(moves.distance[position]);
    if (p == 0 || sorted.keys[p - 1] != cell) cells.first[cell] = static_cast<std::uint32_t>(p);
    if (p + 1 == count) cells.first[cell_count] = count;
  }
  if (all_lanes_equal(cell)) {
    const std::uint64_t widest = max_of_warp(distance);
    if (lane_number() == 0 && is_there) atomic_max(cells.reach + cell, widest);
  } else if (is_there) {
    atomic_max(cells.reach + cell, distance);
  }
}

}  // namespace kith::cuda::cover
