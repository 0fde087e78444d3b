// Which cells are leaves from now on, and what is left: open cells and their objects side by side again.
#pragma once

#include "cuda/cover_tree/build/build_types.hpp"
#include "cuda/primitives/thread_of_grid.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda::cover {

/// A thread per cell: it closes if it is small or flat.
static __global__ void __launch_bounds__(kThreads)
    close_small(Cells cells, std::uint32_t count, std::uint32_t leaf_size, double flat, std::uint32_t* is_open,
                Counters* counters) {
  const std::uint64_t c = thread_of_grid();
  const std::uint64_t reach = c < count ? cells.reach[c] : 0;
  const bool opens = c < count && cells.first[c + 1] - cells.first[c] > leaf_size && number_of(reach) > flat;
  if (c < count) is_open[c] = opens ? 1 : 0;
  const std::uint64_t widest = max_of_warp(opens ? reach : std::uint64_t{0});
  const std::uint32_t open = ballot(opens);
  if (open == 0 || lane_number() != 0) return;
  atomic_max(&counters->widest, widest);
  atomic_add(&counters->open, count_bits(open));
}

/// How many objects of each cell are sampled: none of those that need no test.
static __global__ void __launch_bounds__(kThreads)
    size_samples(Cells cells, std::uint32_t count, double radius, const std::uint32_t* is_open, std::uint32_t* samples,
                 std::uint64_t* close) {
  const std::uint64_t c = thread_of_grid();
  if (c >= count) return;
  const std::uint32_t objects = cells.first[c + 1] - cells.first[c];
  const std::uint32_t sample = core::cover_sample(objects);
  const bool is_tested = is_open[c] != 0 && number_of(cells.reach[c]) > radius;
  samples[c] = !is_tested ? 0 : sample < objects ? sample : objects;
  close[c] = 0;
}

/// Closes cells that do not pay, and says how many objects stay.
static __global__ void __launch_bounds__(kThreads)
    close_sparse(Cells cells, std::uint32_t count, const std::uint32_t* samples, const std::uint64_t* close,
                 std::uint32_t* is_open, std::uint32_t* sizes, Counters* counters) {
  const std::uint64_t c = thread_of_grid();
  std::uint32_t size = 0;
  if (c < count) {
    const std::uint32_t objects = cells.first[c + 1] - cells.first[c];
    if (samples[c] > 0 && !core::cover_split_pays(objects, samples[c], close[c])) is_open[c] = 0;
    size = is_open[c] != 0 ? objects : 0;
    sizes[c] = size;
  }
  const std::uint32_t largest = max_of_warp(size);
  if (lane_number() == 0 && largest > 0) atomic_max(&counters->largest, largest);
}

/// Where cells and objects go that stay.
struct Compaction {
  const std::uint32_t* is_open = nullptr;
  const std::uint32_t* index = nullptr;  ///< per cell, and all
  const std::uint32_t* first = nullptr;  ///< per cell, and all
};

/// A thread per cell, and one more for the end.
static __global__ void __launch_bounds__(kThreads)
    keep_open_cells(Cells from, std::uint32_t count, Compaction how, Cells to, std::uint32_t* tiles, CoverNode* nodes,
                    std::uint64_t* node_reach, Counters* counters) {
  const std::uint64_t c = thread_of_grid();
  if (c > count) return;
  const std::uint32_t at = how.index[c];
  if (c == count) {
    to.first[at] = how.first[c];
    counters->cells = at;
    counters->objects = how.first[c];
    return;
  }
  const std::uint32_t size = from.first[c + 1] - from.first[c];
  if (how.is_open[c] == 0) {
    nodes[from.node[c]].count = size;
    node_reach[from.node[c]] = from.reach[c];
    return;
  }
  to.first[at] = how.first[c];
  to.centre[at] = from.centre[c];
  to.node[at] = from.node[c];
  to.origin[at] = from.origin[c];
  to.reach[at] = from.reach[c];
  tiles[at] = (size + kTile - 1) / kTile;
}

/// Old cells' new ones, counted without the closed ones.
static __global__ void __launch_bounds__(kThreads)
    keep_open_kids(Kids kids, std::uint32_t old_count, const std::uint32_t* index) {
  const std::uint64_t c = thread_of_grid();
  if (c >= old_count) return;
  kids.begin[c] = index[kids.begin[c]];
  kids.end[c] = index[kids.end[c]];
}

static __global__ void __launch_bounds__(kThreads)
    keep_open_objects(Objects from, Cells cells, std::uint32_t count, Compaction how, Objects to, Moves moves,
                      LeafObjects leaves) {
  const std::uint64_t p = thread_of_grid();
  if (p >= count) return;
  const std::uint32_t number = from.number[p], cell = from.cell[p];
  const double distance = from.distance[p];
  if (how.is_open[cell] == 0) {
    leaves.node[number] = cells.node[cell];
    leaves.distance[number] = distance;
    return;
  }
  const std::uint32_t at = how.first[cell] + (static_cast<std::uint32_t>(p) - cells.first[cell]);
  to.number[at] = number;
  to.cell[at] = how.index[cell];
  to.distance[at] = distance;
  moves.distance[at] = distance;
  moves.centre[at] = kOwner;
}

/// The positions of open objects by rank: whether each stays, then where it is.
static __global__ void __launch_bounds__(kThreads)
    flag_ranked(const std::uint32_t* ranked, const std::uint32_t* cells, std::uint32_t count,
                const std::uint32_t* is_open, std::uint32_t* flags) {
  const std::uint64_t i = thread_of_grid();
  if (i < count) flags[i] = is_open[cells[ranked[i]]];
}
static __global__ void __launch_bounds__(kThreads)
    keep_ranked(const std::uint32_t* ranked, Objects objects, Cells cells, std::uint32_t count, Compaction how,
                const std::uint32_t* before, std::uint32_t* to) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  const std::uint32_t position = ranked[i], cell = objects.cell[position];
  if (how.is_open[cell] != 0) to[before[i]] = how.first[cell] + (position - cells.first[cell]);
}

/// Where the lists of neighbours of some cells begin, if each may be as long as it can.
static __global__ void __launch_bounds__(kThreads)
    start_lists(std::uint64_t* starts, std::uint32_t first, std::uint32_t end, std::uint32_t capacity) {
  const std::uint64_t cell = first + thread_of_grid();
  if (cell < end) starts[cell] = (cell - first) * capacity;
}

/// The builder by lists: a cell has to do with itself only.
static __global__ void __launch_bounds__(kThreads) list_own_cells(NeighborLists lists, std::uint32_t count) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count) return;
  const auto cell = static_cast<std::uint32_t>(i);
  lists.starts[cell] = cell;
  lists.counts[cell] = 1;
  lists.cells[cell] = cell;
  lists.distances[cell] = 0;
}

/// Rows of the objects `numbers` in groups of 32. A warp per group.
static __global__ void __launch_bounds__(kThreads)
    arrange_rows(PlainRows plain, const std::uint32_t* numbers, std::uint32_t count, std::uint32_t* words) {
  const std::uint64_t position = thread_of_grid();
  if (position >= count) return;
  const RowView row = plain.at(numbers[position]);
  std::uint32_t* to = words + position / kWarp * plain.stride * kWarp + position % kWarp;
  for (std::uint32_t w = 0; w < plain.stride; ++w) to[std::uint64_t{w} * kWarp] = row[w];
}

}  // namespace kith::cuda::cover
