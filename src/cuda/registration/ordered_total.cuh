// Sums over many items by all blocks of a grid, in the order of core/cloud/ordered_sum.hpp: the bits of the CPU's sums.
#pragma once

#include "core/cloud/ordered_sum.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

/// What a block has in shared memory for it.
template <int N>
struct TotalShared {
  double groups[core::kSumBlock / core::kSumGroup][N];
};

/// Sums by halves over the lanes of a warp, all at once: in each step a lane keeps half of its terms and hands the
/// others to its partner, so that 32 terms take 31 shuffles instead of 160. Lane j gets the sum of term kFirst + j.
template <int kFirst, int N>
__device__ __forceinline__ double sum_of_lanes(const core::Terms<N>& terms) {
  const auto at = [&](int j) { return kFirst + j < N ? terms[static_cast<std::size_t>(kFirst + j)] : 0.0; };
  const std::uint32_t lane = lane_number();
  double kept[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    const bool is_upper = (lane & 16) != 0;
    kept[j] = (is_upper ? at(j + 16) : at(j)) + shuffle_xor(is_upper ? at(j) : at(j + 16), 16);
  }
#pragma unroll
  for (int half = 8; half > 0; half /= 2) {
    const bool is_upper = (lane & static_cast<std::uint32_t>(half)) != 0;
#pragma unroll
    for (int j = 0; j < half; ++j) {
      kept[j] = (is_upper ? kept[j + half] : kept[j]) +
                shuffle_xor(is_upper ? kept[j] : kept[j + half], static_cast<std::uint32_t>(half));
    }
  }
  return kept[0];
}

/// The sums of the terms of a warp's lanes, in the order of a group, to `to`.
template <int N>
__device__ __forceinline__ void add_group(const core::Terms<N>& terms, double* to) {
  constexpr int kTogether = N > 6 ? (N < 32 ? N : 32) : 0;
  if constexpr (kTogether > 0) {
    const double sum = sum_of_lanes<0, N>(terms);
    if (lane_number() < kTogether) to[lane_number()] = sum;
  }
#pragma unroll
  for (int j = kTogether; j < N; ++j) {
    double sum = terms[static_cast<std::size_t>(j)];
#pragma unroll
    for (std::uint32_t half = core::kSumGroup / 2; half > 0; half /= 2) sum += shuffle_xor(sum, half);
    if (lane_number() == 0) to[j] = sum;
  }
}

/// The sum of the terms of the block's threads, to `to` in device or shared memory. The work of a whole block of
/// kSumBlock threads.
template <int N>
__device__ void add_block(core::Terms<N>& terms, TotalShared<N>& shared, double* to) {
  add_group<N>(terms, shared.groups[warp_number()]);
  sync_block();
  if (thread_number() < N) {
    double sum = 0;
    for (const auto& group : shared.groups) sum += group[thread_number()];
    to[thread_number()] = sum;
  }
  sync_block();
}

/// The sum of a group of at most 32 numbers, `step` apart, in its order.
__device__ __forceinline__ double sum_by_halves(const double* items, std::uint32_t step, std::uint32_t count) {
  double kept[core::kSumGroup / 2];
#pragma unroll
  for (std::uint32_t i = 0; i < core::kSumGroup / 2; ++i) {
    const std::uint32_t other = i + core::kSumGroup / 2;
    kept[i] = (i < count ? items[i * step] : 0.0) + (other < count ? items[other * step] : 0.0);
  }
#pragma unroll
  for (std::uint32_t half = core::kSumGroup / 4; half > 0; half /= 2) {
#pragma unroll
    for (std::uint32_t i = 0; i < half; ++i) kept[i] += kept[i + half];
  }
  return kept[0];
}

/// The sum of the sums of at most kSumBlock blocks, of one term: `sums` has one of every `step` numbers.
__device__ __forceinline__ double sum_of_few_blocks(const double* sums, std::uint32_t step, std::uint32_t blocks) {
  if (blocks == 1) return sums[0];
  double sum = 0;
#pragma unroll 1
  for (std::uint32_t first = 0; first < blocks; first += core::kSumGroup) {
    sum += sum_by_halves(sums + std::uint64_t{first} * step, step, blocks - first);
  }
  return sum;
}

__device__ __forceinline__ double load_fresh_number(const double* from) {
  return std::bit_cast<double>(load_fresh(reinterpret_cast<const std::uint64_t*>(from)));
}

/// Adds the sums of blocks level by level; returns where the total is. The work of one block, when all sums of blocks
/// are there and visible.
template <int N>
__device__ const double* add_levels(double* sums, std::uint64_t items, TotalShared<N>& shared) {
  std::uint64_t count = core::sum_blocks(items);
  while (count > 1) {
    double* const next = sums + count * N;
    const std::uint64_t blocks = core::sum_blocks(count);
    for (std::uint64_t b = 0; b < blocks; ++b) {
      core::Terms<N> terms{};
      const std::uint64_t item = b * core::kSumBlock + thread_number();
      if (item < count) {
#pragma unroll
        for (int j = 0; j < N; ++j) terms[static_cast<std::size_t>(j)] = load_fresh_number(sums + item * N + j);
      }
      add_block<N>(terms, shared, next + b * N);
    }
    fence_device();
    sync_block();
    sums = next;
    count = blocks;
  }
  return sums;
}

}  // namespace kith::cuda
