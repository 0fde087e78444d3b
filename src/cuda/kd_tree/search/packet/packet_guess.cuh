// A radius guessed from the points around a query: by a warp that looks at the query's own part of the tree only.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/packet/packed_points.cuh"

#include <bit>
#include <cmath>
#include <limits>

namespace kith::cuda {

/// x * reciprocal_of(y) >> 16 is x / y for up to 32 y, and for y as there are points in a leaf.
__device__ __forceinline__ std::uint32_t reciprocal_of(std::uint32_t y) { return 65536 / y + 1; }

/// Counts every point of a sample.
struct AllOfSample {
  static constexpr bool kNeedsNumber = false;
  __device__ bool operator()(std::uint32_t) const { return true; }
};

/// A reduced distance that holds about `expected` points of the subtree of 2^levels leaves around a leaf, seen from a
/// query, if only points count whose numbers are admitted. If there are not so many: that of the farthest or, if not
/// all points count, a wider one, or infinity. The subtree has kRows x 32 points at most. Any value is right.
template <std::uint32_t kRows, typename T, std::uint32_t kDims, typename Admits = AllOfSample>
__device__ __forceinline__ float radius_of_sample(const SearchTree<T>& tree, const T (&query)[kDims],
                                                  std::uint64_t leaf_number, std::uint32_t levels,
                                                  std::uint32_t expected, const Admits& admits = {}) {
  using Point = PackedPoint<T, kDims>;
  const std::uint64_t first_leaf = leaf_number >> levels << levels;
  const std::uint64_t first = tree.geometry.first(tree.geometry.levels, first_leaf);
  const auto count = static_cast<std::uint32_t>(
      tree.geometry.first(tree.geometry.levels, first_leaf + (std::uint64_t{1} << levels)) - first);
  const std::byte* own = tree.packed + (first + lane_number()) * Point::kBytes;
  float distances[kRows];
  std::uint32_t farthest = 0, admitted = 0;
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; ++row) {
    distances[row] = std::numeric_limits<float>::infinity();
    if (row * kWarp + lane_number() < count) {
      Point point;
      point.template load<Admits::kNeedsNumber>(own + row * kWarp * Point::kBytes);
      if (Admits::kNeedsNumber && !admits(point.number)) continue;
      T sum = T(0);
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) sum = core::step_of_gap(core::L2{}, sum, T(query[d] - point.values[d]));
      distances[row] = toward_zero(sum);
      ++admitted;
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(distances[row]);
      farthest = bits > farthest ? bits : farthest;
    }
  }
  if constexpr (Admits::kNeedsNumber) {
    constexpr std::uint32_t kFewest = 2;
    constexpr float kMostGrowth = 16;
    admitted = sum_of_warp(admitted);
    if (admitted < expected) {
      const float growth = static_cast<float>(expected) / static_cast<float>(admitted);
      if (admitted < kFewest || growth > kMostGrowth) return std::numeric_limits<float>::infinity();
      return std::bit_cast<float>(max_of_warp(farthest)) * std::exp2(std::log2(growth) * (2.0f / kDims));
    }
  }
  // By bisection of the bits, which order like the numbers, over twelve powers of two.
  constexpr std::uint32_t kRange = 12u << 23, kRounds = 7;
  std::uint32_t high = max_of_warp(farthest), low = high > kRange ? high - kRange : 0;
#pragma unroll 1
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t middle_bits = low + (high - low) / 2;
    const float value = std::bit_cast<float>(middle_bits);
    std::uint32_t within = 0;
#pragma unroll
    for (std::uint32_t row = 0; row < kRows; ++row) within += distances[row] <= value ? 1 : 0;
    if (sum_of_warp(within) >= expected) {
      high = middle_bits;
    } else {
      low = middle_bits;
    }
  }
  return std::bit_cast<float>(high);
}

}  // namespace kith::cuda
