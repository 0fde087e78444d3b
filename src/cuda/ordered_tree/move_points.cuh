// Moves the points of each range before or behind its node, in any order: the tree does not depend on it. Finds the
// boxes of both halves on the way.
#pragma once

#include "cuda/ordered_tree/begin_level.cuh"
#include "cuda/primitives/sums_before.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// What a block has in shared memory.
template <typename T>
struct MoveShared {
  OrderedKey<T>* boxes;  ///< [left, right][complement of the least, greatest][dims]
  T* node;
  T* stage;               ///< [kOrderTile]: one coordinate of the points, left ones first
  std::uint32_t* counts;  ///< [round][warp]
  std::uint32_t* warp_sums;
  std::uint32_t* starts;  ///< [left, right]: where the points of this block go to
  std::size_t bytes;

  __host__ __device__ MoveShared(std::byte* memory, std::uint32_t dims) {
    constexpr std::uint32_t kWarps = kOrderThreads / kWarp;
    boxes = reinterpret_cast<OrderedKey<T>*>(memory);
    node = reinterpret_cast<T*>(boxes + 4 * dims);
    stage = node + dims;
    counts = reinterpret_cast<std::uint32_t*>(stage + kOrderTile);
    warp_sums = counts + kWarps * kOrderRounds;
    starts = warp_sums + kWarps;
    bytes = static_cast<std::size_t>(reinterpret_cast<std::byte*>(starts + 2) - memory);
  }
};

/// Blocks of ranges.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads, sizeof(T) == 4 ? 4 : 3) move_points(OrderLevel<T> level) {
  using Key = OrderedKey<T>;
  enum : std::uint32_t { kLeft = 0, kRight = 1, kNeither = 2 };
  constexpr std::uint32_t kWarps = kOrderThreads / kWarp;
  static_assert(kWarps * kOrderRounds <= kOrderThreads, "a thread per round of a warp");
  static_assert(kOrderThreads == kSumThreads && kOrderTile < 65536);
  if (*level.open != 0) return;
  const MoveShared<T> shared(shared_memory(), level.dims);
  const BlockRange block(level);
  const MiddleSearch<T> search = level.searches[block.range];
  for (std::uint32_t d = thread_number(); d < level.dims; d += kOrderThreads) {
    shared.node[d] = level.from.at(search.place, d);
  }
  for (std::uint32_t i = thread_number(); i < 4 * level.dims; i += kOrderThreads) shared.boxes[i] = 0;
  const std::uint32_t node_number = level.from.numbers[search.place];
  sync_block();

  const auto place_of = [&](std::uint32_t round) { return block.begin + round * kOrderThreads + thread_number(); };
  // What component 0 does not tell.
  const auto side_of_equal = [&](std::uint32_t p) -> std::uint32_t {
    for (std::uint32_t c = 1; c < level.dims; ++c) {
      const std::uint32_t axis = search.dim + c < level.dims ? search.dim + c : search.dim + c - level.dims;
      const T x = level.from.at(p, axis);
      if (x != shared.node[axis]) return x < shared.node[axis] ? kLeft : kRight;
    }
    return level.from.numbers[p] < node_number ? kLeft : kRight;
  };
  const T* const split_values = &level.from.at(place_of(0), search.dim);
  T values[kOrderRounds];  // loads of all rounds are in flight at the same time, here and below
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    values[round] = place_of(round) < block.end ? split_values[round * kOrderThreads] : T(0);
  }
  std::uint32_t to[kOrderRounds];  // the side, then how many of the warp's round are before it, then the place
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    const std::uint32_t p = place_of(round);
    const T split = shared.node[search.dim];
    std::uint32_t side = values[round] < split ? kLeft : kRight;
    if (p >= block.end || p == search.place) {
      side = kNeither;
    } else if (values[round] == split) {
      side = side_of_equal(p);
    }
    const std::uint32_t left = ballot(side == kLeft), right = ballot(side == kRight);
    const std::uint32_t below = (1u << lane_number()) - 1;
    to[round] = side << 8 | count_bits((side == kLeft ? left : right) & below);
    if (lane_number() == 0) shared.counts[round * kWarps + warp_number()] = count_bits(left) | count_bits(right) << 16;
  }
  sync_block();
  const std::uint32_t own = thread_number() < kWarps * kOrderRounds ? shared.counts[thread_number()] : 0;
  std::uint32_t total = 0;
  const std::uint32_t before = sum_before_thread(own, shared.warp_sums, total);
  if (thread_number() < kWarps * kOrderRounds) shared.counts[thread_number()] = before;
  const std::uint32_t lefts = total & 0xffff, all = lefts + (total >> 16);
  if (thread_number() == 0) {
    shared.starts[kLeft] = block.first + atomic_add(&level.moved[2 * block.range], lefts);
    shared.starts[kRight] = block.middle + 1 - lefts + atomic_add(&level.moved[2 * block.range + 1], all - lefts);
  }
  sync_block();
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    const std::uint32_t side = to[round] >> 8, sums = shared.counts[round * kWarps + warp_number()];
    to[round] = side == kLeft    ? (sums & 0xffff) + (to[round] & 0xff)
                : side == kRight ? lefts + (sums >> 16) + (to[round] & 0xff)
                                 : ~0u;
  }
  // In the order of the halves, so that what is written lies side by side.
  const auto write = [&](const auto* stage, auto* out) {
    auto *const left = out + shared.starts[kLeft], *const right = out + shared.starts[kRight];
    for (std::uint32_t place = thread_number(); place < lefts; place += kOrderThreads) left[place] = stage[place];
    for (std::uint32_t place = lefts + thread_number(); place < all; place += kOrderThreads)
      right[place] = stage[place];
    sync_block();
  };
  const std::uint32_t* const numbers = level.from.numbers + place_of(0);
  auto* const staged_numbers = reinterpret_cast<std::uint32_t*>(shared.stage);
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    if (to[round] != ~0u) staged_numbers[to[round]] = numbers[round * kOrderThreads];
  }
  sync_block();
  write(staged_numbers, level.to.numbers);
  for (std::uint32_t d = 0; d < level.dims; ++d) {
    const T* const from = &level.from.at(place_of(0), d);
#pragma unroll
    for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
      if (to[round] != ~0u) values[round] = from[round * kOrderThreads];
    }
    const bool has_box = level.next_boxes != nullptr && (!level.cycles || d == (level.level + 1) % level.dims);
#pragma unroll
    for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
      if (to[round] != ~0u) shared.stage[to[round]] = values[round];
    }
    Key ends[4]{};  // as in a box, of both halves
#pragma unroll
    for (std::uint32_t round = 0; has_box && round < kOrderRounds; ++round) {
      if (to[round] == ~0u) continue;
      const Key key = ordered_key(values[round]), rest = ~key;
      const bool is_left = to[round] < lefts;
      ends[0] = is_left && rest > ends[0] ? rest : ends[0];
      ends[1] = is_left && key > ends[1] ? key : ends[1];
      ends[2] = !is_left && rest > ends[2] ? rest : ends[2];
      ends[3] = !is_left && key > ends[3] ? key : ends[3];
    }
#pragma unroll
    for (std::uint32_t end = 0; has_box && end < 4; ++end) {
      const Key most = max_of_warp(ends[end]);
      if (lane_number() == 0) atomic_max(&shared.boxes[end * level.dims + d], most);
    }
    sync_block();
    write(shared.stage, level.to.values + d * level.to.stride);
  }
  if (level.next_boxes != nullptr) {
    join_boxes(level.next_boxes + std::uint64_t{block.range} * 4 * level.dims, shared.boxes, 4 * level.dims);
  }
  if (block.begin == block.first && thread_number() == 0) {
    level.out_points[block.middle] = node_number;
    level.out_dims[block.middle] = search.dim;
  }
}

}  // namespace kith::cuda
