// The values of dimensions that have few: found by the first pass at the root in a sample of all points, used by all
// segments. All of it is rare, so it is out of the way of points whose coordinates differ.
#pragma once

#include "cuda/kd_tree/root_shared.cuh"
#include "cuda/kd_tree/tied_cells.cuh"

namespace kith::cuda {

/// Warps that look for twins, equal samples among 32, which takes long; and how many twins are worth a closer look.
inline constexpr std::uint32_t kTwinWarps = 4, kTwins = 4;

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

/// Sorts as many keys as there are samples. The block meets.
template <typename Key>
__device__ __forceinline__ void sort_samples(Key* keys) {
#pragma unroll 1
  for (std::uint32_t size = 2; size <= kRangeSamples; size *= 2) {
#pragma unroll 1
    for (std::uint32_t apart = size / 2; apart > 0; apart /= 2) {
      sync_block();
#pragma unroll 1
      for (std::uint32_t t = thread_number(); t < kRangeSamples / 2; t += threads_per_block()) {
        const std::uint32_t i = t / apart * 2 * apart + t % apart;
        const Key a = keys[i], b = keys[i + apart];
        if ((a > b) == ((i & size) == 0)) {
          keys[i] = b;
          keys[i + apart] = a;
        }
      }
    }
  }
  sync_block();
}

/// The table of dimension d from the samples; no table if their values are many. `keys` has room for all of them.
template <typename T>
__device__ __forceinline__ void make_table(const GroupParameters<T>& p, std::uint32_t d, OrderedKey<T>* keys,
                                           TieShared<T>& shared) {
  const auto points = static_cast<std::uint32_t>(p.shape.geometry.points);
  for (std::uint32_t i = thread_number(); i < kRangeSamples; i += threads_per_block()) {
    keys[i] = ordered_key(p.source.at(sampled_place(points, i), d));
  }
  sort_samples(keys);
  for (std::uint32_t i = thread_number(); i < kRangeSamples; i += threads_per_block()) {
    const std::uint32_t lanes = ballot(i == 0 || keys[i] != keys[i - 1]);
    if (lane_number() == 0) shared.firsts[i / kWarp] = lanes;
  }
  sync_block();
  const std::uint32_t through = sum_to_lane(count_bits(shared.firsts[lane_number()]));
  const std::uint32_t values = shuffle(through, kWarp - 1);
  const bool are_few = values <= kTableValues;
  for (std::uint32_t i = thread_number(); i < kRangeSamples; i += threads_per_block()) {
    const std::uint32_t part = i / kWarp, lanes = shared.firsts[part];
    const std::uint32_t at = shuffle(through, part) - count_bits(lanes >> lane_number());
    if (are_few && (lanes >> lane_number() & 1) != 0) shared.tables[d * kTableValues + at] = value_of_key<T>(keys[i]);
  }
  if (thread_number() == 0) shared.few[d] = are_few ? values : 0;
  sync_block();
}

/// Makes the tables at the root, or loads them. The block meets.
template <typename T>
__device__ __forceinline__ void find_tables(const GroupParameters<T>& p, std::uint32_t* scratch, TieShared<T>& shared) {
  const std::uint32_t dims = p.shape.dims;
  if (p.root_range == nullptr) {
    for (std::uint32_t i = thread_number(); i < dims * kTableValues; i += threads_per_block()) {
      if (i % kTableValues < shared.few[i / kTableValues]) shared.tables[i] = p.tables[i];
    }
    sync_block();
    return;
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    const bool has_twins = shared.few[d] >= kTwins;
    sync_block();
    if (has_twins) {
      make_table(p, d, reinterpret_cast<OrderedKey<T>*>(scratch), shared);
    } else if (thread_number() == 0) {
      shared.few[d] = 0;
    }
  }
  sync_block();
}

/// The first block of a segment notes what is known of its ties, at the root with the tables.
template <typename T>
__device__ __forceinline__ void note_ties(const GroupParameters<T>& p, std::uint32_t segment,
                                          const TieShared<T>& shared) {
  const auto* from = reinterpret_cast<const std::uint32_t*>(&shared.ties);
  auto* to = reinterpret_cast<std::uint32_t*>(p.ties + segment);
  for (std::uint32_t i = thread_number(); i < sizeof(TiedCells<T>) / 4; i += threads_per_block()) to[i] = from[i];
  if (thread_number() == 0) p.tied[segment] = 1;
  if (p.root_range == nullptr) return;
  for (std::uint32_t i = thread_number(); i < p.shape.dims * kTableValues; i += threads_per_block()) {
    const std::uint32_t d = i / kTableValues;
    // All of a table is written: steps copy it before they know how much of it there is.
    p.tables[i] = i % kTableValues < shared.few[d] ? shared.tables[i] : T(0);
    if (i % kTableValues == 0) p.table_counts[d] = shared.few[d];
  }
}

/// Divides the cells of a segment among the values that lie in its range. False if no dimension has two of them: then
/// plain cells will do. Only tables and their counts are known. The block meets.
template <typename T>
__device__ __forceinline__ bool divide_cells(const GroupParameters<T>& p, const T* range, const CellScale<T>* scales,
                                             TieShared<T>& shared) {
  const std::uint32_t dims = p.shape.dims, d = thread_number();
  TiedCells<T>& ties = shared.ties;
  bool has_two = false;
  if (d <= dims) ties.scales[d] = scales[d];
  if (d < dims) {
    const T* table = shared.tables + d * kTableValues;
    const T sides[2] = {range[d], range[dims + 1 + d]};
    std::uint32_t below[2];
    values_below(table, shared.few[d], sides, below);
    const std::uint32_t end = below[1] + (below[1] < shared.few[d] && table[below[1]] == sides[1] ? 1 : 0);
    ties.first[d] = static_cast<std::uint16_t>(below[0]);
    ties.count[d] = static_cast<std::uint16_t>(end > below[0] ? end - below[0] : 0);
    has_two = end > below[0] + 1;
  }
  if (!any_thread(has_two)) return false;
  if (d < dims) {
    std::uint32_t room = kLastCell + 1;
    for (std::uint32_t stage = 0; stage < dims; ++stage) {
      const std::uint32_t e = d + stage < dims ? d + stage : d + stage - dims, count = ties.count[e];
      const std::uint32_t each = room > 0 && count > 0 ? (room - 1) / count : 0;  // one of them before the value
      room = each > 1 ? each - 1 : 0;
      ties.widths[d][stage] = static_cast<std::uint16_t>(room);
    }
  }
  sync_block();
  return true;
}

/// How many values of dimension d lie before 256 plain cells, number `part` of so many.
template <typename T>
__device__ __forceinline__ std::uint32_t values_before_cells(const TieMap<T>& map, std::uint32_t d,
                                                             std::uint32_t part) {
  const T* values = map.values(d);
  std::uint32_t first = 0, end = map.ties->count[d];
#pragma unroll 1
  while (first < end) {
    const std::uint32_t middle = (first + end) / 2;
    const bool is_before = cell_of(map.ties->scales[d], values[middle]) >> 8 < part;
    first = is_before ? middle + 1 : first;
    end = is_before ? end : middle;
  }
  return first;
}

/// See find_slots; values are looked for where the plain cells of their neighbours are.
template <std::uint32_t kEach, typename T>
__device__ __forceinline__ void find_slots_nearby(const TieMap<T>& map, const TieShared<T>& shared, std::uint32_t d,
                                                  const T (&x)[kEach], std::uint32_t (&slots)[kEach]) {
  const std::uint32_t count = map.ties->count[d];
  const CellScale<T> scale = map.ties->scales[d];
  const T* values = map.values(d);
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) slots[k] = shared.below[d][cell_of(scale, x[k]) >> 8];
  bool is_equal[kEach], goes_on = true;
#pragma unroll 1
  while (goes_on) {
    goes_on = false;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const bool is_value = slots[k] < count;
      const T value = values[is_value ? slots[k] : 0];
      const bool is_less = is_value && value < x[k];
      is_equal[k] = is_value && value == x[k];
      slots[k] += is_less ? 1 : 0;
      goes_on = goes_on || is_less;
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) slots[k] = 2 * slots[k] + (is_equal[k] ? 1 : 0);
}

/// The sum that gives the cells of dimension d, if dims are few.
template <typename T>
__device__ __forceinline__ void make_chain(std::uint32_t dims, std::uint32_t d, TieShared<T>& shared) {
  TieChain chain{{}, 0, kLastCell + 1, d};
#pragma unroll
  for (std::uint32_t stage = 0; stage < TieChain::kMostDims; ++stage) {
    const std::uint32_t width = stage < dims && chain.first == stage ? shared.ties.widths[d][stage] : 0;
    if (width == 0) continue;
    chain.steps[stage] = width + 1;
    chain.room = width;
    ++chain.first;
    chain.last = stage + 1 == dims ? dims : chain.last + 1 < dims ? chain.last + 1 : 0;
  }
  shared.chains[d] = chain;
}

/// Whether the cells of a segment refine ties, and how, with bins over them; asked if there are tables or, at the root,
/// twins. The counters are 0 before and afterwards. The block meets.
template <typename T>
KITH_NOINLINE __device__ bool prepare_ties(const GroupParameters<T>& p, std::uint32_t segment) {
  const std::uint32_t dims = p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  const RootShared<T> shared(dims);
  find_tables(p, shared.counters, *shared.ties);
  const bool is_tied = divide_cells(p, shared.range, shared.scales, *shared.ties);
  if (p.root_range != nullptr) {
    for (std::uint32_t i = thread_number(); i < kCounters; i += threads_per_block()) shared.counters[i] = 0;
  }
  if (is_tied) {
    const TieMap<T> map(&shared.ties->ties, shared.ties->tables, dims);
    for (std::uint32_t d = thread_number(); d < dims; d += threads_per_block()) {
      shared.bins[d] = tied_root_bins(p, map, segment, d, bins);
      if (dims <= TieChain::kMostDims) make_chain(dims, d, *shared.ties);
    }
    for (std::uint32_t i = thread_number(); i < dims * kTableValues && dims <= TieChain::kMostDims;
         i += threads_per_block()) {
      shared.ties->below[i / kTableValues][i % kTableValues] =
          static_cast<std::uint16_t>(values_before_cells(map, i / kTableValues, i % kTableValues));
    }
    if (block_number() % p.parts == 0) note_ties(p, segment, *shared.ties);
  }
  sync_block();
  return is_tied;
}

}  // namespace kith::cuda
