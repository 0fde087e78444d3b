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

/// The sum of the terms of the block's threads, to `to` in device memory. The work of a whole block of kSumBlock
/// threads.
template <int N>
__device__ void add_block(core::Terms<N>& terms, TotalShared<N>& shared, double* to) {
#pragma unroll
  for (int j = 0; j < N; ++j) {
    double sum = terms[static_cast<std::size_t>(j)];
#pragma unroll
    for (std::uint32_t half = core::kSumGroup / 2; half > 0; half /= 2) sum += shuffle_xor(sum, half);
    if (lane_number() == 0) shared.groups[warp_number()][j] = sum;
  }
  sync_block();
  if (thread_number() < N) {
    double sum = 0;
    for (const auto& group : shared.groups) sum += group[thread_number()];
    to[thread_number()] = sum;
  }
  sync_block();
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
