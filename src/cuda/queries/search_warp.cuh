// The warps of a search, of which each takes queries, and the lists that they keep in memory.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/requests.hpp"
#include "cuda/queries/warps_plan.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Threads of a block of a search.
inline constexpr std::uint32_t kSearchThreads = 128;

/// This warp, of all in the grid.
__device__ inline std::uint64_t search_warp() {
  return (std::uint64_t{block_number()} * threads_per_block() + thread_number()) / kWarp;
}
__device__ inline std::uint64_t search_warps() { return std::uint64_t{blocks_in_grid()} * threads_per_block() / kWarp; }

/// The queries that there are.
template <typename T>
__device__ inline std::uint64_t queries_of(const QuerySource<T>& source) {
  if (source.chosen_count == nullptr) return source.count;
  const std::uint64_t chosen = *source.chosen_count;
  return chosen < source.count ? chosen : source.count;
}

/// Where the lists of NearestInMemory are.
template <typename T>
struct ListMemory {
  std::uint32_t capacity = 0;      ///< 0: the lists are in the lanes
  Candidate<T>* memory = nullptr;  ///< 2 * capacity for each warp of the grid; null: in shared memory

  KITH_HOST_DEVICE std::uint32_t shared_bytes() const {
    return memory == nullptr ? 2 * capacity * static_cast<std::uint32_t>(sizeof(Candidate<T>)) : 0;
  }
  /// This warp's list; `shared` is the warp's storage for it there.
  __device__ Candidate<T>* of_warp(std::byte* shared) const {
    return memory == nullptr ? reinterpret_cast<Candidate<T>*>(shared) : memory + search_warp() * 2 * capacity;
  }
};

}  // namespace kith::cuda
