// Packs rows for products on tensor cores: a centre, then halves, terms and scales about it (product_types.hpp).
//
// A warp packs a row: 4 dims to a lane at a time. Bytes per row: 4 per dim are read (twice above 128 dims, the second
// time from the cache), 2 per dim written, 8 for term and scale.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/brute_force/filter/half_sum_bound.hpp"
#include "cuda/brute_force/filter/product_bound.hpp"
#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// The centre is the mean of so many rows, spread over all.
inline constexpr std::uint64_t kCentreRows = 4096;
inline constexpr std::uint32_t kCentreThreads = 1024;
inline constexpr std::uint32_t kPackThreads = 256;

struct alignas(16) FourFloats {
  float values[4];
};
struct alignas(8) FourHalves {
  std::uint16_t values[4];
};

/// A block takes 32 columns; its warps take rows. Any centre is right; one that makes rows short lets few pairs pass.
/// It is the mean, but not of values that are far off: after each round those beyond some mean deviations are left out.
/// The scale, if it is wanted, suits the largest mean deviation of the first 32 columns.
template <typename T>
__global__ void __launch_bounds__(kCentreThreads)
    find_centre(const T* rows, std::uint64_t count, std::uint32_t dims, T* centre, float* scale) {
  constexpr int kRounds = 4;
  constexpr double kDeviations = 4;
  struct Column {
    double sum, deviations, count;
  };
  auto* parts = reinterpret_cast<Column*>(shared_memory());  // [warp][lane]
  const std::uint64_t taken = count < kCentreRows ? count : kCentreRows;
  const std::uint32_t column = block_number() * kWarp + lane_number();
  const std::uint32_t warps = threads_per_block() / kWarp;
  double middle = 0, reach = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    Column part{};
    if (column < dims) {
#pragma unroll 4
      for (std::uint64_t i = warp_number(); i < taken; i += warps) {
        const double offset = static_cast<double>(rows[i * count / taken * dims + column]) - middle;
        const bool is_near = core::absolute(offset) <= reach;
        part.sum += is_near ? offset : 0;
        part.deviations += is_near ? core::absolute(offset) : 0;
        part.count += is_near ? 1 : 0;
      }
    }
    parts[thread_number()] = part;
    sync_block();
    Column all{};
    for (std::uint32_t w = 0; w < warps; ++w) {
      const Column& other = parts[w * kWarp + lane_number()];
      all.sum += other.sum;
      all.deviations += other.deviations;
      all.count += other.count;
    }
    sync_block();
    if (all.count > 0) {
      middle += all.sum / all.count;
      reach = kDeviations * all.deviations / all.count;
    }
  }
  if (warp_number() != 0) return;
  if (column < dims) centre[column] = static_cast<T>(middle);
  if (scale == nullptr || block_number() != 0) return;
  const float deviation = column < dims ? static_cast<float>(reach / kDeviations) : 0.0f;
  const std::uint32_t largest = max_of_warp(std::bit_cast<std::uint32_t>(deviation));
  if (lane_number() == 0) *scale = half_sum_scale(std::bit_cast<float>(largest));
}
inline constexpr std::size_t kCentreSharedBytes = kCentreThreads * 3 * sizeof(double);

/// Four coordinates of a row less those of the centre; zeros beyond the dims.
template <bool kAligned>
__device__ FourFloats load_centred(const PackTask& task, const float* row, std::uint32_t dim) {
  FourFloats four{};
  if (kAligned && dim + 4 <= task.dims) {
    four = *reinterpret_cast<const FourFloats*>(row + dim);
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) four.values[i] = four.values[i] - task.centre[dim + i];
  } else {
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (dim + i < task.dims) four.values[i] = row[dim + i] - task.centre[dim + i];
    }
  }
  return four;
}

/// All rows, and those that fill up the last block: zeros, which must not be found.
template <bool kAligned>
__global__ void __launch_bounds__(kPackThreads) pack_rows(PackTask task) {
  const std::uint64_t count = task.chosen_count == nullptr ? task.count : *task.chosen_count;
  const std::uint64_t capacity = padded_product_rows(task.count);
  const std::uint32_t padded_dims = product_padded_dims(task.dims);
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * (kPackThreads / kWarp);
  for (std::uint64_t i = std::uint64_t{block_number()} * (kPackThreads / kWarp) + warp_number(); i < capacity;
       i += warps) {
    const bool is_row = i < count;
    const float* row =
        task.rows + (is_row ? (task.chosen == nullptr ? i : std::uint64_t{task.chosen[i]}) * task.row_stride : 0);
    FourFloats first{};
    float largest = 0, squared_length = 0;
    for (std::uint32_t dim = 4 * lane_number(); is_row && dim < task.dims; dim += 4 * kWarp) {
      const FourFloats four = load_centred<kAligned>(task, row, dim);
      if (dim == 4 * lane_number()) first = four;
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k) {
        largest = core::larger(largest, core::absolute(four.values[k]));
        squared_length = core::fused_multiply_add(four.values[k], four.values[k], squared_length);
      }
    }
    for (std::uint32_t step = 1; step < kWarp; step *= 2) squared_length += shuffle_xor(squared_length, step);
    largest = std::bit_cast<float>(max_of_warp(std::bit_cast<std::uint32_t>(largest)));
    const bool is_packed = is_row && has_product(squared_length);
    const std::int32_t exponent = is_packed ? product_exponent(largest) : 0;
    const float factor = power_of_two(-exponent);
    for (std::uint32_t dim = 4 * lane_number(); dim < padded_dims; dim += 4 * kWarp) {
      FourFloats four = first;
      if (is_row && dim != 4 * lane_number()) four = load_centred<kAligned>(task, row, dim);
      FourHalves halves;
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k) halves.values[k] = is_packed ? to_half_bits(four.values[k] * factor) : 0;
      *reinterpret_cast<FourHalves*>(task.values + i * padded_dims + dim) = halves;
    }
    if (lane_number() == 0) {
      task.terms[i] = is_row ? product_term(squared_length, task.dims) : std::numeric_limits<float>::infinity();
      task.scales[i] = power_of_two(exponent);
    }
  }
}

/// `scale` may be null.
template <typename Launch>
void launch_find_centre(const ScanPoints<float>& points, float* centre, float* scale, Launch&& launch) {
  if (points.count == 0) return;
  launch(find_centre<float>, (points.dims + kWarp - 1) / kWarp, kCentreThreads, kCentreSharedBytes, points.rows,
         points.count, points.dims, centre, scale);
}

template <typename Launch>
void launch_pack_rows(const PackTask& task, Launch&& launch) {
  if (task.count == 0) return;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint64_t blocks = padded_product_rows(task.count) / (kPackThreads / kWarp);
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(task.rows) % sizeof(FourFloats) == 0 && task.row_stride % 4 == 0;
  launch(is_aligned ? pack_rows<true> : pack_rows<false>, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)),
         kPackThreads, std::size_t{0}, task);
}

}  // namespace kith::cuda
