// Who measures which pairs of a tile: a block of 256 threads, each with some queries and 8 points, kept in registers.
//
// What a warp reads of shared memory at a time are 4 vectors of queries and 8 of points, 16 bytes each, side by side:
// no bank is asked for two words. f32: 128 queries x 128 points, 8 x 8 pairs for a thread; f64: 64 x 128, 4 x 8.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// What is read at once.
template <typename T>
struct alignas(16) ScanVector {
  static constexpr std::uint32_t kWidth = 16 / sizeof(T);
  T values[kWidth];
};

/// Queries that a thread measures side by side.
template <typename T>
inline constexpr std::uint32_t kThreadQueries = 32 / sizeof(T);

template <typename T>
struct TileShape {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr std::uint32_t kWarps = kThreads / kWarp;
  static constexpr std::uint32_t kWidth = ScanVector<T>::kWidth;
  static constexpr std::uint32_t kRows = kThreadQueries<T>;            ///< in two vectors
  static constexpr std::uint32_t kRuns = 8 / kWidth;                   ///< vectors of points of a thread
  static constexpr std::uint32_t kSpan = 16 * kWidth;                  ///< from one of them to the next
  static constexpr std::uint32_t kQueries = 16 * kRows;                ///< of the block
  static constexpr std::uint32_t kPointStride = kTilePoints + kWidth;  ///< from dimension to dimension, when rows
  static constexpr std::uint32_t kQueryStride = kQueries + kWidth;     ///< are written without conflicts

  /// The first query and the first point of this thread.
  __device__ static std::uint32_t first_query() { return (warp_number() / 2 * 4 + lane_number() / 8) * kWidth; }
  __device__ static std::uint32_t first_point() { return (warp_number() % 2 * 8 + lane_number() % 8) * kWidth; }
  /// Query i of a thread, counted from its first one.
  __device__ static constexpr std::uint32_t query_step(std::uint32_t i) { return i / kWidth * kSpan + i % kWidth; }
};

}  // namespace kith::cuda
