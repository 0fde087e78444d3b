// The read passes: each counts the points of a segment's nodes at one level in histograms in shared memory.
//
// Pass 0 counts every dimension, because the tight box that decides between them is found in the same pass. Pass l
// first sorts each point to the half of its node in which its bin lies; points in the bin of the median itself become
// candidates, and stay with their node until the next pass, when its split is known exactly.
#pragma once

#include "cuda/kd_tree/group_shared.cuh"
#include "cuda/kd_tree/segment_slice.cuh"
#include "cuda/kd_tree/super_key.cuh"

namespace kith::cuda {

/// Fills the tables for pass `level`; level 1 has no exact splits above, the last one no children.
template <typename T>
__device__ void load_tables(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level) {
  NodeTables<T>& tables = group_shared<T>().tables;
  const std::uint32_t t = thread_number();
  const std::uint32_t parents = 1u << (level - 1);
  const std::uint64_t base = std::uint64_t{segment} * kHeap;
  if (level >= 2 && t < parents / 2) {
    const SplitNode<T>& node = p.nodes[base + parents / 2 + t];
    tables.exact[t] = {node.split_value, node.bins.dim, node.split_place};
  }
  if (t < parents) {
    const SplitNode<T>& node = p.nodes[base + parents + t];
    tables.parents[t] = {node.bins, node.median_bin};
  }
  if (level < p.levels && t < 2 * parents) tables.children[t] = p.counted[base + 2 * parents + t];
}

/// Appends the points of a warp that are candidates of their nodes to the nodes' lists. All lanes come here.
template <typename T>
__device__ void append_candidates(const GroupParameters<T>& p, const SegmentSlice& slice, std::uint32_t level,
                                  bool is_candidate, std::uint32_t heap, std::uint32_t dim, T x, std::uint64_t place) {
  if (!any_lane(is_candidate)) return;
  const std::uint32_t peers = match_lanes(is_candidate ? heap : kHeap);
  const std::uint32_t leader = lowest_bit(peers);
  std::uint32_t base = 0;
  if (is_candidate && lane_number() == leader) {
    base = atomic_add(&p.nodes[std::uint64_t{slice.segment} * kHeap + heap].candidates, count_bits(peers));
  }
  base = shuffle(base, leader);
  if (!is_candidate) return;
  const std::uint64_t entry =
      first_place(p, slice.segment, level, heap) + base + count_bits(peers & ((1u << lane_number()) - 1));
  p.keys[entry] = dim < p.shape.dims ? ordered_key(x) : static_cast<OrderedKey<T>>(p.source.index(place)) + 1;
  p.places[entry] = static_cast<std::uint32_t>(place);
}

template <typename T>
__device__ __forceinline__ std::uint32_t decided_heap(const GroupParameters<T>& p, const NodeTables<T>& tables,
                                                      std::uint32_t level, std::uint64_t place, std::uint32_t heap) {
  const std::uint32_t parents = 1u << (level - 1);
  if (heap >= parents) return heap;
  const auto& exact = tables.exact[heap - parents / 2];
  return 2 * heap + (is_right_of(p.source, p.shape.dims, place, exact.dim, exact.value, exact.place) ? 1 : 0);
}

/// Pass 0: histograms [dimension][bin], over `ranges`, and the tight box. Numbers are counted where the ranges say that
/// all points may be equal.
template <typename T>
KITH_NOINLINE __device__ void count_root(const GroupParameters<T>& p, const SegmentSlice slice, bool counts_numbers) {
  using Key = OrderedKey<T>;
  const T* ranges = group_ranges<T>();
  std::uint32_t* histogram = group_counters<T>();
  Key* tight = group_tight<T>(p.shape.dims);
  constexpr std::uint32_t kEach = 8;
  const std::uint32_t dims = p.shape.dims, bins = bins_at(0, dims, p.most_bins), threads = threads_per_block();
  for (std::uint64_t tile = slice.first; tile < slice.end; tile += std::uint64_t{kEach} * threads) {
    for (std::uint32_t d = 0; d < dims + (counts_numbers ? 1 : 0); ++d) {
      const Bins<T> range = bins_over(ranges[d], ranges[dims + 1 + d], d, bins);
      T x[kEach];
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        const std::uint64_t place = tile + thread_number() + std::uint64_t{k} * threads;
        if (place < slice.end) x[k] = coordinate(p.source, dims, place, d);
      }
      Key least = static_cast<Key>(~Key{0}), greatest = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        const std::uint64_t place = tile + thread_number() + std::uint64_t{k} * threads;
        if (place < slice.end) {
          const Key key = ordered_key(x[k]);
          least = key < least ? key : least;
          greatest = key > greatest ? key : greatest;
          atomic_add(&histogram[d * bins + bin_of(range, x[k], bins)], 1u);
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
}

/// Pass l >= 1: histograms [child][slot][bin].
template <typename T>
KITH_NOINLINE __device__ void count_level(const GroupParameters<T>& p, const SegmentSlice slice, std::uint32_t level) {
  const NodeTables<T>& tables = group_shared<T>().tables;
  std::uint32_t* histogram = group_counters<T>();
  constexpr std::uint32_t kEach = 4;
  const std::uint32_t dims = p.shape.dims, threads = threads_per_block();
  const std::uint32_t parents = 1u << (level - 1);
  const std::uint32_t parent_bins = bins_at(level - 1, dims, p.most_bins);
  const std::uint32_t bins = bins_at(level, dims, p.most_bins);
  for (std::uint64_t tile = slice.first; tile < slice.end; tile += std::uint64_t{kEach} * threads) {
    const std::uint64_t own = tile + thread_number();
    std::uint32_t heap[kEach];
    T x[kEach], y[kEach];
    bool is_candidate[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t place = own + std::uint64_t{k} * threads;
      heap[k] = level > 1 && place < slice.end ? p.heap[place] : parents;
    }
    if (level > 1) {
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        heap[k] = decided_heap(p, tables, level, own + std::uint64_t{k} * threads, heap[k]);
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t place = own + std::uint64_t{k} * threads;
      x[k] = place < slice.end ? coordinate(p.source, dims, place, tables.parents[heap[k] - parents].bins.dim) : T(0);
    }
    std::uint32_t half[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const auto& parent = tables.parents[heap[k] - parents];
      const std::uint32_t bin = bin_of(parent.bins, x[k], parent_bins);
      const bool is_inside = own + std::uint64_t{k} * threads < slice.end;
      is_candidate[k] = is_inside && bin == parent.median_bin;
      half[k] = 2 * heap[k] + (bin > parent.median_bin ? 1 : 0);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t place = own + std::uint64_t{k} * threads;
      const bool is_counted = place < slice.end && !is_candidate[k];
      y[k] = is_counted ? coordinate(p.source, dims, place, tables.children[half[k] - 2 * parents].slots[0].dim) : T(0);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t place = own + std::uint64_t{k} * threads;
      if (place < slice.end) {
        p.heap[place] = static_cast<std::uint8_t>(is_candidate[k] ? heap[k] : half[k]);
        if (!is_candidate[k]) {
          const std::uint32_t child = half[k] - 2 * parents;
          const CountedBins<T>& counted = tables.children[child];
          atomic_add(&histogram[2 * child * bins + bin_of(counted.slots[0], y[k], bins)], 1u);
          if (counted.used > 1) {
            const T z = coordinate(p.source, dims, place, counted.slots[1].dim);
            atomic_add(&histogram[(2 * child + 1) * bins + bin_of(counted.slots[1], z, bins)], 1u);
          }
        }
      }
    }
    sync_warp();
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      append_candidates(p, slice, level - 1, is_candidate[k], heap[k], tables.parents[heap[k] - parents].bins.dim, x[k],
                        own + std::uint64_t{k} * threads);
    }
  }
}

}  // namespace kith::cuda
