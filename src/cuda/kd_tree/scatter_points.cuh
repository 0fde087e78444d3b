// Moves the points of a segment to the nodes `levels` below it, coordinate by coordinate, in runs.
//
// A tile of points is ranked by node in shared memory, room is reserved once per tile and node, and each coordinate is
// staged so that neighbouring lanes write neighbouring words. Points in a median's bin wait for its exact split:
// place_candidates moves them.
#pragma once

#include "cuda/kd_tree/count_points.cuh"
#include "cuda/kd_tree/find_medians.cuh"

namespace kith::cuda {

/// Rooms of the tile's nodes in the tile and in the output. The work of one warp.
template <typename T>
__device__ void reserve_rooms(const GroupParameters<T>& p, std::uint32_t segment, ScatterCells& cells) {
  const std::uint32_t nodes = 1u << p.levels;
  std::uint32_t before = 0;
  for (std::uint32_t first = 0; first < nodes; first += kWarp) {
    const std::uint32_t node = first + lane_number();
    const std::uint32_t count = node < nodes ? cells.counts[node] : 0;
    const auto inclusive = static_cast<std::uint32_t>(sum_to_lane(count));
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

template <typename T>
KITH_NOINLINE __device__ void scatter_points(const GroupParameters<T>& p, const SegmentSlice slice) {
  const NodeTables<T>& tables = group_shared<T>().tables;
  ScatterCells& cells = group_shared<T>().scatter;
  T* stage = staged_values<T>();
  const std::uint32_t dims = p.shape.dims, threads = threads_per_block();
  const std::uint32_t parents = 1u << (p.levels - 1), nodes = 2 * parents;
  const std::uint32_t parent_bins = bins_at(p.levels - 1, dims, p.most_bins);
  constexpr std::uint32_t kWaits = 0xffffffffu;
  for (std::uint64_t tile = slice.first; tile < slice.end; tile += std::uint64_t{kScatterEach} * threads) {
    const std::uint64_t own = tile + thread_number();
    for (std::uint32_t i = thread_number(); i < nodes; i += threads) cells.counts[i] = 0;
    sync_block();
    std::uint32_t place[kScatterEach];  // in the stage; first the node and the rank in it
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      const std::uint64_t from = own + std::uint64_t{k} * threads;
      const bool is_inside = from < slice.end;
      std::uint32_t heap = p.levels > 1 && is_inside ? p.heap[from] : parents;
      if (p.levels > 1) heap = decided_heap(p, tables, p.levels, from, heap);
      const auto& parent = tables.parents[heap - parents];
      const T x = is_inside ? coordinate(p.source, dims, from, parent.bins.dim) : T(0);
      const std::uint32_t bin = bin_of(parent.bins, x, parent_bins);
      const bool is_candidate = is_inside && bin == parent.median_bin;
      sync_warp();
      append_candidates(p, slice, p.levels - 1, is_candidate, heap, parent.bins.dim, x, from);
      sync_warp();
      const bool moves = is_inside && !is_candidate;
      const std::uint32_t node = 2 * heap + (bin > parent.median_bin ? 1 : 0) - nodes;
      std::uint32_t rank = 0;
      if (all_lanes_equal(moves ? node : kWaits)) {  // sorted input: one addition for the warp
        if (lane_number() == 0 && moves) rank = atomic_add(&cells.counts[node], kWarp);
        rank = shuffle(rank, 0) + lane_number();
      } else if (moves) {
        rank = atomic_add(&cells.counts[node], 1u);
      }
      place[k] = moves ? node << 16 | rank : kWaits;
    }
    sync_block();
    if (warp_number() == 0) reserve_rooms(p, slice.segment, cells);
    sync_block();
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      if (place[k] == kWaits) continue;
      const std::uint32_t node = place[k] >> 16;
      place[k] = cells.offsets[node] + (place[k] & 0xffffu);
      cells.node[place[k]] = static_cast<std::uint8_t>(node);
    }
    sync_block();
    std::uint32_t to[kScatterEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kScatterEach; ++k) {
      const std::uint32_t staged = thread_number() + k * threads;
      to[k] = staged < cells.staged ? cells.places[cells.node[staged]] + staged : 0;
    }
    for (std::uint32_t d = 0; d <= dims; ++d) {
      auto* staged_indices = reinterpret_cast<std::uint32_t*>(stage);
#pragma unroll
      for (std::uint32_t k = 0; k < kScatterEach; ++k) {
        const std::uint64_t from = own + std::uint64_t{k} * threads;
        if (place[k] == kWaits) continue;
        if (d < dims) {
          stage[place[k]] = p.source.at(from, d);
        } else {
          staged_indices[place[k]] = p.source.index(from);
        }
      }
      sync_block();
#pragma unroll
      for (std::uint32_t k = 0; k < kScatterEach; ++k) {
        const std::uint32_t staged = thread_number() + k * threads;
        if (staged >= cells.staged) continue;
        if (d < dims) {
          p.out_values[d * p.shape.geometry.points + to[k]] = stage[staged];
        } else {
          p.out_indices[to[k]] = staged_indices[staged];
        }
      }
      sync_block();
    }
  }
}

/// The last splits of the group: found exactly, and their candidates moved.
template <typename T, typename Team>
KITH_NOINLINE __device__ void place_candidates(const GroupParameters<T>& p, const Team& team, const ParentNode& parent,
                                               const CandidateList<T>& list, std::uint32_t* select_histogram) {
  const std::uint32_t dims = p.shape.dims, sides = p.child_sides;
  const SplitNode<T> node = p.nodes[std::uint64_t{parent.segment} * kHeap + parent.heap];
  const Selected<T> split = find_split(p, team, parent, node, list, select_histogram);
  const std::uint64_t left = 2 * ((std::uint64_t{parent.segment} << parent.level) + parent.heap - (1u << parent.level));
  if (list.block == 0) {
    const T* box = box_of(p, parent.segment, parent.heap);
    for (std::uint32_t i = team.rank(); i < 4 * sides; i += team.size()) {
      const std::uint32_t side = i / (2 * sides), rest = i % (2 * sides), d = rest % sides;
      p.child_boxes[(left + side) * 2 * sides + rest] =
          cut_side(p, box, parent.level, node.bins.dim, split.place, side == 1, rest >= sides, d);
    }
  }
  const std::uint64_t first[2] = {p.shape.geometry.first(p.first_level + p.levels, left),
                                  p.shape.geometry.first(p.first_level + p.levels, left + 1)};
  const std::uint32_t count = list.end() - list.first();
  const std::uint32_t rounds = (count + team.size() - 1) / team.size();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t i = list.first() + round * team.size() + team.rank();
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
  team.sync();
}

}  // namespace kith::cuda
