// Queries whose lists overflowed: a block for each looks at all points again and again, and each time counts those
// whose entries begin like that of the k-th, by some bits more. No list can overflow; it takes two or three looks and
// one to collect, more where reduced distances are equal.
#pragma once

#include "cuda/brute_force/scan/bit_scan.cuh"
#include "cuda/queries/point_reduced.cuh"
#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/sums_before.cuh"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kith::cuda {

template <typename T>
struct RescanTask {
  ScanPoints<T> points = {};
  SearchMetric<T> metric = {};
  SearchFilter filter = {};
  ScanQueries<T> queries = {};  ///< all rows: none is chosen
  T bound = 0;
  const T* bounds = nullptr;              ///< by row; null: `bound` for all
  std::uint32_t k = 0;                    ///< not above the capacity of the lists
  CandidateLists<T> lists = {};           ///< list i gets the nearest of the i-th, in any order, and their count
  const std::uint32_t* failed = nullptr;  ///< rows of the answer
  const std::uint32_t* failed_count = nullptr;

  KITH_HOST_DEVICE T bound_of(std::uint64_t row) const { return bounds == nullptr ? bound : bounds[row]; }
};

inline constexpr std::uint32_t kRescanBits = 11, kRescanBins = 1 << kRescanBits;
inline constexpr std::uint32_t kRescanThreads = kSumThreads;

/// The words of an entry, the most significant first.
__device__ __forceinline__ std::uint64_t word_of(const Entry<float>& entry, std::uint32_t) { return entry.word; }
__device__ __forceinline__ std::uint64_t word_of(const Entry<double>& entry, std::uint32_t word) {
  return word == 0 ? entry.high : entry.low;
}
__device__ __forceinline__ Entry<float> entry_of(const std::uint64_t (&words)[2], Entry<float>) {
  Entry<float> entry;
  entry.word = words[0];
  return entry;
}
__device__ __forceinline__ Entry<double> entry_of(const std::uint64_t (&words)[2], Entry<double>) {
  Entry<double> entry;
  entry.high = words[0];
  entry.low = words[1];
  return entry;
}

/// What a block of the rescan has in shared memory, the query behind it.
struct RescanShared {
  std::uint32_t histogram[kRescanBins];
  std::uint32_t warp_sums[kRescanThreads / kWarp];
  std::uint32_t bin, below, inside;
};

/// Queries of bits may be too long for it, and stay where they are.
template <typename T>
std::size_t rescan_shared_bytes(const RescanTask<T>& task) {
  return sizeof(RescanShared) + 16 + (task.metric.is_hamming ? 0 : task.points.dims * sizeof(T));
}

template <typename T>
__device__ __forceinline__ T rescan_reduced(const RescanTask<T>& task, const T* query, std::uint64_t point) {
  const T* row = task.points.rows + point * task.points.dims;
  if constexpr (std::is_same_v<T, float>) {
    if (task.metric.is_hamming) return hamming_distance(query, row, task.points.dims);
  }
  return reduced_to_point<core::EveryReduction>(task.metric, query, row, task.points.dims, 1);
}

/// Calls f(entry) for each point that the query may find.
template <typename T, typename F>
__device__ __forceinline__ void for_each_entry(const RescanTask<T>& task, const T* query, std::uint64_t row, F&& f) {
  const std::uint32_t number = task.queries.first + static_cast<std::uint32_t>(row);
  const std::uint32_t end = task.filter.end(number, row);
  const T bound = task.bound_of(row);
  for (std::uint64_t i = thread_number(); i < task.points.count; i += kRescanThreads) {
    const auto point = static_cast<std::uint32_t>(i);
    if (!task.filter.admits(number, end, point)) continue;
    const T reduced = rescan_reduced(task, query, i);
    if (reduced <= bound) f(Entry<T>(reduced, point));
  }
}

/// The bin that holds the entry of a rank among those counted. Synchronises the block.
__device__ __forceinline__ void find_rescan_bin(RescanShared& shared, std::uint32_t rank) {
  constexpr std::uint32_t kEach = kRescanBins / kRescanThreads;
  std::uint32_t own = 0, total = 0;
  for (std::uint32_t i = 0; i < kEach; ++i) own += shared.histogram[thread_number() * kEach + i];
  std::uint32_t below = sum_before_thread(own, shared.warp_sums, total);
  if (thread_number() == 0 && rank >= total) {  // there are not so many: all of them
    shared.bin = kRescanBins;
    shared.below = total;
    shared.inside = 0;
  }
  if (rank >= below && rank - below < own) {
    std::uint32_t bin = thread_number() * kEach;
    while (rank - below >= shared.histogram[bin]) below += shared.histogram[bin++];
    shared.bin = bin;
    shared.below = below;
    shared.inside = shared.histogram[bin];
  }
  sync_block();
}

/// The greatest entry that is among the k nearest, or one above it that excludes all others; all bits set if all are.
template <typename T>
__device__ __forceinline__ Entry<T> last_of_nearest(const RescanTask<T>& task, const T* query, std::uint64_t row,
                                                    RescanShared& shared) {
  constexpr std::uint32_t kWords = sizeof(T) / 4;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t words[2] = {0, 0};
  std::uint32_t rank = task.k - 1;
  for (std::uint32_t word = 0; word < kWords; ++word) {
    std::uint32_t known = 0;  // bits of this word
    while (known < 64) {
      const std::uint32_t bits = 64 - known < kRescanBits ? 64 - known : kRescanBits, shift = 64 - known - bits;
      for (std::uint32_t b = thread_number(); b < kRescanBins; b += kRescanThreads) shared.histogram[b] = 0;
      sync_block();
      for_each_entry(task, query, row, [&](const Entry<T>& entry) {
        if (word > 0 && word_of(entry, 0) != words[0]) return;
        const std::uint64_t own = word_of(entry, word);
        if (known > 0 && (own ^ words[word]) >> (64 - known) != 0) return;
        atomic_add(&shared.histogram[own >> shift & ((1u << bits) - 1)], 1u);
      });
      sync_block();
      find_rescan_bin(shared, rank);
      if (shared.bin == kRescanBins) return entry_of({kAll, kAll}, Entry<T>{});
      rank -= shared.below;
      const bool are_all_in = rank + 1 == shared.inside;  // then no entry of the bin lies beyond
      words[word] |= std::uint64_t{shared.bin} << shift;
      known += bits;
      sync_block();  // all have read what was found
      if (!are_all_in) continue;
      words[word] |= shift == 0 ? 0 : kAll >> (64 - shift);
      for (std::uint32_t next = word + 1; next < kWords; ++next) words[next] = kAll;
      return entry_of(words, Entry<T>{});
    }
  }
  return entry_of(words, Entry<T>{});
}

/// A block for each failed query, as long as there are any.
template <typename T>
__global__ void __launch_bounds__(kRescanThreads) rescan_failed(const __grid_constant__ RescanTask<T> task) {
  RescanShared& shared = *reinterpret_cast<RescanShared*>(shared_memory());
  T* const copy = reinterpret_cast<T*>(shared_memory() + (sizeof(RescanShared) + 15) / 16 * 16);
  const std::uint32_t failed = *task.failed_count;
  for (std::uint32_t i = block_number(); i < failed; i += blocks_in_grid()) {
    const std::uint64_t row = task.failed[i];
    const T* query = task.queries.rows + row * task.queries.row_stride;
    sync_block();
    if (!task.metric.is_hamming) {
      for (std::uint32_t d = thread_number(); d < task.points.dims; d += kRescanThreads) copy[d] = query[d];
      query = copy;
    }
    if (thread_number() == 0) task.lists.counts[i] = 0;
    sync_block();
    const Entry<T> last = last_of_nearest(task, query, row, shared);
    Entry<T>* const entries = task.lists.entries + std::uint64_t{i} * task.lists.capacity;
    for_each_entry(task, query, row, [&](const Entry<T>& entry) {
      if (last < entry) return;
      const std::uint32_t slot = atomic_add(&task.lists.counts[i], 1u);
      if (slot < task.lists.capacity) entries[slot] = entry;
    });
  }
}

}  // namespace kith::cuda
