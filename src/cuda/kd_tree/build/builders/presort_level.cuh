// A level of `presort`: nodes are cut in the middle of the order of their dimension, all orders are divided stably.
//
// Per point and level, D dims: 4 D bytes are read and written, D - 1 bits are looked up at random, half a bit is set.
#pragma once

#include "cuda/kd_tree/build/builders/node_split.cuh"
#include "cuda/kd_tree/build/builders/presort_plan.hpp"

namespace kith::cuda {

/// The nodes of a level and their orders.
template <typename T>
struct PresortLevel {
  ArrangeTask<T> task;
  std::uint32_t level = 0;
  std::uint64_t stride = 0;
  const std::uint32_t* orders = nullptr;  ///< [dimension][place]
  std::uint32_t* divided = nullptr;       ///< the same: of the next level
  std::uint32_t* sides = nullptr;
  std::uint64_t* tiles = nullptr;

  __device__ std::uint64_t first(std::uint64_t j) const { return task.shape.geometry.first(level, j); }
  __device__ std::uint64_t middle(std::uint64_t j) const { return task.shape.geometry.first(level + 1, 2 * j + 1); }
  __device__ std::uint32_t dim(std::uint64_t j) const { return task.tree.split_dims[core::KdGeometry::node(level, j)]; }
};

/// The split of a node of which `point(d, place)` is the number of a point, by its place in the order of a dimension.
template <typename T, typename Point>
__device__ std::uint32_t split_presorted(const ArrangeTask<T>& task, std::uint32_t level, std::uint64_t j,
                                         std::uint64_t begin, std::uint64_t middle, std::uint64_t end, Point&& point) {
  T* const box = task.box(level, j);
  const std::uint32_t dims = task.shape.dims;
  if (is_tight_level(level)) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      box[d] = task.source.at(point(d, begin), d) + T(0);
      box[dims + d] = task.source.at(point(d, end - 1), d) + T(0);
    }
  }
  const std::uint32_t d = split_dim_of(task.shape, level, box);
  write_split(task, level, j, d, middle == end ? box[dims + d] : task.source.at(point(d, middle), d));
  return d;
}

/// A thread per node, or for several if they are very many.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads) split_presorted_nodes(PresortLevel<T> p) {
  const std::uint64_t nodes = std::uint64_t{1} << p.level, stride = std::uint64_t{blocks_in_grid()} * kPresortThreads;
  for (std::uint64_t j = std::uint64_t{block_number()} * kPresortThreads + thread_number(); j < nodes; j += stride) {
    split_presorted(p.task, p.level, j, p.first(j), p.middle(j), p.first(j + 1),
                    [&](std::uint32_t d, std::uint64_t place) { return p.orders[d * p.stride + place]; });
  }
}

/// The places of a node that a block takes: those of one tile of `tiles`.
struct TileOfNode {
  std::uint64_t j = 0;
  std::uint64_t begin = 0, end = 0;

  /// Of the places [first, last) of node j.
  __device__ TileOfNode(std::uint64_t node, std::uint64_t first, std::uint64_t last, std::uint64_t tile,
                        std::uint64_t tiles)
      : j(node), begin(first + (last - first) * tile / tiles), end(first + (last - first) * (tile + 1) / tiles) {}
};

/// Blocks of nodes: the points right of the middle set their bits, which are 0.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads) mark_right_halves(PresortLevel<T> p, std::uint32_t tiles) {
  const std::uint64_t j = block_number() / tiles;
  const TileOfNode tile(j, p.middle(j), p.first(j + 1), block_number() % tiles, tiles);
  const std::uint32_t* const order = p.orders + p.dim(j) * p.stride;
  for (std::uint64_t i = tile.begin + thread_number(); i < tile.end; i += kPresortThreads) {
    const std::uint32_t number = order[i];
    atomic_or(&p.sides[number / 32], 1u << number % 32);
  }
}

/// What a tile tells those behind it: points that go left, of its own or of all before it in its node and its own.
struct TileWord {
  enum : std::uint32_t { kOwn, kAll };

  /// Never that of another level.
  __device__ static std::uint64_t of(std::uint32_t level, std::uint32_t kind, std::uint32_t count) {
    return std::uint64_t{2 * level + 2 + kind} << 32 | count;
  }
  __device__ static bool is_there(std::uint64_t word, std::uint32_t level) {
    return static_cast<std::uint32_t>(word >> 33) == level + 1;
  }
  __device__ static bool is_all(std::uint64_t word) { return (word >> 32 & 1) != 0; }
};

/// How many points of the tiles before this one go left, those of one node: the words of up to 32 tiles at a time are
/// looked at until one tells of all before it. The work of one warp; `own` is this tile's count.
__device__ inline std::uint32_t left_before_tile(std::uint64_t* words, std::uint32_t tile, std::uint32_t level,
                                                 std::uint32_t own) {
  if (lane_number() == 0) {
    store_now(words + tile, TileWord::of(level, tile == 0 ? TileWord::kAll : TileWord::kOwn, own));
  }
  std::uint32_t before = 0;
  for (std::uint32_t end = tile; end > 0;) {
    const bool exists = lane_number() < end;
    std::uint64_t word = 0;
    for (;;) {
      if (exists && !TileWord::is_there(word, level)) word = load_now(words + end - 1 - lane_number());
      if (!any_lane(exists && !TileWord::is_there(word, level))) break;
      wait_a_little();
    }
    const std::uint32_t all = ballot(exists && TileWord::is_all(word));
    const std::uint32_t last = all == 0 ? kWarp - 1 : lowest_bit(all);  // nothing behind it counts
    before += sum_of_warp(exists && lane_number() <= last ? static_cast<std::uint32_t>(word) : 0);
    if (all != 0 || end <= kWarp) break;
    end -= kWarp;
  }
  if (tile > 0 && lane_number() == 0) store_now(words + tile, TileWord::of(level, TileWord::kAll, before + own));
  return before;
}

/// A block per dimension, node and tile, in this order, so that those wait which come later. Each warp has kPresortEach
/// rows of places side by side.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads) divide_orders(PresortLevel<T> p, std::uint32_t tiles) {
  constexpr std::uint32_t kWarps = kPresortThreads / kWarp;
  std::uint32_t* const lefts = reinterpret_cast<std::uint32_t*>(shared_memory());  // of each warp, and of tiles before
  const std::uint32_t tile_number = block_number() % tiles, node = block_number() / tiles;
  const std::uint32_t d = node >> p.level;
  const std::uint64_t j = node & ((std::uint64_t{1} << p.level) - 1), first = p.first(j), middle = p.middle(j);
  const TileOfNode tile(j, first, p.first(j + 1), tile_number, tiles);
  const std::uint32_t* const order = p.orders + d * p.stride;
  std::uint32_t* const divided = p.divided + d * p.stride;
  const std::uint64_t begin = tile.begin + warp_number() * (kPresortEach * kWarp) + lane_number();
  std::uint32_t number[kPresortEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kPresortEach; ++k) {
    const std::uint64_t i = begin + k * kWarp;
    number[k] = i < tile.end ? order[i] : 0;
  }
  if (d == p.dim(j)) {  // it is divided already
#pragma unroll
    for (std::uint32_t k = 0; k < kPresortEach; ++k) {
      if (begin + k * kWarp < tile.end) divided[begin + k * kWarp] = number[k];
    }
    return;
  }
  std::uint32_t word[kPresortEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kPresortEach; ++k) word[k] = p.sides[number[k] / 32];
  std::uint32_t own = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kPresortEach; ++k) {
    word[k] = ballot(begin + k * kWarp < tile.end && (word[k] >> number[k] % 32 & 1) == 0);
    own += count_bits(word[k]);
  }
  if (lane_number() == 0) lefts[warp_number()] = own;
  sync_block();
  std::uint32_t before = 0, all = 0;
#pragma unroll
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    before += warp < warp_number() ? lefts[warp] : 0;
    all += lefts[warp];
  }
  if (tiles > 1) {
    if (warp_number() == 0) {
      const std::uint32_t sum = left_before_tile(p.tiles + std::uint64_t{node} * tiles, tile_number, p.level, all);
      if (lane_number() == 0) lefts[kWarps] = sum;
    }
    sync_block();
    before += lefts[kWarps];
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kPresortEach; ++k) {
    const std::uint64_t i = begin + k * kWarp;
    const std::uint32_t mine = before + count_bits(word[k] & ((1u << lane_number()) - 1));
    before += count_bits(word[k]);
    if (i >= tile.end) continue;
    divided[(word[k] >> lane_number() & 1) != 0 ? first + mine : middle + (i - first - mine)] = number[k];
  }
}

/// Blocks of nodes, instead of dividing orders where halves are leaves: these are in the order of their node's
/// dimension. `numbers` may be the first of the orders.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads)
    take_leaves(PresortLevel<T> p, std::uint32_t tiles, std::uint32_t* numbers) {
  const std::uint64_t j = block_number() / tiles;
  const TileOfNode tile(j, p.first(j), p.first(j + 1), block_number() % tiles, tiles);
  const std::uint32_t* const order = p.orders + p.dim(j) * p.stride;
  for (std::uint64_t i = tile.begin + thread_number(); i < tile.end; i += kPresortThreads) numbers[i] = order[i];
}

}  // namespace kith::cuda
