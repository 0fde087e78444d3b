// Finds the node of each range: the point of a known rank by the super-key. Bins over the keys of the candidates leave
// those of one bin, and so on; a few are compared with each other.
#pragma once

#include "cuda/ordered_tree/order_range.cuh"
#include "cuda/primitives/sums_before.cuh"

#include <cstdint>

namespace kith::cuda {

/// Calls take(place, key) for each candidate among the points of a block.
template <typename T, typename Take>
__device__ void for_each_candidate(const OrderLevel<T>& level, const BlockRange& block, const MiddleSearch<T>& search,
                                   Take&& take) {
  using Key = OrderedKey<T>;
  if (search.stage == 0) {
    constexpr std::uint32_t kAtOnce = 4;  // loads in flight
    const T* const values = level.from.values + search.dim * level.from.stride;
    for (std::uint32_t first = block.begin + thread_number(); first < block.end; first += kAtOnce * kOrderThreads) {
      T loaded[kAtOnce];
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        const std::uint32_t p = first + i * kOrderThreads;
        loaded[i] = p < block.end ? values[p] : T(0);
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        const std::uint32_t p = first + i * kOrderThreads;
        const Key key = ordered_key(loaded[i]);
        if (p < block.end && search.low <= key && key <= search.high) take(p, key);
      }
    }
    return;
  }
  const T* const known = level.known + std::uint64_t{block.range} * level.dims;
  for (std::uint32_t p = block.begin + thread_number(); p < block.end; p += kOrderThreads) {
    bool is_one = true;
    for (std::uint32_t c = 0; is_one && c < search.stage; ++c) {
      const std::uint32_t axis = search.dim + c < level.dims ? search.dim + c : search.dim + c - level.dims;
      is_one = level.from.at(p, axis) == known[c];
    }
    if (!is_one) continue;
    const Key key = moved_key(level.from, level.dims, p, search.dim, search.stage);
    if (search.low <= key && key <= search.high) take(p, key);
  }
}

/// Whether a level before this one is not done.
template <typename T>
__device__ bool has_to_wait(const OrderLevel<T>& level) {
  return *level.open != 0 && *level.open != level.level + 1;
}

/// Bits of keys that a bin does not tell apart.
template <typename Key>
__device__ std::uint32_t bin_shift(Key low, Key high) {
  constexpr std::uint32_t kBits = 8 * sizeof(Key), kBinBits = 11;
  static_assert(1u << kBinBits == kOrderBins);
  const std::uint32_t used = kBits - leading_zeros(static_cast<Key>(high - low));
  return used > kBinBits ? used - kBinBits : 0;
}

/// Blocks of ranges: those with more candidates than are compared are narrowed down to those of one bin.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) narrow_candidates(OrderLevel<T> level) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kPerThread = kOrderBins / kOrderThreads;
  static_assert(kOrderThreads == kSumThreads);
  std::uint32_t* const bins = reinterpret_cast<std::uint32_t*>(shared_memory());
  std::uint32_t* const warp_sums = bins + kOrderBins;
  std::uint32_t* const is_last = warp_sums + kOrderThreads / kWarp;
  if (has_to_wait(level)) return;
  const BlockRange block(level);
  const MiddleSearch<T> search = level.searches[block.range];
  if (search.candidates <= kMostListed) return;
  T* const known = level.known + std::uint64_t{block.range} * level.dims;
  for (std::uint32_t bin = thread_number(); bin < kOrderBins; bin += kOrderThreads) bins[bin] = 0;
  sync_block();
  const std::uint32_t shift = bin_shift(search.low, search.high);
  for_each_candidate(level, block, search, [&](std::uint32_t, Key key) {
    atomic_add(&bins[static_cast<std::uint32_t>((key - search.low) >> shift)], 1u);
  });
  sync_block();
  std::uint32_t* const shared_bins = level.parts == 1 ? bins : level.bins + std::uint64_t{block.range} * kOrderBins;
  if (level.parts > 1) {
    for (std::uint32_t bin = thread_number(); bin < kOrderBins; bin += kOrderThreads) {
      if (bins[bin] != 0) atomic_add(&shared_bins[bin], bins[bin]);
    }
    if (!is_last_block(level, block.range, is_last)) return;
    for (std::uint32_t bin = thread_number(); bin < kOrderBins; bin += kOrderThreads) {
      bins[bin] = load_fresh(&shared_bins[bin]);
      shared_bins[bin] = 0;
    }
    sync_block();
  }
  std::uint32_t own = 0, total = 0;
  for (std::uint32_t i = 0; i < kPerThread; ++i) own += bins[thread_number() * kPerThread + i];
  std::uint32_t before = sum_before_thread(own, warp_sums, total);
  if (search.rank < before || search.rank >= before + own) return;
  std::uint32_t bin = thread_number() * kPerThread;
  while (search.rank >= before + bins[bin]) before += bins[bin++];
  MiddleSearch<T> next = search;
  next.low = search.low + (static_cast<Key>(bin) << shift);
  const Key last = next.low + ((Key{1} << shift) - 1);
  next.high = last < search.high ? last : search.high;
  next.rank = search.rank - before;
  next.candidates = bins[bin];
  if (next.low == next.high && search.stage < level.dims) {  // all equal so far: the next component decides
    known[search.stage] = value_of_key<T>(next.low);
    next.stage = search.stage + 1;
    next.low = 0;
    next.high = next.stage < level.dims ? ~Key{0} : Key{0xffffffff};
  }
  level.searches[block.range] = next;
}

/// Blocks of ranges: where the node is, if its candidates are few; `open` says whether some are not.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) find_middles(OrderLevel<T> level) {
  OrderedKey<T>* const keys = reinterpret_cast<OrderedKey<T>*>(shared_memory());
  std::uint32_t* const places = reinterpret_cast<std::uint32_t*>(keys + kMostListed);
  std::uint32_t* const is_last = places + kMostListed;
  if (has_to_wait(level)) return;
  const BlockRange block(level);
  MiddleSearch<T>& search = level.searches[block.range];
  const MiddleSearch<T> known_so_far = search;
  if (known_so_far.is_found != 0) return;
  if (known_so_far.candidates > kMostListed) {
    if (thread_number() == 0) *level.open = level.level + 1;
    return;
  }
  std::uint32_t* const list = level.lists + std::uint64_t{block.range} * kMostListed;
  for_each_candidate(level, block, known_so_far,
                     [&](std::uint32_t p, OrderedKey<T>) { list[atomic_add(&level.listed[block.range], 1u)] = p; });
  if (!is_last_block(level, block.range, is_last)) return;
  const std::uint32_t count = known_so_far.candidates;
  for (std::uint32_t i = thread_number(); i < count; i += kOrderThreads) {
    places[i] = load_fresh(&list[i]);
    keys[i] = moved_key(level.from, level.dims, places[i], known_so_far.dim, known_so_far.stage);
  }
  sync_block();
  for (std::uint32_t i = thread_number(); i < count; i += kOrderThreads) {
    std::uint32_t rank = 0;
    for (std::uint32_t j = 0; j < count; ++j) {
      if (keys[j] > keys[i]) continue;
      if (keys[j] < keys[i] ||
          moved_precedes(level.from, level.dims, places[j], places[i], known_so_far.dim, known_so_far.stage + 1)) {
        ++rank;
      }
    }
    if (rank == known_so_far.rank) {
      search.place = places[i];
      search.is_found = 1;
    }
  }
}

}  // namespace kith::cuda
