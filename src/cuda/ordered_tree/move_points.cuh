// Moves the points of each range before or behind its node, in any order: the tree does not depend on it.
#pragma once

#include "cuda/ordered_tree/order_range.cuh"
#include "cuda/primitives/sums_before.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

template <typename T>
std::size_t move_points_bytes(std::uint32_t dims) {
  return (kOrderThreads / kWarp * (kOrderRounds + 1) + 2) * sizeof(std::uint32_t) + 8 + dims * sizeof(T);
}

/// Blocks of ranges.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) move_points(OrderLevel<T> level) {
  enum : std::uint32_t { kLeft = 0, kRight = 1, kNeither = 2 };
  constexpr std::uint32_t kWarps = kOrderThreads / kWarp;
  static_assert(kWarps * kOrderRounds <= kOrderThreads, "a thread per round of a warp");
  static_assert(kOrderThreads == kSumThreads && kOrderTile < 65536);
  std::uint32_t* const counts = reinterpret_cast<std::uint32_t*>(shared_memory());  // [round][warp]
  std::uint32_t* const warp_sums = counts + kWarps * kOrderRounds;
  std::uint32_t* const starts = warp_sums + kWarps;  // [left, right]
  T* const node = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(starts + 2) + 7) / 8 * 8);
  const BlockRange block(level);
  const MiddleSearch<T> search = level.searches[block.range];
  for (std::uint32_t d = thread_number(); d < level.dims; d += kOrderThreads) {
    node[d] = level.from.at(search.place, d);
  }
  const std::uint32_t node_number = level.from.numbers[search.place];
  sync_block();

  const auto place_of = [&](std::uint32_t round) { return block.begin + round * kOrderThreads + thread_number(); };
  // What component 0 does not tell.
  const auto side_of_equal = [&](std::uint32_t p) -> std::uint32_t {
    for (std::uint32_t c = 1; c < level.dims; ++c) {
      const std::uint32_t axis = search.dim + c < level.dims ? search.dim + c : search.dim + c - level.dims;
      const T x = level.from.at(p, axis);
      if (x != node[axis]) return x < node[axis] ? kLeft : kRight;
    }
    return level.from.numbers[p] < node_number ? kLeft : kRight;
  };
  T values[kOrderRounds];  // loads of all rounds are in flight at the same time, here and below
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    const std::uint32_t p = place_of(round);
    values[round] = p < block.end ? level.from.at(p, search.dim) : T(0);
  }
  std::uint32_t to[kOrderRounds];  // the side, then how many of the warp's round are before it, then the place
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    const std::uint32_t p = place_of(round);
    const T split = node[search.dim];
    std::uint32_t side = values[round] < split ? kLeft : kRight;
    if (p >= block.end || p == search.place) {
      side = kNeither;
    } else if (values[round] == split) {
      side = side_of_equal(p);
    }
    const std::uint32_t left = ballot(side == kLeft), right = ballot(side == kRight);
    const std::uint32_t below = (1u << lane_number()) - 1;
    to[round] = side << 8 | count_bits((side == kLeft ? left : right) & below);
    if (lane_number() == 0) counts[round * kWarps + warp_number()] = count_bits(left) | count_bits(right) << 16;
  }
  sync_block();
  const std::uint32_t own = thread_number() < kWarps * kOrderRounds ? counts[thread_number()] : 0;
  std::uint32_t total = 0;
  const std::uint32_t before = sum_before_thread(own, warp_sums, total);
  if (thread_number() < kWarps * kOrderRounds) counts[thread_number()] = before;
  if (thread_number() == 0) {
    starts[kLeft] = block.first + atomic_add(&level.moved[2 * block.range], total & 0xffff);
    starts[kRight] = block.middle + 1 + atomic_add(&level.moved[2 * block.range + 1], total >> 16);
  }
  sync_block();
#pragma unroll
  for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
    const std::uint32_t side = to[round] >> 8;
    const std::uint32_t sums = counts[round * kWarps + warp_number()];
    if (side == kNeither) {
      to[round] = ~0u;
      continue;
    }
    to[round] = starts[side] + (side == kLeft ? sums & 0xffff : sums >> 16) + (to[round] & 0xff);
    level.to.numbers[to[round]] = level.from.numbers[place_of(round)];
  }
  for (std::uint32_t d = 0; d < level.dims; ++d) {
#pragma unroll
    for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
      if (to[round] != ~0u) values[round] = level.from.at(place_of(round), d);
    }
#pragma unroll
    for (std::uint32_t round = 0; round < kOrderRounds; ++round) {
      if (to[round] != ~0u) level.to.at(to[round], d) = values[round];
    }
  }
  if (block.begin == block.first && thread_number() == 0) {
    level.out_points[block.middle] = node_number;
    level.out_dims[block.middle] = search.dim;
  }
}

}  // namespace kith::cuda
