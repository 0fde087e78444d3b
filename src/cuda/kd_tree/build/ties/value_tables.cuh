// The values of dimensions that have few: found by the first pass at the root in a sample of all points, used by all
// segments. All of it is rare, so it is out of the way of points whose coordinates differ.
//
// A set in shared memory for each such dimension takes in the samples, all dimensions side by side; what it holds is
// ranked by comparing all pairs. Every block finds the same tables.
#pragma once

#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/passes/root_shared.cuh"

namespace kith::cuda {

/// Warps that look for twins, equal samples among 32, which takes long; and how many twins are worth a closer look.
inline constexpr std::uint32_t kTwinWarps = 4, kTwins = 4;

/// Slots of a set of values.
inline constexpr std::uint32_t kSetBits = 9, kSetSlots = 1u << kSetBits;
static_assert(kSetSlots >= 2 * kTableValues && kSetSlots * kTabledDims * sizeof(double) <= 4 * kCounters);

/// The place of a sample of all points: at no regular distance, a lattice would be seen through a sieve. All points, if
/// they are fewer.
__device__ __forceinline__ std::uint32_t sampled_place(std::uint32_t points, std::uint32_t i) {
  const std::uint32_t from = i << (32 - kRangeSampleBits) | i * 0x9e3779b1u >> kRangeSampleBits, last = points - 1;
  if (points <= kRangeSamples) return i < last ? i : last;
  return static_cast<std::uint32_t>(std::uint64_t{from} * points >> 32);
}

/// Keys that are equal are folded to equal words.
__device__ __forceinline__ std::uint32_t folded(std::uint32_t key) { return key; }
__device__ __forceinline__ std::uint32_t folded(std::uint64_t key) {
  return static_cast<std::uint32_t>(key) ^ static_cast<std::uint32_t>(key >> 32) * 0x9e3779b1u;
}

/// Adds a value to a set, and to a list if it is new. `found` counts those that are; when there are too many for a
/// table, it does not matter which ones.
template <typename T>
__device__ __forceinline__ void add_to_set(OrderedKey<T> key, OrderedKey<T>* set, std::uint32_t* found, T* list) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kPatience = 8;  // probes before it asks whether all is in vain
  std::uint32_t at = folded(key) * 0x9e3779b1u >> (32 - kSetBits);
#pragma unroll 1
  for (std::uint32_t probe = 1;; ++probe, at = (at + 1) % kSetSlots) {
    const Key seen = atomic_cas(&set[at], Key{0}, key);
    if (seen == key) return;
    if (seen == 0) break;
    if (probe % kPatience == 0 && atomic_add(found, 0u) > kTableValues) return;
  }
  const std::uint32_t entry = atomic_add(found, 1u);
  if (entry < kTableValues) list[entry] = value_of_key<T>(key);
}

/// Whether no lane before this one has the same key.
template <typename Key>
__device__ __forceinline__ bool is_first_of_lanes(Key key) {
  const std::uint32_t first = lowest_bit(match_lanes(folded(key)));
  const Key other = shuffle(key, first);
  return first == lane_number() || other != key;  // keys that differ may be folded to one word
}

/// Gathers the distinct values of all dimensions with twins, in any order. The sets are empty before. The block must
/// synchronise afterwards.
template <typename T>
__device__ __forceinline__ void gather_values(const GroupParameters<T>& p, OrderedKey<T>* sets, TieShared<T>& shared) {
  constexpr std::uint32_t kAtOnce = 4;  // dimensions that are on their way together
  static_assert(kRangeSamples == 2 * kPassThreads);
  const std::uint32_t dims = p.shape.dims;
  const auto points = static_cast<std::uint32_t>(p.shape.geometry.points);
  const std::uint32_t places[2] = {sampled_place(points, thread_number()),
                                   sampled_place(points, thread_number() + kPassThreads)};
#pragma unroll 1
  for (std::uint32_t base = 0; base < dims; base += kAtOnce) {
    T x[kAtOnce][2];
    bool has_twins[kAtOnce];
#pragma unroll
    for (std::uint32_t d = 0; d < kAtOnce; ++d) {
      has_twins[d] = base + d < dims && shared.few[base + d] >= kTwins;
      x[d][0] = has_twins[d] ? p.source.at(places[0], base + d) : T(0);
      x[d][1] = has_twins[d] ? p.source.at(places[1], base + d) : T(0);
    }
#pragma unroll
    for (std::uint32_t d = 0; d < kAtOnce; ++d) {
      if (!has_twins[d]) continue;
#pragma unroll 1
      for (std::uint32_t i = 0; i < 2; ++i) {
        const T own = i == 0 ? x[d][0] : x[d][1];
        const OrderedKey<T> key = ordered_key(own);
        const bool is_first = is_first_of_lanes(key);  // others need not queue for the same slot
        if (is_first && own - own == T(0)) {           // then its key is not 0, which is an empty slot
          add_to_set(key, sets + (base + d) * kSetSlots, &shared.found[base + d],
                     shared.tables + (base + d) * kTableValues);
        }
        sync_warp();
      }
    }
  }
}

/// How many of the values of a list are less than x.
template <typename T>
__device__ __forceinline__ std::uint32_t count_less(const T* list, std::uint32_t count, T x) {
  constexpr std::uint32_t kEach = kTogether<T>;
  std::uint32_t less = 0, i = 0;
#pragma unroll 2
  for (; i + kEach <= count; i += kEach) {
    T values[kEach];
    load_vector(list + i, values);
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) less += values[k] < x ? 1 : 0;
  }
  for (; i < count; ++i) less += list[i] < x ? 1 : 0;
  return less;
}

/// Puts the values of all tables in order, and notes how many there are: none if they are too many. Synchronises the
/// block.
template <typename T>
__device__ __forceinline__ void rank_values(std::uint32_t dims, TieShared<T>& shared) {
  constexpr std::uint32_t kRounds = kTabledDims * kTableValues / kPassThreads;
  T value[kRounds];
  std::uint32_t to[kRounds], count[kRounds];
#pragma unroll
  for (std::uint32_t r = 0; r < kRounds; ++r) {
    const std::uint32_t i = thread_number() + r * kPassThreads, d = i / kTableValues, at = i % kTableValues;
    count[r] = d < dims ? shared.found[d] : 0;
    if (count[r] > kTableValues) count[r] = 0;
    if (at >= count[r]) continue;
    value[r] = shared.tables[i];
    to[r] = i - at + count_less(shared.tables + (i - at), count[r], value[r]);
  }
  sync_block();
#pragma unroll
  for (std::uint32_t r = 0; r < kRounds; ++r) {
    const std::uint32_t i = thread_number() + r * kPassThreads, d = i / kTableValues, at = i % kTableValues;
    if (at < count[r]) shared.tables[to[r]] = value[r];
    if (at == 0 && d < dims) shared.few[d] = count[r];
  }
  sync_block();
}

/// Empties the sets. The block must synchronise afterwards.
template <typename Key>
__device__ __forceinline__ void empty_sets(std::uint32_t dims, Key* sets) {
  constexpr std::uint32_t kEach = 16 / sizeof(Key);
  for (std::uint32_t i = thread_number(); i < dims * kSetSlots / kEach; i += kPassThreads) {
    const Key none[kEach] = {};
    store_vector(sets + i * kEach, none);
  }
}

/// Makes the tables at the root, or loads them. Counters that are 0 before are 0 afterwards. Synchronises the block.
template <typename T>
__device__ __forceinline__ void find_tables(const GroupParameters<T>& p, std::uint32_t* counters,
                                            TieShared<T>& shared) {
  const std::uint32_t dims = p.shape.dims;
  if (p.root_range == nullptr) {
    for (std::uint32_t i = thread_number(); i < dims * kTableValues; i += kPassThreads) {
      if (i % kTableValues < shared.few[i / kTableValues]) shared.tables[i] = p.tables[i];
    }
    sync_block();
    return;
  }
  auto* sets = reinterpret_cast<OrderedKey<T>*>(counters);
  empty_sets(dims, sets);
  sync_block();
  gather_values(p, sets, shared);
  sync_block();
  empty_sets(dims, sets);
  rank_values(dims, shared);
}

}  // namespace kith::cuda
