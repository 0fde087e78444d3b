// Pass 0 of a group: the cells of all points, histograms of every dimension, because the tight box that decides between
// them is found in the same pass, and samples. At the root every block first looks how far the points reach.
#pragma once

#include "cuda/kd_tree/cells.cuh"
#include "cuda/kd_tree/loaded_points.cuh"
#include "cuda/kd_tree/node_samples.cuh"
#include "cuda/kd_tree/pass_shared.cuh"

#include <type_traits>

namespace kith::cuda {

/// About how far all points reach, by a sample: joined to the box of those that the block has seen, for they are points
/// too. All blocks take the same ones, at no regular distance: a lattice would be seen through a sieve. The block
/// meets.
template <typename T>
__device__ __forceinline__ void join_sampled_range(const GroupParameters<T>& p, std::uint32_t dims,
                                                   OrderedKey<T>* tight) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kSampleBits = 10, kEach = (1u << kSampleBits) / kPassThreads;
  static_assert(kEach == 2);
  const auto points = static_cast<std::uint32_t>(p.shape.geometry.points);
  std::uint32_t places[kEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = thread_number() + k * kPassThreads, last = points - 1;
    const std::uint32_t from = i << (32 - kSampleBits) | i * 0x9e3779b1u >> kSampleBits;
    places[k] = points > 1u << kSampleBits ? static_cast<std::uint32_t>(std::uint64_t{from} * points >> 32)
                                           : (i < last ? i : last);
  }
  sync_block();
  constexpr std::uint32_t kAtOnce = 4;  // dimensions that are on their way together
#pragma unroll 1
  for (std::uint32_t base = 0; base < dims; base += kAtOnce) {
    T x[kAtOnce][kEach];
#pragma unroll
    for (std::uint32_t d = 0; d < kAtOnce; ++d) {
      if (base + d < dims) x[d][0] = p.source.at(places[0], base + d), x[d][1] = p.source.at(places[1], base + d);
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
    }
  }
  sync_block();
}

/// The range of a segment, into which its cells lie: the box that the group above has cut, or at the root a sample's,
/// which is noted for the steps and passes that follow. The block has to meet.
template <typename T>
__device__ __forceinline__ void load_range(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t dims,
                                           OrderedKey<T>* tight, T* range) {
  const std::uint32_t sides = dims + 1;
  if (p.root_range == nullptr) {
    for (std::uint32_t i = thread_number(); i < 2 * sides; i += kPassThreads) {
      range[i] = p.segment_boxes[std::uint64_t{segment} * 2 * sides + i];
    }
    return;
  }
  join_sampled_range(p, dims, tight);
  for (std::uint32_t i = thread_number(); i < 2 * sides; i += kPassThreads) {
    const bool is_upper = i >= sides, is_number = i == dims || i == dims + sides;
    const auto last = static_cast<T>(p.shape.geometry.points - 1);
    range[i] = is_number ? (is_upper ? last : T(0))
                         : value_of_key<T>(is_upper ? tight[i] : static_cast<OrderedKey<T>>(~tight[i]));
    if (block_number() == 0) p.root_range[i] = range[i];
  }
}

/// Whether the range says that all points of a segment may be equal: then their numbers are counted too.
template <typename T>
__device__ __forceinline__ bool counts_numbers(std::uint32_t dims, const T* range) {
  bool is_wide = false;
  for (std::uint32_t d = 0; d < dims; ++d) is_wide = is_wide || range[dims + 1 + d] > range[d];
  return !is_wide;
}

/// The shared memory of pass 0: counters, the tight box, how every dimension is cut into cells.
template <typename T>
KITH_HOST_DEVICE std::size_t root_shared_bytes(std::uint32_t dims) {
  return 4 * kCounters + (2 * sizeof(OrderedKey<T>) + sizeof(CellScale<T>) + sizeof(CellBins) + 2 * sizeof(T)) *
                             (std::size_t{dims} + 1);
}

/// Pass 0: the cells of all points, histograms [dimension][bin] and the tight box.
template <typename T, std::uint32_t kDims, Layout kLayout>
__global__ void __launch_bounds__(kPassThreads, 2) count_root(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kEach = kTogether<T>, kTile = kEach * kPassThreads;
  const std::uint32_t dims = kDims > 0 ? kDims : p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  auto* counters = reinterpret_cast<std::uint32_t*>(shared_memory());
  auto* tight = reinterpret_cast<Key*>(counters + kCounters);
  auto* scales = reinterpret_cast<CellScale<T>*>(tight + 2 * (dims + 1));
  T* range = reinterpret_cast<T*>(scales + dims + 1);
  auto* bins_of = reinterpret_cast<CellBins*>(range + 2 * (dims + 1));
  for (std::uint32_t i = thread_number(); i < (dims + 1) * bins; i += kPassThreads) counters[i] = 0;
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += kPassThreads) tight[i] = 0;
  start_next();
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  const auto segment_first = static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level, slice.segment));
  wait_for_previous();
  load_range(p, slice.segment, dims, tight, range);
  sync_block();
  const bool are_numbers_counted = counts_numbers(dims, range);
  for (std::uint32_t d = thread_number(); d <= dims; d += kPassThreads) {
    scales[d] = scale_of_range(range[d], range[dims + 1 + d]);
    bins_of[d] = root_bins(p, slice.segment, d, scales[d], bins);
  }
  sync_block();
  const auto join_tight = [&](std::uint32_t d, T low, T high, T spoilt) {
    // What is not finite makes the sum of zeros NaN, and NaN is above all.
    Key least = ordered_key(low), greatest = ordered_key(high);
    if (!(spoilt == T(0))) greatest = static_cast<Key>(~Key{0});
    least = min_of_warp(least);
    greatest = max_of_warp(greatest);
    if (lane_number() == 0) {
      atomic_max(&tight[d], static_cast<Key>(~least));
      atomic_max(&tight[dims + 1 + d], greatest);
    }
  };
  // Whole tiles need no conditions.
  const auto count_tile = [&](std::uint32_t own, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    LoadedPoints<T, kDims, kLayout> points;
    points.template load<kWhole>(p.source, own, first, end);
    if (kWhole && p.sample_shift > 0) {
      const std::uint32_t sample = sample_at(p, segment_first, own);
      if (sample != kNoSample) {
        note_sample(p, slice.segment, sample, 1);
        T* values = p.sample_values + std::uint64_t{slice.segment} * dims * kSamples + sample;
        for (std::uint32_t d = 0; d < dims; ++d) values[d * kSamples] = points.at(0, d);
      }
    }
    const auto count_column = [&](std::uint32_t d) {
      const CellScale<T> scale = scales[d];
      const CellBins own_bins = bins_of[d];
      std::uint32_t* counts = counters + d * bins;
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
          const std::uint32_t cell = cell_of(scale, x[k]);
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
      join_tight(d, low, high, spoilt);
    };
    if constexpr (kDims > 0) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) count_column(d);
    } else {
      for (std::uint32_t d = 0; d < dims; ++d) count_column(d);
    }
    if (are_numbers_counted) count_column(dims);
  };
  for (std::uint32_t tile = first / kEach * kEach; tile < end; tile += kTile) {
    const std::uint32_t own = tile + thread_number() * kEach;
    if (tile >= first && end - tile >= kTile) {
      count_tile(own, std::true_type{});
    } else {
      count_tile(own, std::false_type{});
      if (end - tile <= kTile) break;
    }
  }
  sync_block();
  flush_counters(p, slice.segment, counters, (dims + 1) * bins);
  Key* box = p.tight + std::uint64_t{slice.segment} * 2 * (dims + 1);
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += kPassThreads) {
    if (tight[i] != 0) atomic_max(&box[i], tight[i]);
  }
}

}  // namespace kith::cuda
