// Moves the points of a segment to the nodes `levels` below it, coordinate by coordinate, in runs.
//
// A tile of points is ranked by node in shared memory, room is reserved once per tile and node, and each coordinate is
// staged so that neighbouring lanes write neighbouring words. Points in a median's bin wait for its exact split:
// place_candidates moves them.
#pragma once

#include "cuda/kd_tree/find_medians.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kScatterEach = 8;  ///< points per thread and tile

struct ScatterCells {
  std::uint32_t counts[kHeap];
  std::uint32_t offsets[kHeap];  ///< in the tile
  std::uint32_t places[kHeap];   ///< where the tile's points of a node go, less the offset; modulo 2^32
  std::uint32_t staged;          ///< points in the tile that move
  std::uint8_t node[kScatterEach * kPassThreads];  ///< of each staged point
};

template <typename T>
inline constexpr std::size_t kBehindScatterCells = kBehindPassShared<T> + (sizeof(ScatterCells) + 15) / 16 * 16;

template <typename T>
KITH_HOST_DEVICE std::size_t scatter_shared_bytes() {
  return kBehindScatterCells<T> + sizeof(T) * kScatterEach * kPassThreads;
}

/// Rooms of the tile's nodes in the tile and in the output. The work of one warp.
template <typename T>
__device__ void reserve_rooms(const GroupParameters<T>& p, std::uint32_t segment, ScatterCells& cells) {
  const std::uint32_t nodes = 1u << p.levels;
  std::uint32_t before = 0;
  for (std::uint32_t first = 0; first < nodes; first += kWarp) {
    const std::uint32_t node = first + lane_number();
    const std::uint32_t count = node < nodes ? cells.counts[node] : 0;
    const std::uint32_t inclusive = sum_to_lane(count);
    const std::uint32_t offset = before + inclusive - count;
    if (node < nodes) {
      const std::uint64_t number = (std::uint64_t{segment} << p.levels) + node;
      std::uint32_t moved = 0;
      if (count > 0) moved = atomic_add(&p.cursors[number * kCursorStride], count);
      cells.offsets[node] = offset;
      cells.places[node] =
          static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level + p.levels, number)) + moved - offset;
    }
    before += shuffle(inclusive, kWarp - 1);
  }
  if (lane_number() == 0) cells.staged = before;
}

/// A block for each tile; `tiles` of them for each segment.
template <typename T>
__global__ void __launch_bounds__(kPassThreads, 2)
    scatter_points(const __grid_constant__ GroupParameters<T> p, std::uint32_t tiles) {
  constexpr std::uint32_t kWaits = 0xffffffffu;
  const NodeTables<T>& tables = pass_shared<T>().tables;
  ScatterCells& cells = *reinterpret_cast<ScatterCells*>(shared_memory() + kBehindPassShared<T>);
  T* stage = reinterpret_cast<T*>(shared_memory() + kBehindScatterCells<T>);
  auto* staged_numbers = reinterpret_cast<std::uint32_t*>(stage);
  const std::uint32_t dims = p.shape.dims, threads = threads_per_block();
  const std::uint32_t parents = 1u << (p.levels - 1), nodes = 2 * parents;
  const std::uint32_t parent_bins = bins_at(p.levels - 1, dims, p.most_bins);
  const SegmentSlice segment = slice_of(p, block_number() / tiles, 0, 1);
  start_next();
  wait_for_previous();
  const std::uint64_t begin = segment.first + std::uint64_t{block_number() % tiles} * kScatterEach * threads;
  if (begin >= segment.end || *p.refused != 0) return;
  const std::uint64_t rest = segment.end - begin;
  const std::uint32_t length =
      rest < kScatterEach * threads ? static_cast<std::uint32_t>(rest) : kScatterEach * threads;
  const auto first = static_cast<std::uint32_t>(begin);
  load_tables(p, segment.segment, p.levels);
  sync_block();
  std::uint32_t found = 0;
  const std::uint32_t own = thread_number();
  for (std::uint32_t i = own; i < nodes; i += threads) cells.counts[i] = 0;
  std::uint32_t node[kScatterEach];  // parents first, then the nodes to which the points go
  T x[kScatterEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    const std::uint32_t i = own + k * threads;
    node[k] = p.levels > 1 && i < length ? p.heap[first + i] : parents;
  }
  bool is_undecided = false;
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) is_undecided = is_undecided || node[k] < parents;
  if (is_undecided) {
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      node[k] = decided_heap(p, parents, first + own + k * threads, node[k]);
    }
  }
  sync_warp();
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    const std::uint32_t i = own + k * threads;
    node[k] -= parents;
    x[k] = i < length ? column_value(p, tables.parents[node[k]].column, first + i) : T(0);
  }
  sync_block();
  // The low half is the place in the stage, as soon as it is known; candidates and places past the end wait.
  std::uint32_t place[kScatterEach];
  std::uint32_t candidates = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    const std::uint32_t bin = bin_in(tables.parents[node[k]], x[k], parent_bins), median = tables.medians[node[k]];
    const bool is_inside = own + k * threads < length;
    if (is_inside && bin == median) candidates |= 1u << k;
    place[k] = is_inside && bin != median ? 2 * node[k] + (bin > median ? 1 : 0) : kWaits;
  }
  sync_warp();
  if (any_lane(candidates != 0)) {
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      note_candidate(p, segment.segment, p.levels - 1, (candidates >> k & 1) != 0, node[k], x[k],
                     first + own + k * threads, found);
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    std::uint32_t rank = 0;
    if (all_lanes_equal(place[k])) {  // sorted input: one addition for the warp
      if (lane_number() == 0 && place[k] != kWaits) rank = atomic_add(&cells.counts[place[k]], kWarp);
      rank = shuffle(rank, 0) + lane_number();
    } else if (place[k] != kWaits) {
      rank = atomic_add(&cells.counts[place[k]], 1u);
    }
    sync_warp();
    if (place[k] != kWaits) place[k] = place[k] << 16 | rank;
  }
  sync_block();
  if (warp_number() == 0) reserve_rooms(p, segment.segment, cells);
  const T* const row = p.source.values + std::uint64_t{first + own} * static_cast<std::uint32_t>(p.source.row_stride);
  const std::uint64_t step = std::uint64_t{threads} * static_cast<std::uint32_t>(p.source.row_stride);
  T values[kScatterEach];
  const auto load = [&](std::uint32_t d) {
    const T* from = row + d * p.source.dim_stride;
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      if (place[k] != kWaits) values[k] = from[k * step];
    }
  };
  load(0);
  sync_block();
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    if (place[k] != kWaits) {
      const std::uint32_t to = place[k] >> 16;
      place[k] = cells.offsets[to] + (place[k] & 0xffffu);
      cells.node[place[k]] = static_cast<std::uint8_t>(to);
      stage[place[k]] = values[k];
    }
  }
  sync_block();
  const std::uint32_t staged = cells.staged;
  std::uint32_t to[kScatterEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    const std::uint32_t from = own + k * threads;
    to[k] = from < staged ? cells.places[cells.node[from]] + from : 0;
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (d + 1 < dims) load(d + 1);
    T* column = p.out_values + d * p.shape.geometry.points;
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      if (own + k * threads < staged) column[to[k]] = stage[own + k * threads];
    }
    sync_block();
    if (d + 1 < dims) {
#pragma unroll
      for (std::uint32_t k = 0; k < kScatterEach; ++k) {
        if (place[k] != kWaits) stage[place[k]] = values[k];
      }
      sync_block();
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    if (place[k] != kWaits) staged_numbers[place[k]] = p.source.index(first + own + k * threads);
  }
  sync_block();
#pragma unroll
  for (std::uint32_t k = 0; k < kScatterEach; ++k) {
    if (own + k * threads < staged) p.out_indices[to[k]] = staged_numbers[own + k * threads];
  }
  if (found > 0) list_candidates(p, segment.segment, p.levels - 1, found);
}

/// The last splits of the group: found exactly, and their candidates moved. As find_medians.
template <typename T>
__global__ void __launch_bounds__(kStepThreads, 1)
    place_candidates(const __grid_constant__ GroupParameters<T> p, std::uint32_t each, std::uint32_t staged) {
  start_next();
  wait_for_previous();
  if (*p.refused != 0) return;
  const ParentNode parent = parent_of_block(p.levels - 1, each);
  const FetchedNode<T> fetched = fetch_node<T>(p, parent, each, staged, nullptr, 0);
  const CandidateList<T>& list = fetched.list;
  if (list.blocks == 0) return;
  const std::uint32_t dims = p.shape.dims, sides = p.child_sides;
  const SplitNode<T>& node = *fetched.node;
  const Selected<T> split = find_split(p, parent, node, list);
  const std::uint64_t left = 2 * ((std::uint64_t{parent.segment} << parent.level) + parent.heap - (1u << parent.level));
  if (list.block == 0) {
    for (std::uint32_t i = thread_number(); i < 4 * sides; i += threads_per_block()) {
      const std::uint32_t side = i / (2 * sides), rest = i % (2 * sides), d = rest % sides;
      p.child_boxes[(left + side) * 2 * sides + rest] =
          cut_side(p, fetched.box, parent.level, node.bins.dim, split.place, side == 1, rest >= sides, d);
    }
  }
  const std::uint64_t first[2] = {p.shape.geometry.first(p.first_level + p.levels, left),
                                  p.shape.geometry.first(p.first_level + p.levels, left + 1)};
  const std::uint32_t count = list.end() - list.first();
  const std::uint32_t rounds = (count + threads_per_block() - 1) / threads_per_block();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t i = list.first() + round * threads_per_block() + thread_number();
    const bool is_inside = i < list.end();
    const std::uint32_t side = is_inside && is_right_candidate(p, node.bins.dim, list, split, i) ? 1 : 0;
    sync_warp();
    const std::uint32_t peers = match_lanes(is_inside ? side : 2);
    const std::uint32_t leader = lowest_bit(peers);
    std::uint32_t moved = 0;
    if (is_inside && lane_number() == leader) {
      moved = atomic_add(&p.cursors[(left + side) * kCursorStride], count_bits(peers));
    }
    moved = shuffle(moved, leader) + count_bits(peers & ((1u << lane_number()) - 1));
    if (is_inside) {
      const std::uint64_t from = list.places[i], to = first[side] + moved;
      for (std::uint32_t d = 0; d < dims; ++d) {
        p.out_values[d * p.shape.geometry.points + to] = p.source.at(from, d);
      }
      p.out_indices[to] = p.source.index(from);
    }
  }
}

}  // namespace kith::cuda
