// Moves the points of a segment to the nodes `levels` below it, coordinate by coordinate, in runs.
//
// A tile of points is ranked by node in shared memory, room is reserved once per tile and node, and each coordinate is
// staged so that neighbouring lanes write neighbouring words. Points in a median's cells wait for its exact split:
// place_candidates.cuh moves them. Where cells refine ties, points are compared with what the cells of the median say,
// tied_bounds.cuh, and their own are not computed.
#pragma once

#include "cuda/kd_tree/build/passes/decide_nodes.cuh"
#include "cuda/kd_tree/build/scatter/found_candidates.cuh"
#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/ties/tied_bounds.cuh"

namespace kith::cuda {

/// Points per thread and tile, in vectors: as many as fit in registers with their coordinates, if those are few.
template <typename T, std::uint32_t kDims>
inline constexpr std::uint32_t kScatterEach = kDims * sizeof(T) <= 16 ? 8 : 4;

template <std::uint32_t kEach>
struct ScatterCells {
  std::uint32_t counts[kHeap];
  std::uint32_t offsets[kHeap];                ///< in the tile
  std::uint32_t places[kHeap];                 ///< where the tile's points of a node go, less the offset; modulo 2^32
  std::uint32_t staged;                        ///< points in the tile that move
  std::uint8_t node[kEach * kScatterThreads];  ///< of each staged point
};

/// A warp has room for all its points of a tile, should they be candidates.
template <typename T, std::uint32_t kDims>
inline constexpr std::uint32_t kCapacityInTile = kScatterEach<T, kDims> * 32;

template <typename T, std::uint32_t kDims>
inline constexpr std::size_t kScatterCells = behind_found<T, kCapacityInTile<T, kDims>>(kScatterThreads);
template <typename T, std::uint32_t kDims>
inline constexpr std::size_t kScatterStage = kScatterCells<T, kDims> +
                                             (sizeof(ScatterCells<kScatterEach<T, kDims>>) + 15) / 16 * 16;

/// Slots of the tile's nodes in the tile and in the output. The work of one warp.
template <typename T, typename Cells>
__device__ void reserve_slots(const GroupParameters<T>& p, std::uint32_t segment, Cells& cells) {
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

/// What a block knows of ties.
template <typename T, std::uint32_t kDims>
struct TiesInTile {
  static constexpr std::uint32_t kMostDims = kDims > 0 ? kDims : kTabledDims;

  TiedBounds<T, kMostDims> bounds;
  CellScale<T> scales[kMostDims + 1];
};

template <typename T, std::uint32_t kDims>
inline constexpr std::size_t kScatterTies = (kScatterStage<T, kDims> +
                                             sizeof(T) * kScatterEach<T, kDims> * kScatterThreads + 15) /
                                            16 * 16;

template <typename T, std::uint32_t kDims>
KITH_HOST_DEVICE std::size_t scatter_shared_bytes() {
  return kScatterTies<T, kDims> + sizeof(TiesInTile<T, kDims>);
}

template <typename T, std::uint32_t kDims>
__device__ __forceinline__ TiesInTile<T, kDims>& ties_in_tile() {
  return *reinterpret_cast<TiesInTile<T, kDims>*>(shared_memory() + kScatterTies<T, kDims>);
}

/// The block must synchronise afterwards.
template <std::uint32_t kDims, typename T>
__device__ __forceinline__ void load_ties(const GroupParameters<T>& p, std::uint32_t segment) {
  constexpr std::uint32_t kNodes = TiedBounds<T>::kNodes;
  TiesInTile<T, kDims>& ties = ties_in_tile<T, kDims>();
  const TiedBounds<T>& from = p.tied_bounds[segment];
  const std::uint32_t dims = kDims > 0 ? kDims : p.shape.dims, node = thread_number() % kNodes;
  const bool exists = node < 1u << (p.levels - 1);
  for (std::uint32_t row = thread_number() / kNodes; exists && row < 2 * dims; row += kScatterThreads / kNodes) {
    const std::uint32_t side = row / dims, stage = row - side * dims;
    ties.bounds.low[side][stage][node] = from.low[side][stage][node];
    ties.bounds.high[side][stage][node] = from.high[side][stage][node];
  }
  if (exists && thread_number() < 2 * kNodes) {
    const std::uint32_t side = thread_number() / kNodes;
    ties.bounds.stages[side][node] = from.stages[side][node];
    ties.bounds.dim[side][node] = from.dim[side][node];
    ties.bounds.cell[side][node] = from.cell[side][node];
  }
  if (thread_number() <= dims) ties.scales[thread_number()] = p.ties[segment].scales[thread_number()];
}

/// Where the point at a place lies, seen from the median of a node, `parent`, if cells refine ties: two bits.
template <std::uint32_t kDims, typename T>
KITH_NOINLINE __device__ std::uint32_t side_by_ties(const PointSource<T>& source, std::uint32_t of_dims,
                                                    std::uint32_t parent, std::uint32_t place) {
  constexpr std::uint32_t kNear = kDims > 0 ? kDims : 4;  // coordinates that are on their way together
  const TiesInTile<T, kDims>& ties = ties_in_tile<T, kDims>();
  const std::uint32_t dims = kDims > 0 ? kDims : of_dims, dim = node_tables<T>().parent_dim(parent);
  T near[kNear];
#pragma unroll
  for (std::uint32_t d = 0; d < kNear; ++d) near[d] = d < dims ? source.at(place, d) : T(0);
  const auto number = static_cast<T>(source.index(place));
  const auto coordinate_of = [&](std::uint32_t d) {
    if (d == dims) return number;
    if (kDims == 0 && d >= kNear) return source.at(place, d);
    T x = near[0];
#pragma unroll
    for (std::uint32_t i = 1; i < kNear; ++i) x = d == i ? near[i] : x;
    return x;
  };
  const auto at = [&](std::uint32_t stage) {
    return coordinate_of(dim + stage < dims ? dim + stage : dim + stage - dims);
  };
  const auto plain = [&](std::uint32_t d) { return cell_of(ties.scales[d], coordinate_of(d)); };
  if (is_outside<0>(ties.bounds, parent, at, plain)) return 0;
  return is_outside<1>(ties.bounds, parent, at, plain) ? SideOfCells::kRight : SideOfCells::kAmong;
}

/// The same for the points of a thread. Only those between the values among which the split of their node lies need a
/// closer look.
template <std::uint32_t kDims, std::uint32_t kEach, typename T, typename PlaceOf, typename IsInside>
__device__ __forceinline__ std::uint32_t sides_by_ties(const GroupParameters<T>& p, const std::uint32_t (&node)[kEach],
                                                       const PlaceOf& place_of, const IsInside& is_inside) {
  const NodeTables<T>& tables = node_tables<T>();
  const std::uint32_t dims = p.shape.dims, parents = 1u << (p.levels - 1);
  std::uint32_t sides = 0, open = 0, nodes[2] = {};
  T x[kEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t parent = node[k] - parents, dim = tables.parent_dim(parent);
    nodes[k / 4] |= parent << (8 * (k % 4));
    x[k] = 0;
    if (is_inside(k)) x[k] = coordinate(p.source, dims, place_of(k), dim);
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t parent = node[k] - parents;
    const bool is_right = x[k] > tables.parent_scales[parent], is_left = x[k] < tables.parent_lows[parent];
    if (is_right) sides |= SideOfCells::kRight << (2 * k);
    if (is_inside(k) && !is_right && !is_left) open |= 1u << k;
  }
#pragma unroll 1
  for (; open != 0; open &= open - 1) {
    const std::uint32_t k = lowest_bit(open);
    sides |= side_by_ties<kDims>(p.source, dims, nodes[k / 4] >> (8 * (k % 4)) & 0xff, place_of(k)) << (2 * k);
  }
  return sides;
}

/// Moves the points [low, end) of a segment in the tile that begins at `tile`. `kWhole`: the tile is full. `kTied`:
/// cells refine ties.
template <bool kWhole, bool kTied, typename T, std::uint32_t kDims, Layout kLayout>
__device__ __forceinline__ void scatter_tile(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t tile,
                                             std::uint32_t low, std::uint32_t end) {
  constexpr std::uint32_t kWaits = 0xffffffffu, kEach = kScatterEach<T, kDims>, kVector = kTogether<T>;
  const NodeTables<T>& tables = node_tables<T>();
  auto& cells = *reinterpret_cast<ScatterCells<kEach>*>(shared_memory() + kScatterCells<T, kDims>);
  T* stage = reinterpret_cast<T*>(shared_memory() + kScatterStage<T, kDims>);
  auto* staged_numbers = reinterpret_cast<std::uint32_t*>(stage);
  const std::uint32_t dims = kDims > 0 ? kDims : p.shape.dims;
  const std::uint32_t parents = 1u << (p.levels - 1);
  const std::uint32_t own = tile + thread_number() * kVector;
  const auto place_of = [&](std::uint32_t k) { return own + k / kVector * (kVector * kScatterThreads) + k % kVector; };
  const auto is_inside = [&](std::uint32_t k) { return kWhole || (place_of(k) >= low && place_of(k) < end); };
  LoadedPoints<T, kDims, kLayout> points[kEach / kVector];
  const auto load_points = [&] {
#pragma unroll
    for (std::uint32_t v = 0; v < kEach / kVector; ++v) {
      points[v].template load<kWhole>(p.source, place_of(v * kVector), low, end);
    }
  };
  if constexpr (!kTied) load_points();
  const auto value = [&](std::uint32_t k, std::uint32_t d) { return points[k / kVector].at(k % kVector, d); };
  std::uint32_t node[kEach];
#pragma unroll
  for (std::uint32_t v = 0; v < kEach / kVector; ++v) {
    std::uint8_t heap[kVector];
    if constexpr (kWhole) {
      if (p.levels > 1) load_vector(p.heap + place_of(v * kVector), heap);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kVector; ++i) {
      const std::uint32_t k = v * kVector + i;
      if constexpr (!kWhole) {
        if (p.levels > 1 && is_inside(k)) heap[i] = p.heap[place_of(k)];
      }
      node[k] = p.levels > 1 && is_inside(k) ? heap[i] : parents;
    }
  }
  if constexpr (kTied) load_ties<kDims>(p, segment);
  load_tables(p, segment, p.levels);
  bool is_undecided = false;
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) is_undecided = is_undecided || node[k] < parents;
  if (is_undecided) {
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) node[k] = decided_heap(p, parents, place_of(k), node[k]);
  }
  [[maybe_unused]] std::uint32_t tied_sides = 0;
  if constexpr (kTied) {  // before there are coordinates to be kept meanwhile
    tied_sides = sides_by_ties<kDims>(p, node, place_of, is_inside);
    load_points();
  }
  sync_warp();
  // First the node to which a point goes and its rank there, then its place in the stage. Candidates wait.
  std::uint32_t place[kEach];
  std::uint32_t found = 0;
#pragma unroll
  for (std::uint32_t v = 0; v < kEach / kVector; ++v) {
    std::uint32_t parent_nodes[kVector], candidates = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kVector; ++i) {
      const std::uint32_t k = v * kVector + i;
      parent_nodes[i] = node[k] - parents;
      const std::uint32_t parent = parent_nodes[i], dim = tables.parent_dim(parent);
      T x = 0;
      if (is_inside(k)) x = dim == dims ? static_cast<T>(p.source.index(place_of(k))) : value(k, dim);
      const SideOfCells side = [&] {
        if constexpr (kTied) return SideOfCells(tied_sides >> (2 * k));
        const CellScale<T> scale{tables.parent_lows[parent], tables.parent_scales[parent]};
        return SideOfCells(tables.parents[parent], cell_of(scale, x));
      }();
      const bool is_candidate = is_inside(k) && side.is_among;
      if (is_candidate) candidates |= 1u << i;
      const bool moves = is_inside(k) && !is_candidate;
      const std::uint32_t to = moves ? 2 * parent + (side.is_right ? 1 : 0) : kWaits;
      std::uint32_t rank = 0;
      if (all_lanes_equal(to)) {  // sorted input: one addition for the warp
        if (lane_number() == 0 && moves) rank = atomic_add(&cells.counts[to], kWarp);
        rank = shuffle(rank, 0) + lane_number();
      } else if (moves) {
        rank = atomic_add(&cells.counts[to], 1u);
      }
      sync_warp();
      place[k] = moves ? to << 16 | rank : kWaits;
    }
    const auto value_in_vector = [&](std::uint32_t i, std::uint32_t d) { return points[v].at(i, d); };
    note_candidates<kCapacityInTile<T, kDims>, true, kTied>(p, segment, p.levels - 1, candidates, parent_nodes,
                                                            value_in_vector, place_of(v * kVector), found);
  }
  sync_block();
  if (warp_number() == 0) reserve_slots(p, segment, cells);
  sync_block();
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    if (place[k] != kWaits) {
      const std::uint32_t to = place[k] >> 16;
      place[k] = cells.offsets[to] + (place[k] & 0xffffu);
      cells.node[place[k]] = static_cast<std::uint8_t>(to);
    }
  }
  const std::uint32_t staged = cells.staged;
  std::uint32_t to[kEach];
  const auto move_column = [&](std::uint32_t d) {
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (place[k] != kWaits) stage[place[k]] = value(k, d);
    }
    sync_block();
    if (d == 0) {
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        const std::uint32_t from = thread_number() + k * kScatterThreads;
        to[k] = from < staged ? cells.places[cells.node[from]] + from : 0;
      }
    }
    T* column = p.out_values + d * p.out_stride;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (thread_number() + k * kScatterThreads < staged) column[to[k]] = stage[thread_number() + k * kScatterThreads];
    }
    sync_block();
  };
  if constexpr (kDims > 0) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) move_column(d);
  } else {
    for (std::uint32_t d = 0; d < dims; ++d) move_column(d);
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    if (place[k] != kWaits) staged_numbers[place[k]] = p.source.index(place_of(k));
  }
  sync_block();
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t from = thread_number() + k * kScatterThreads;
    if (from < staged) p.out_indices[to[k]] = staged_numbers[from];
  }
  if (found > 0) list_candidates<kCapacityInTile<T, kDims>, true>(p, segment, p.levels - 1, found);
}

/// Moves the tile at `begin` of a segment.
template <bool kTied, typename T, std::uint32_t kDims, Layout kLayout>
__device__ __forceinline__ void scatter_any_tile(const GroupParameters<T>& p, const SegmentSlice& segment,
                                                 std::uint64_t begin) {
  constexpr std::uint32_t kTile = kScatterEach<T, kDims> * kScatterThreads;
  const auto tile = static_cast<std::uint32_t>(begin), low = static_cast<std::uint32_t>(segment.first);
  const auto end = static_cast<std::uint32_t>(segment.end);
  if (begin >= segment.first && segment.end - begin >= kTile) {
    scatter_tile<true, kTied, T, kDims, kLayout>(p, segment.segment, tile, low, end);
  } else {
    const std::uint32_t tile_end = end - tile < kTile ? end : tile + kTile;
    scatter_tile<false, kTied, T, kDims, kLayout>(p, segment.segment, tile, low, tile_end);
  }
}

/// The same where cells refine ties, out of the way of others.
template <typename T, std::uint32_t kDims, Layout kLayout>
KITH_NOINLINE __device__ void scatter_tied_tile(const GroupParameters<T>& p, const SegmentSlice segment,
                                                std::uint64_t begin) {
  scatter_any_tile<true, T, kDims, kLayout>(p, segment, begin);
}

/// A block for each tile; `tiles` of them for each segment.
template <typename T, std::uint32_t kDims, Layout kLayout>
__global__ void __launch_bounds__(kScatterThreads, 4)
    scatter_points(const __grid_constant__ GroupParameters<T> p, std::uint32_t tiles) {
  constexpr std::uint32_t kEach = kScatterEach<T, kDims>, kTile = kEach * kScatterThreads;
  auto& cells = *reinterpret_cast<ScatterCells<kEach>*>(shared_memory() + kScatterCells<T, kDims>);
  if (thread_number() < kHeap) cells.counts[thread_number()] = 0;
  const SegmentSlice segment = slice_of(p, block_number() / tiles, 0, 1);
  start_next();
  wait_for_previous();
  // Tiles begin where vectors do.
  const std::uint64_t begin =
      segment.first / kTogether<T> * kTogether<T> + std::uint64_t{block_number() % tiles} * kTile;
  if (begin >= segment.end) return;
  if (is_tied(p, segment.segment)) return scatter_tied_tile<T, kDims, kLayout>(p, segment, begin);
  scatter_any_tile<false, T, kDims, kLayout>(p, segment, begin);
}

}  // namespace kith::cuda
