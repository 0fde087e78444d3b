// Packs points for the filter whose sums are halves (half_sum_bound.hpp): a thread per row.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/brute_force/filter/half_sum_bound.hpp"
#include "cuda/brute_force/filter/half_sum_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kHalfSumPackThreads = 256;
inline constexpr std::uint16_t kMinusInfinityHalf = 0xfc00;

struct alignas(16) EightHalves {
  std::uint16_t values[8];
};

/// All rows, and those that fill up the last block.
template <typename Task>
__global__ void __launch_bounds__(kHalfSumPackThreads) pack_half_sum_rows(Task task) {
  const std::uint32_t dims = task.points.dims, padded_dims = product_padded_dims(dims);
  const HalfSumBound bound(dims, padded_dims / kProductDims * kHalfSumRoundings);
  const float scale = *task.scale;
  const float inverse = is_half_sum_scale(scale) ? 1 / scale : 0;
  const std::uint64_t capacity = padded_product_rows(task.points.count);
  for (std::uint64_t i = std::uint64_t{block_number()} * kHalfSumPackThreads + thread_number(); i < capacity;
       i += std::uint64_t{blocks_in_grid()} * kHalfSumPackThreads) {
    const bool is_row = i < task.points.count;
    const float* row = task.points.rows + (is_row ? i * dims : 0);
    float largest = 0, squared_length = 0;
    for (std::uint32_t d = 0; is_row && d < dims; ++d) {
      const float x = row[d] - task.centre[d];
      largest = core::larger(largest, core::absolute(x));
      squared_length = core::fused_multiply_add(x, x, squared_length);
    }
    const bool is_packed = is_row && inverse != 0 && largest < kHalfSumPointReach * scale;
    for (std::uint32_t first = 0; first < padded_dims; first += 8) {
      EightHalves eight{};
      for (std::uint32_t k = 0; is_packed && k < 8 && first + k < dims; ++k) {
        eight.values[k] = to_half_bits((row[first + k] - task.centre[first + k]) * inverse);
      }
      *reinterpret_cast<EightHalves*>(task.values + i * padded_dims + first) = eight;
    }
    const float term = is_packed ? bound.term_of(squared_length, scale) : kLeastHalfSumTerm;
    for (const std::uint64_t place : {term_place(i), term_place(i) + 2}) {
      task.terms[place] = is_row ? to_half_bits_up(term) : kMinusInfinityHalf;
    }
  }
}

template <typename Launch>
void launch_pack_half_sum_rows(const HalfSumPackTask& task, Launch&& launch) {
  if (task.points.count == 0) return;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint64_t blocks = padded_product_rows(task.points.count) / kHalfSumPackThreads;
  launch(pack_half_sum_rows<HalfSumPackTask>, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)),
         kHalfSumPackThreads, std::size_t{0}, task);
}

}  // namespace kith::cuda
