// Pass 0 of a group: the cells of all points, histograms of every dimension, because the tight box that decides between
// them is found in the same pass, and samples. At the root every block first looks how far the points reach.
#pragma once

#include "cuda/kd_tree/build/passes/cells.cuh"
#include "cuda/kd_tree/build/ties/count_tied.cuh"
#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/medians/node_samples.cuh"
#include "cuda/kd_tree/build/passes/pass_shared.cuh"
#include "cuda/kd_tree/build/ties/prepare_ties.cuh"
#include "cuda/kd_tree/build/passes/visit_slice.cuh"

#include <limits>
#include <type_traits>

namespace kith::cuda {

/// About how far all points reach, by a sample: joined to the box of those that the block has seen, for they are points
/// too. All blocks take the same ones. Twins among those of a warp tell of dimensions with few values. Synchronises the
/// block.
template <typename T>
__device__ __forceinline__ void join_sampled_range(const GroupParameters<T>& p, std::uint32_t dims,
                                                   OrderedKey<T>* tight, TieShared<T>& ties) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kAtOnce = 4;  // dimensions that are on their way together
  static_assert(kRangeSamples == 2 * kPassThreads);
  const auto points = static_cast<std::uint32_t>(p.shape.geometry.points);
  const std::uint32_t places[2] = {sampled_place(points, thread_number()),
                                   sampled_place(points, thread_number() + kPassThreads)};
  const std::uint32_t lanes_before = (1u << lane_number()) - 1;
  sync_block();
#pragma unroll 1
  for (std::uint32_t base = 0; base < dims; base += kAtOnce) {
    T x[kAtOnce][2];
#pragma unroll
    for (std::uint32_t d = 0; d < kAtOnce; ++d) {
      if (base + d >= dims) break;
      x[d][0] = p.source.at(places[0], base + d);
      x[d][1] = p.source.at(places[1], base + d);
    }
#pragma unroll
    for (std::uint32_t d = 0; d < kAtOnce; ++d) {
      if (base + d >= dims) break;
      const Key first = ordered_key(x[d][0]), second = ordered_key(x[d][1]);
      const Key least = min_of_warp(first < second ? first : second);
      const Key greatest = max_of_warp(first > second ? first : second);
      if (lane_number() == 0) {
        atomic_max(&tight[base + d], static_cast<Key>(~least));
        atomic_max(&tight[dims + 1 + base + d], greatest);
      }
      if (warp_number() < kTwinWarps && p.tied != nullptr) {
        const std::uint32_t twins = count_bits(ballot((match_lanes(folded(first)) & lanes_before) != 0));
        if (lane_number() == 0 && twins > 0) atomic_add(&ties.few[base + d], twins);
      }
    }
  }
  sync_block();
}

/// A side of the range between two keys, of which the lower one is a complement: a little farther, as far as a sample
/// of points most likely falls short of all. Else the outer cells would be fuller than others.
template <typename T>
__device__ __forceinline__ T side_beyond_samples(OrderedKey<T> low_key, OrderedKey<T> high_key, bool is_upper) {
  const T low = value_of_key<T>(static_cast<OrderedKey<T>>(~low_key)), high = value_of_key<T>(high_key);
  constexpr T kMost = std::numeric_limits<T>::max(), kPart = T(4) / T(kRangeSamples);
  const T margin = high * kPart - low * kPart;
  const T side = is_upper ? high + margin : low - margin;
  return side <= kMost && side >= -kMost ? side : is_upper ? high : low;
}

/// The range of a segment, which is cut into cells: the box that the group above has cut, or at the root a sample's,
/// which is noted for the steps and passes that follow. And what is known of ties. The block must synchronise
/// afterwards.
template <typename T>
__device__ __forceinline__ void load_range(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t dims,
                                           OrderedKey<T>* tight, T* range, TieShared<T>& ties) {
  const std::uint32_t sides = dims + 1;
  if (p.root_range == nullptr) {
#pragma unroll 1
    for (std::uint32_t i = thread_number(); i < 2 * sides; i += kPassThreads) {
      range[i] = p.segment_boxes[std::uint64_t{segment} * 2 * sides + i];
      if (p.tied != nullptr && i < dims) ties.few[i] = p.table_counts[i];
    }
    return;
  }
  join_sampled_range(p, dims, tight, ties);
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < 2 * sides; i += kPassThreads) {
    const bool is_upper = i >= sides, is_number = i == dims || i == dims + sides;
    const auto last = static_cast<T>(p.shape.geometry.points - 1);
    const std::uint32_t d = is_upper ? i - sides : i;
    range[i] = is_number ? (is_upper ? last : T(0)) : side_beyond_samples<T>(tight[d], tight[sides + d], is_upper);
    if (block_number() == 0) p.root_range[i] = range[i];
  }
}

/// Whether there may be ties: tables, or twins in the sample.
template <typename T>
__device__ __forceinline__ bool may_have_ties(const GroupParameters<T>& p, std::uint32_t dims,
                                              const TieShared<T>& ties) {
  const std::uint32_t least = p.root_range == nullptr ? 1 : kTwins;
  bool has_few = false;
  if (p.tied == nullptr) return false;
  for (std::uint32_t d = 0; d < dims; ++d) has_few = has_few || ties.few[d] >= least;
  return has_few;
}

/// Whether the range says that all points of a segment may be equal: then their numbers are counted too.
template <typename T>
__device__ __forceinline__ bool counts_numbers(std::uint32_t dims, const T* range) {
  bool is_wide = false;
  for (std::uint32_t d = 0; d < dims; ++d) is_wide = is_wide || range[dims + 1 + d] > range[d];
  return !is_wide;
}

/// Counts the points of a part of a segment. `kTied`: its cells refine ties.
template <bool kTied, std::uint32_t kDims, Layout kLayout, typename T>
__device__ __forceinline__ void count_slice(const GroupParameters<T>& p, const SegmentSlice& slice,
                                            bool are_numbers_counted) {
  constexpr std::uint32_t kEach = kTogether<T>;
  const std::uint32_t dims = kDims > 0 ? kDims : p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  const RootShared<T> shared(dims);
  const TieMap<T> map(&shared.ties->ties, shared.ties->tables, dims);
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  const auto segment_first = static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level, slice.segment));
  visit_slice<T>(slice, [&](std::uint32_t own, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    LoadedPoints<T, kDims, kLayout> points;
    points.template load<kWhole>(p.source, own, first, end);
    if (kWhole) {
      copy_sample(p, slice.segment, segment_first, own, dims, [&](std::uint32_t d) { return points.at(0, d); });
    }
    const auto cell_in = [&](std::uint32_t k, std::uint32_t d, T x) {
      if constexpr (kTied) {
        return tied_cell<kDims>(
            map, d, [&](std::uint32_t e) { return slot_nearby(map, *shared.ties, e, points.at(k, e)); },
            [&](std::uint32_t e) {
              const T value = e < dims ? points.at(k, e) : static_cast<T>(p.source.index(own + k));
              return cell_of(shared.scales[e], value);
            });
      } else {
        return cell_of(shared.scales[d], x);
      }
    };
    const auto count_column = [&](std::uint32_t d) {
      const CellBins own_bins = shared.bins[d];
      std::uint32_t* counts = shared.counters + d * bins;
      std::uint16_t cells[kEach];
      T x[kEach];
      bool is_there[kEach];
      T known = 0;
      bool is_any_there = false;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        is_there[k] = kWhole || (own + k >= first && own + k < end);
        if (is_there[k]) x[k] = d < dims ? points.at(k, d) : static_cast<T>(p.source.index(own + k));
        if (is_there[k]) known = x[k];
        is_any_there = is_any_there || is_there[k];
      }
      T low = known, high = known, spoilt = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if (is_there[k]) {
          low = x[k] < low ? x[k] : low;
          high = x[k] > high ? x[k] : high;
          spoilt += x[k] * T(0);
          const std::uint32_t cell = cell_in(k, d, x[k]);
          cells[k] = static_cast<std::uint16_t>(cell);
          atomic_add(counts + bin_of(own_bins, cell), 1u);
          if (!kWhole && d < dims) p.cells(d)[own + k] = cells[k];
        }
      }
      if (kWhole && d < dims) store_vector(p.cells(d) + own, cells);
      sync_warp();
      if (!kWhole) {  // lanes without a point take another's
        const std::uint32_t lanes = ballot(is_any_there);
        if (lanes == 0) return;
        const T other_low = shuffle(low, lowest_bit(lanes)), other_high = shuffle(high, lowest_bit(lanes));
        if (!is_any_there) {
          low = other_low;
          high = other_high;
        }
      }
      // What is not finite makes the sum of zeros NaN.
      join_tight(shared.tight, dims, d, low, high, !(spoilt == T(0)));
    };
    if constexpr (kDims > 0) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) count_column(d);
    } else {
      for (std::uint32_t d = 0; d < dims; ++d) count_column(d);
    }
    if (are_numbers_counted) count_column(dims);
  });
}

/// The same, out of the way of plain cells.
template <std::uint32_t kDims, Layout kLayout, typename T>
KITH_NOINLINE __device__ void count_tied_slice(const GroupParameters<T>& p, const SegmentSlice slice) {
  if constexpr (kDims > 0) {
    count_tied_points<kDims, kLayout>(p, slice);
  } else {
    count_slice<true, kDims, kLayout>(p, slice, false);
  }
}

/// Pass 0: the cells of all points, histograms [dimension][bin] and the tight box.
template <typename T, std::uint32_t kDims, Layout kLayout>
__global__ void __launch_bounds__(kPassThreads, 2) count_root(const __grid_constant__ GroupParameters<T> p) {
  const std::uint32_t dims = kDims > 0 ? kDims : p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  const RootShared<T> shared(dims);
  for (std::uint32_t i = thread_number(); i < (dims + 1) * bins; i += kPassThreads) shared.counters[i] = 0;
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += kPassThreads) shared.tight[i] = 0;
  if (p.root_range != nullptr && p.tied != nullptr && thread_number() < kTabledDims) {
    shared.ties->few[thread_number()] = shared.ties->found[thread_number()] = 0;
  }
  start_next();
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  wait_for_previous();
  load_range(p, slice.segment, dims, shared.tight, shared.range, *shared.ties);
  sync_block();
  const bool are_numbers_counted = counts_numbers(dims, shared.range);
#pragma unroll 1
  for (std::uint32_t d = thread_number(); d <= dims; d += kPassThreads) {
    shared.scales[d] = scale_of_range(shared.range[d], shared.range[dims + 1 + d]);
    shared.bins[d] = root_bins(p, slice.segment, d, shared.scales[d], bins);
  }
  sync_block();
  if (!are_numbers_counted && may_have_ties(p, dims, *shared.ties) && prepare_ties(p, slice.segment)) {
    count_tied_slice<kDims, kLayout>(p, slice);
  } else {
    count_slice<false, kDims, kLayout>(p, slice, are_numbers_counted);
  }
  sync_block();
  flush_counters(p, slice.segment, shared.counters, (dims + 1) * bins);
  OrderedKey<T>* box = p.tight + std::uint64_t{slice.segment} * 2 * (dims + 1);
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += kPassThreads) {
    if (shared.tight[i] != 0) atomic_max(&box[i], shared.tight[i]);
  }
}

}  // namespace kith::cuda
