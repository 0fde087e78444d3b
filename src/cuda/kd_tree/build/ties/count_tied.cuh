// Pass 0 for a part of a segment whose cells refine ties, if the compiler knows the dims.
//
// The tables know nearly all coordinates. Then the cells of all dimensions are sums over the same few numbers, those of
// the values; points with a coordinate that the tables do not know are looked at once more.
#pragma once

#include "cuda/kd_tree/build/medians/node_samples.cuh"
#include "cuda/kd_tree/build/ties/value_search.cuh"
#include "cuda/kd_tree/build/passes/visit_slice.cuh"

#include <limits>

namespace kith::cuda {

/// The plain cells of the numbers of points that lie side by side. `kWhole`: all of them are there.
template <bool kWhole, std::uint32_t kEach, typename T>
__device__ __forceinline__ void cells_of_numbers(const PointSource<T>& source, const CellScale<T>& scale,
                                                 std::uint32_t own, std::uint32_t first, std::uint32_t end,
                                                 std::uint32_t (&cells)[kEach]) {
  std::uint32_t numbers[kEach];
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(source.indices) % (4 * kEach) == 0;
  if (kWhole && source.indices != nullptr && is_aligned) {
    load_vector(source.indices + own, numbers);
  } else {
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      numbers[k] = kWhole || (own + k >= first && own + k < end) ? source.index(own + k) : 0;
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) cells[k] = cell_of(scale, static_cast<T>(numbers[k]));
}

/// The plain cell in dimension d of point k, given what was found of it: it is that, or else the cell of its value.
template <std::uint32_t kDims, std::uint32_t kEach, typename T>
__device__ __forceinline__ std::uint32_t plain_cell_of_found(const TieMap<T>& map, std::uint32_t d,
                                                             const std::uint32_t (&found)[kDims][kEach],
                                                             std::uint32_t k) {
  std::uint32_t own = found[0][k];
#pragma unroll
  for (std::uint32_t e = 1; e < kDims; ++e) own = d == e ? found[e][k] : own;
  const std::uint32_t count = map.ties->count[d];
  if (count == 0) return own;
  return cell_of(map.ties->scales[d], map.values(d)[own < count ? own : 0]);
}

/// Counts points of this thread with coordinates that the tables do not know, one for each bit, and joins them to the
/// tight box. `own` is the place of the first bit.
template <std::uint32_t kDims, typename T>
KITH_NOINLINE __device__ void count_unknown(const GroupParameters<T>& p, std::uint32_t own, std::uint32_t unknown) {
  using Key = OrderedKey<T>;
  const std::uint32_t bins = bins_at(0, kDims, p.most_bins);
  const RootShared<T> shared(kDims);
  const TieMap<T> map(&shared.ties->ties, shared.ties->tables, kDims);
#pragma unroll 1
  for (; unknown != 0; unknown &= unknown - 1) {
    const std::uint32_t place = own + lowest_bit(unknown);
    T x[kDims];
    std::uint32_t slots[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) x[d] = p.source.at(place, d);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const Key key = ordered_key(x[d]);
      atomic_max(&shared.tight[d], static_cast<Key>(~key));
      atomic_max(&shared.tight[kDims + 1 + d], x[d] - x[d] == T(0) ? key : static_cast<Key>(~Key{0}));
      slots[d] = slot_nearby(map, *shared.ties, d, x[d]);
    }
    const auto slot = [&](std::uint32_t e) {
      std::uint32_t found = slots[0];
#pragma unroll
      for (std::uint32_t d = 1; d < kDims; ++d) found = e == d ? slots[d] : found;
      return found;
    };
    const auto plain = [&](std::uint32_t e) {
      T value = static_cast<T>(p.source.index(place));
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) value = e == d ? x[d] : value;
      return cell_of(shared.scales[e], value);
    };
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const std::uint32_t cell = tied_cell<kDims>(map, d, slot, plain);
      atomic_add(shared.counters + d * bins + bin_of(shared.bins[d], cell), 1u);
      p.cells(d)[place] = static_cast<std::uint16_t>(cell);
    }
  }
}

/// Counts all points.
template <std::uint32_t kDims, Layout kLayout, typename T>
__device__ __forceinline__ void count_tied_points(const GroupParameters<T>& p, const SegmentSlice& slice) {
  constexpr std::uint32_t kEach = kTogether<T>;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  static_assert(kDims <= TieChain::kMostDims);
  const std::uint32_t bins = bins_at(0, kDims, p.most_bins);
  const RootShared<T> shared(kDims);
  const TieMap<T> map(&shared.ties->ties, shared.ties->tables, kDims);
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  const auto segment_first = static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level, slice.segment));
  T low[kDims], high[kDims];
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    low[d] = kInfinity;
    high[d] = -kInfinity;
  }
  visit_slice<T>(slice, [&](std::uint32_t own, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    const auto is_there = [&](std::uint32_t k) { return kWhole || (own + k >= first && own + k < end); };
    LoadedPoints<T, kDims, kLayout> points;
    points.template load<kWhole>(p.source, own, first, end);
    if (kWhole) {
      copy_sample(p, slice.segment, segment_first, own, kDims, [&](std::uint32_t d) { return points.at(0, d); });
    }
    // By dimension: how many values are less, or the plain cells where there are no values.
    std::uint32_t found[kDims][kEach], unknown = 0;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      T x[kEach];
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) x[k] = is_there(k) ? points.at(k, d) : T(0);
      if (map.ties->count[d] > 0) {
        unknown |= find_values(map, *shared.ties, d, x, found[d]);
      } else {
#pragma unroll
        for (std::uint32_t k = 0; k < kEach; ++k) {
          found[d][k] = cell_of(shared.scales[d], x[k]);
          unknown |= x[k] - x[k] == T(0) ? 0 : 1u << k;  // what is not finite
        }
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        low[d] = is_there(k) ? lesser(low[d], x[k]) : low[d];
        high[d] = is_there(k) ? greater(high[d], x[k]) : high[d];
      }
    }
    std::uint32_t numbers[kEach] = {};
    if (shared.ties->needs_numbers != 0) {
      cells_of_numbers<kWhole>(p.source, shared.scales[kDims], own, first, end, numbers);
    }
    std::uint32_t there = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) there |= is_there(k) ? 1u << k : 0;
    unknown &= there;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const TieChain chain = shared.ties->chains[d];
      const CellBins own_bins = shared.bins[d];
      std::uint32_t* counts = shared.counters + d * bins;
      std::uint32_t sum[kEach];
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        std::uint32_t plain = numbers[k];
        if (chain.last < kDims) plain = plain_cell_of_found(map, chain.last, found, k);
        sum[k] = chain.first + plain * chain.capacity;
#pragma unroll
        for (std::uint32_t stage = 0; stage < kDims; ++stage) {
          sum[k] += found[d + stage < kDims ? d + stage : d + stage - kDims][k] * chain.steps[stage];
        }
      }
      std::uint16_t cells[kEach];
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        const std::uint32_t cell = sum[k] >> kCellBits;
        cells[k] = static_cast<std::uint16_t>(cell);
        if (((there & ~unknown) >> k & 1) == 0) continue;
        atomic_add(counts + bin_of(own_bins, cell), 1u);
        if (!kWhole) p.cells(d)[own + k] = cells[k];
      }
      if (kWhole) store_vector(p.cells(d) + own, cells);
    }
    if (unknown != 0) count_unknown<kDims>(p, own, unknown);
  });
  sync_warp();
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) join_tight(shared.tight, kDims, d, low[d], high[d], false);
}

}  // namespace kith::cuda
