// Pairs that the filter by products has not dismissed: a thread notes its own in shared memory, a few instructions
// each, and the warp offers what its threads have noted when the buffer of one is full. To offer a pair takes an atomic
// in global memory, for which there is no time between two tiles; many at a time wait for theirs together.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// Pairs that the threads of a block have noted, each in its own column.
template <std::uint32_t kThreads>
struct ProductOffersStorage {
  static constexpr std::uint32_t kDepth = 8;

  std::uint32_t numbers[kDepth][kThreads];
  std::uint8_t queries[kDepth][kThreads];  ///< counted from the first one of the block or warp
};

template <std::uint32_t kThreads>
class ProductOffers {
 public:
  using Storage = ProductOffersStorage<kThreads>;

  /// Queries are counted from `first_query` on; those from `queries` on are none.
  __device__ ProductOffers(const ScanTask<float>& scan, std::uint64_t queries, std::uint64_t first_query,
                           Storage& storage)
      : scan_(scan), queries_(queries), first_query_(first_query), storage_(storage) {}

  __device__ __forceinline__ bool is_full() const { return fill_ == Storage::kDepth; }

  /// There is room.
  __device__ __forceinline__ void note(std::uint32_t query, std::uint64_t point) {
    if (point >= scan_.points.count) return;
    storage_.numbers[fill_][thread_number()] = static_cast<std::uint32_t>(point);
    storage_.queries[fill_][thread_number()] = static_cast<std::uint8_t>(query);
    ++fill_;
  }

  /// Offers what this thread has noted.
  __device__ __forceinline__ void offer() {
    constexpr std::uint32_t kAtOnce = 4;
    static_assert(Storage::kDepth % kAtOnce == 0);
#pragma unroll 1
    for (std::uint32_t first = 0; first < fill_; first += kAtOnce) {
      std::uint32_t numbers[kAtOnce], slots[kAtOnce];
      std::uint64_t queries[kAtOnce];
      bool is_good[kAtOnce];
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        numbers[i] = storage_.numbers[first + i][thread_number()];
        queries[i] = first_query_ + storage_.queries[first + i][thread_number()];
        is_good[i] = first + i < fill_ && queries[i] < queries_ && is_admitted(queries[i], numbers[i]);
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        slots[i] = is_good[i] ? atomic_add(&scan_.lists.counts[queries[i]], 1u) : scan_.lists.capacity;
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        if (slots[i] >= scan_.lists.capacity) continue;
        scan_.lists.entries[queries[i] * scan_.lists.capacity + slots[i]] = Entry<float>(0, numbers[i]);
      }
    }
    fill_ = 0;
  }

 private:
  __device__ __forceinline__ bool is_admitted(std::uint64_t query, std::uint32_t point) const {
    if (scan_.filter.is_open()) return true;
    const std::uint64_t row = scan_.queries.row_of(query);
    const std::uint32_t number = scan_.queries.first + static_cast<std::uint32_t>(row);
    return scan_.filter.admits(number, scan_.filter.end(number, row), point);
  }

  const ScanTask<float>& scan_;
  std::uint64_t queries_;
  std::uint64_t first_query_;
  Storage& storage_;
  std::uint32_t fill_ = 0;  ///< of this thread's column
};

}  // namespace kith::cuda
