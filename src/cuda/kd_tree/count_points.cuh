// The read passes: kernels that count the points of each segment's nodes at one level in histograms in shared memory.
//
// Pass 0 counts every dimension, because the tight box that decides between them is found in the same pass. Pass l
// first sorts each point to the half of its node in which its bin lies; points in the bin of the median itself become
// candidates, and stay with their node until the next pass, when its split is known exactly.
#pragma once

#include "cuda/kd_tree/found_candidates.cuh"
#include "cuda/kd_tree/super_key.cuh"

namespace kith::cuda {

template <typename T>
__device__ ColumnBins<T> with_column(const GroupParameters<T>& p, const Bins<T>& bins) {
  return {bins.dim < p.shape.dims ? p.source.values + bins.dim * p.source.dim_stride : nullptr, bins.low, bins.scale};
}

/// Fills the tables for pass `level`; level 1 has no exact splits above, the last one no children.
template <typename T>
__device__ void load_tables(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level) {
  NodeTables<T>& tables = pass_shared<T>().tables;
  const std::uint32_t t = thread_number();
  const std::uint32_t parents = 1u << (level - 1);
  const std::uint64_t base = std::uint64_t{segment} * kHeap;
  if (level >= 2 && t < parents / 2) {
    const SplitNode<T>& node = p.nodes[base + parents / 2 + t];
    tables.exact[t] = {node.split_value, node.bins.dim, node.split_place};
  }
  if (t < parents) {
    const SplitNode<T>& node = p.nodes[base + parents + t];
    tables.parents[t] = with_column(p, node.bins);
    tables.medians[t] = node.median_bin;
  }
  if (level < p.levels && t < 2 * parents) {
    const CountedBins<T>& counted = p.counted[base + 2 * parents + t];
    tables.children[t] = with_column(p, counted.slots[0]);
    tables.has_second[t] = counted.used > 1 ? 1 : 0;
    if (counted.used > 1) tables.seconds[t] = with_column(p, counted.slots[1]);
  }
}

/// The coordinate by which a node tells its points apart.
template <typename T>
__device__ __forceinline__ T column_value(const GroupParameters<T>& p, const T* column, std::uint32_t place) {
  if (column == nullptr) return static_cast<T>(p.source.index(place));
  return column[std::uint64_t{place} * static_cast<std::uint32_t>(p.source.row_stride)];
}

template <typename T>
__device__ __forceinline__ std::uint32_t bin_in(const ColumnBins<T>& bins, T x, std::uint32_t count) {
  const std::uint32_t bin = to_unsigned((x - bins.low) * bins.scale);
  return bin < count ? bin : count - 1;
}

/// The parent of a point in pass `level`: known, or decided by the exact split of the node above it.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_heap(const GroupParameters<T>& p, std::uint32_t parents,
                                                      std::uint32_t place, std::uint32_t heap) {
  if (heap >= parents) return heap;
  const auto& exact = pass_shared<T>().tables.exact[heap - parents / 2];
  return 2 * heap + (is_right_of(p.source, p.shape.dims, place, exact.dim, exact.value, exact.place) ? 1 : 0);
}

/// Adds what this block counted to what all blocks of its segment count. A segment's only block need not add.
template <typename T>
__device__ void flush_counters(const GroupParameters<T>& p, std::uint32_t segment, const std::uint32_t* counters,
                               std::uint32_t used) {
  std::uint32_t* all = p.histogram + std::uint64_t{segment} * p.segment_counters;
  if (p.parts == 1) {
    for (std::uint32_t i = thread_number(); i < used; i += threads_per_block()) all[i] = counters[i];
    return;
  }
  // Two counters at a time: none reaches 2^32.
  auto* pairs = reinterpret_cast<std::uint64_t*>(all);
  const auto* own = reinterpret_cast<const std::uint64_t*>(counters);
  for (std::uint32_t i = thread_number(); i < (used + 1) / 2; i += threads_per_block()) {
    if (own[i] != 0) atomic_add(&pairs[i], own[i]);
  }
}

/// About how far all points reach: one row for each thread of the grid.
template <typename T>
__global__ void __launch_bounds__(kPassThreads) sample_range(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  start_next();
  wait_for_previous();
  const std::uint64_t points = p.shape.geometry.points;
  const std::uint64_t number = std::uint64_t{block_number()} * threads_per_block() + thread_number();
  const std::uint64_t samples = std::uint64_t{blocks_in_grid()} * threads_per_block();
  const std::uint64_t place = points <= samples ? number : number * points / samples;
  for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
    const Key key = place < points ? ordered_key(p.source.at(place, d)) : 0;
    const Key least = min_of_warp(place < points ? key : static_cast<Key>(~Key{0})), greatest = max_of_warp(key);
    if (lane_number() == 0 && greatest != 0) {
      atomic_max(&p.sampled[d], static_cast<Key>(~least));
      atomic_max(&p.sampled[p.shape.dims + 1 + d], greatest);
    }
  }
}

/// Between which values the points of a segment are counted in pass 0: its cut box, or the range of a sample.
template <typename T>
__device__ T range_side(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t d, bool is_upper) {
  const std::uint32_t sides = p.shape.dims + 1, i = is_upper ? sides + d : d;
  if (p.segment_boxes != nullptr) return p.segment_boxes[std::uint64_t{segment} * 2 * sides + i];
  if (d == p.shape.dims) return is_upper ? static_cast<T>(p.shape.geometry.points - 1) : T(0);
  return value_of_key<T>(is_upper ? p.sampled[i] : static_cast<OrderedKey<T>>(~p.sampled[i]));
}

/// Whether the ranges say that all points of a segment may be equal: then their numbers are counted too.
template <typename T>
__device__ bool counts_numbers(const GroupParameters<T>& p, std::uint32_t segment) {
  bool is_wide = false;
  for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
    is_wide = is_wide || range_side(p, segment, d, true) > range_side(p, segment, d, false);
  }
  return !is_wide;
}

/// The shared memory of pass 0: counters, the tight box, the bins of every dimension.
template <typename T>
KITH_HOST_DEVICE std::size_t root_shared_bytes(std::uint32_t dims) {
  return 4 * kCounters + (2 * sizeof(OrderedKey<T>) + sizeof(Bins<T>)) * (std::size_t{dims} + 1) + sizeof(T);
}

/// Pass 0: histograms [dimension][bin] and the tight box.
template <typename T>
__global__ void __launch_bounds__(kPassThreads, 3) count_root(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kEach = 8;
  const std::uint32_t dims = p.shape.dims, bins = bins_at(0, dims, p.most_bins), threads = threads_per_block();
  auto* counters = reinterpret_cast<std::uint32_t*>(shared_memory());
  auto* tight = reinterpret_cast<Key*>(counters + kCounters);
  auto* ranges = reinterpret_cast<Bins<T>*>(tight + 2 * (dims + 1));
  for (std::uint32_t i = thread_number(); i < (dims + 1) * bins; i += threads) counters[i] = 0;
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += threads) tight[i] = 0;
  start_next();
  wait_for_previous();
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  const std::uint32_t length = static_cast<std::uint32_t>(slice.end - slice.first);
  const auto first = static_cast<std::uint32_t>(slice.first);
  const std::uint32_t columns = dims + (counts_numbers(p, slice.segment) ? 1 : 0);
  for (std::uint32_t d = thread_number(); d <= dims; d += threads) {
    ranges[d] = bins_over(range_side(p, slice.segment, d, false), range_side(p, slice.segment, d, true), d, bins);
  }
  const auto load = [&](T(&x)[kEach], std::uint32_t tile, std::uint32_t d) {
    const T* column = d < dims ? p.source.values + d * p.source.dim_stride : nullptr;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint32_t i = tile + thread_number() + k * threads;
      if (i < length) x[k] = column_value(p, column, first + i);
    }
  };
  T next[kEach];
  load(next, 0, 0);
  sync_block();
  for (std::uint32_t tile = 0; tile < length; tile += kEach * threads) {
    for (std::uint32_t d = 0; d < columns; ++d) {
      T x[kEach];
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) x[k] = next[k];
      const bool is_last = d + 1 == columns;
      if (!is_last || tile + kEach * threads < length) {
        load(next, is_last ? tile + kEach * threads : tile, is_last ? 0 : d + 1);
      }
      const Bins<T> range = ranges[d];
      std::uint32_t* row = counters + d * bins;
      Key least = static_cast<Key>(~Key{0}), greatest = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if (tile + thread_number() + k * threads < length) {
          const Key key = ordered_key(x[k]);
          least = key < least ? key : least;
          greatest = key > greatest ? key : greatest;
          atomic_add(row + bin_of(range, x[k], bins), 1u);
        }
      }
      sync_warp();
      least = min_of_warp(least);
      greatest = max_of_warp(greatest);
      if (lane_number() == 0) {
        atomic_max(&tight[d], static_cast<Key>(~least));
        atomic_max(&tight[dims + 1 + d], greatest);
      }
    }
  }
  sync_block();
  flush_counters(p, slice.segment, counters, (dims + 1) * bins);
  Key* box = p.tight + std::uint64_t{slice.segment} * 2 * (dims + 1);
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += threads) {
    if (tight[i] != 0) atomic_max(&box[i], tight[i]);
  }
}

template <typename T>
KITH_HOST_DEVICE std::size_t level_shared_bytes() {
  return kBehindPassShared<T> + 4 * kCounters;
}

/// Pass l >= 1: histograms [child][slot][bin].
template <typename T>
__global__ void __launch_bounds__(kPassThreads, 2)
    count_level(const __grid_constant__ GroupParameters<T> p, std::uint32_t level) {
  constexpr std::uint32_t kEach = 4;
  const NodeTables<T>& tables = pass_shared<T>().tables;
  auto* counters = reinterpret_cast<std::uint32_t*>(shared_memory() + kBehindPassShared<T>);
  const std::uint32_t threads = threads_per_block(), parents = 1u << (level - 1);
  const std::uint32_t parent_bins = bins_at(level - 1, p.shape.dims, p.most_bins);
  const std::uint32_t bins = bins_at(level, p.shape.dims, p.most_bins);
  for (std::uint32_t i = thread_number(); i < 4 * parents * bins; i += threads) counters[i] = 0;
  start_next();
  wait_for_previous();
  if (*p.refused != 0) return;
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  const std::uint32_t length = static_cast<std::uint32_t>(slice.end - slice.first);
  const auto first = static_cast<std::uint32_t>(slice.first);
  load_tables(p, slice.segment, level);
  std::uint32_t found = 0;
  std::uint32_t next[kEach];
  const auto load_heap = [&](std::uint32_t tile) {
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint32_t i = tile + thread_number() + k * threads;
      next[k] = level > 1 && i < length ? p.heap[first + i] : parents;
    }
  };
  load_heap(0);
  sync_block();
  for (std::uint32_t tile = 0; tile < length; tile += kEach * threads) {
    const std::uint32_t own = tile + thread_number();
    std::uint32_t node[kEach];  // of the parents, from the first of their level
    std::uint32_t undecided = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (next[k] < parents) undecided |= 1u << k;
      node[k] = next[k];
    }
    while (undecided != 0) {
      const std::uint32_t k = lowest_bit(undecided);
      undecided &= undecided - 1;
      const std::uint32_t decided = decided_heap(p, parents, first + own + k * threads, pick(node, k));
#pragma unroll
      for (std::uint32_t j = 0; j < kEach; ++j) node[j] = j == k ? decided : node[j];
    }
    sync_warp();
    if (tile + kEach * threads < length) load_heap(tile + kEach * threads);
    T x[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      node[k] -= parents;
      x[k] = own + k * threads < length ? column_value(p, tables.parents[node[k]].column, first + own + k * threads)
                                        : T(0);
    }
    std::uint32_t candidates = 0, outside = 0;
    std::uint32_t half[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint32_t bin = bin_in(tables.parents[node[k]], x[k], parent_bins), median = tables.medians[node[k]];
      half[k] = 2 * node[k] + (bin > median ? 1 : 0);
      if (own + k * threads >= length) {
        outside |= 1u << k;
      } else if (bin == median) {
        candidates |= 1u << k;
      }
    }
    T y[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      y[k] = ((candidates | outside) >> k & 1) == 0
                 ? column_value(p, tables.children[half[k]].column, first + own + k * threads)
                 : T(0);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (((candidates | outside) >> k & 1) == 0) {
        atomic_add(counters + 2 * half[k] * bins + bin_in(tables.children[half[k]], y[k], bins), 1u);
        if (tables.has_second[half[k]] != 0) {
          const ColumnBins<T>& second = tables.seconds[half[k]];
          const T z = column_value(p, second.column, first + own + k * threads);
          atomic_add(counters + (2 * half[k] + 1) * bins + bin_in(second, z, bins), 1u);
        }
      }
      if ((outside >> k & 1) == 0) {
        p.heap[first + own + k * threads] =
            static_cast<std::uint8_t>((candidates >> k & 1) != 0 ? node[k] + parents : half[k] + 2 * parents);
      }
    }
    sync_warp();
    if (any_lane(candidates != 0)) {
#pragma unroll 1
      for (std::uint32_t k = 0; k < kEach; ++k) {
        note_candidate(p, slice.segment, level - 1, (candidates >> k & 1) != 0, pick(node, k), pick(x, k),
                       first + own + k * threads, found);
      }
    }
  }
  list_candidates(p, slice.segment, level - 1, found);
  sync_block();
  flush_counters(p, slice.segment, counters, 4 * parents * bins);
}

}  // namespace kith::cuda
