// A sample of the points of each segment, by which the region of a node's median is guessed where no histogram tells it
// (narrow_bins.cuh): its own histogram then has fine bins where they matter, however unevenly the points lie in the
// box. Any guess is right; a good one leaves few candidates.
//
// Pass 0 copies the coordinates of the samples, each pass notes the node of each, the step after it gathers those of
// its node.
#pragma once

#include "cuda/kd_tree/build/passes/segment_slice.cuh"
#include "cuda/kd_tree/build/team.cuh"

#include <cmath>

namespace kith::cuda {

inline constexpr std::uint32_t kNoSample = 0xffffffff;
inline constexpr std::uint32_t kGuessingWarps = 4;

/// The sample of a segment, which begins at `segment_first`, that the point at a place is: kNoSample if it is none. One
/// in so many places that lie side by side is, but no regular ones: a lattice would be seen through a sieve. All are
/// multiples of four.
template <typename T>
__device__ __forceinline__ std::uint32_t sample_at(const GroupParameters<T>& p, std::uint32_t segment_first,
                                                   std::uint32_t place) {
  const std::uint32_t part = place >> p.sample_shift, from = place - (part << p.sample_shift);
  const std::uint32_t chosen = (part * 0x9e3779b1u >> 1 >> (31 - p.sample_shift)) & ~3u;
  const std::uint32_t sample = part - (segment_first >> p.sample_shift);
  return from == chosen && sample < p.samples ? sample : kNoSample;
}

template <typename T>
__device__ __forceinline__ void note_sample(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t sample,
                                            std::uint32_t heap) {
  p.sample_heaps[std::uint64_t{segment} * p.samples + sample] = static_cast<std::uint8_t>(heap);
}

/// Copies the coordinates of the point at a place, `at(d)`, if it is a sample.
template <typename T, typename At>
__device__ __forceinline__ void copy_sample(const GroupParameters<T>& p, std::uint32_t segment,
                                            std::uint32_t segment_first, std::uint32_t place, std::uint32_t dims,
                                            const At& at) {
  if (p.sample_shift == 0) return;
  const std::uint32_t sample = sample_at(p, segment_first, place);
  if (sample == kNoSample) return;
  note_sample(p, segment, sample, 1);
  T* values = p.sample_values + std::uint64_t{segment} * dims * p.samples + sample;
  for (std::uint32_t d = 0; d < dims; ++d) values[std::uint64_t{d} * p.samples] = at(d);
}

/// The samples of up to two nodes in shared memory.
template <typename T>
struct NodeSamples {
  std::uint32_t* counts;
  T* values;   ///< [node][dimension][sample]
  T* scratch;  ///< [warp][sample of a half]
  std::uint32_t dims;

  __device__ __forceinline__ explicit NodeSamples(std::uint32_t of_dims)
      : counts(step_shared().samples),
        values(reinterpret_cast<T*>(shared_memory() + StepLayout<T>(of_dims, 0, true, 0).samples)),
        scratch(values + 2 * kNodeSamples * of_dims),
        dims(of_dims) {}

  __device__ __forceinline__ T& value(std::uint32_t node, std::uint32_t d, std::uint32_t i) const {
    return values[(node * dims + d) * kNodeSamples + i];
  }
};

/// Gathers samples of `nodes` nodes from `first_heap` on, which lie `level` levels below their segment: of all that
/// there are not more than are needed. The block must synchronise afterwards.
template <typename T>
KITH_NOINLINE __device__ void gather_samples(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                             std::uint32_t first_heap, std::uint32_t nodes) {
  const NodeSamples<T> samples(p.shape.dims);
  const std::uint32_t dims = p.shape.dims;
  constexpr std::uint32_t kTogether = 8;
  const std::uint8_t* heaps = p.sample_heaps + std::uint64_t{segment} * p.samples;
  const std::uint32_t all = p.samples;
  const std::uint32_t each = (all >> level) / kNodeSamples, step = each > 0 ? each : 1, end = all / step;
#pragma unroll 1
  for (std::uint32_t first = thread_number(); first < end; first += kTogether * threads_per_block()) {
    std::uint32_t found[kTogether], sample[kTogether];
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t i = first + k * threads_per_block();
      sample[k] = i * step + ((i * 0x9e3779b1u >> 16) * step >> 16);  // at no regular distance either
      found[k] = i < end ? heaps[sample[k]] : 0;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t node = found[k] - first_heap;
      if (node >= nodes) continue;
      const std::uint32_t at = atomic_add(&samples.counts[node], 1u);
      if (at >= kNodeSamples) continue;
#pragma unroll 1
      for (std::uint32_t d = 0; d < dims; ++d) {
        samples.value(node, d, at) = p.sample_values[(std::uint64_t{segment} * dims + d) * p.samples + sample[k]];
      }
    }
  }
}

/// Whether the points of a segment lie so unevenly that guesses pay.
template <typename T>
__device__ __forceinline__ bool is_uneven(const GroupParameters<T>& p, std::uint32_t segment) {
  return p.sample_shift > 0 && p.uneven[segment] != 0;
}

/// No node has samples yet. The block synchronises if it is to gather some.
template <typename T>
__device__ __forceinline__ void begin_samples(const GroupParameters<T>& p) {
  if (thread_number() < 2) step_shared().samples[thread_number()] = 0;
  if (p.sample_shift > 0) sync_block();
}

template <typename T>
struct GuessedRange {
  T low, high;
  bool is_known;
};

/// Between which values of dimension `way` the median of a half of node `node` lies, most likely; the halves are those
/// of a split of dimension `dim` at about `split`. The work of one of the first kGuessingWarps warps.
template <typename T>
KITH_NOINLINE __device__ GuessedRange<T> guess_median(std::uint32_t dims, std::uint32_t node, std::uint32_t dim,
                                                      T split, bool is_right, std::uint32_t way) {
  using Key = OrderedKey<T>;
  const NodeSamples<T> samples(dims);
  constexpr std::uint32_t kFewest = 12, kMost = kNodeSamples / 2, kEach = kMost / kWarp;
  constexpr Key kLast = static_cast<Key>(~Key{0});
  const std::uint32_t found = samples.counts[node] < kNodeSamples ? samples.counts[node] : kNodeSamples;
  T* const scratch = samples.scratch + warp_number() * kMost;
  std::uint32_t count = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kNodeSamples / kWarp; ++k) {
    const std::uint32_t i = lane_number() + k * kWarp;
    const bool is_in = i < found && (samples.value(node, dim, i < found ? i : 0) >= split) == is_right;
    const std::uint32_t lanes = ballot(is_in), at = count + count_bits(lanes & ((1u << lane_number()) - 1));
    if (is_in && at < kMost) scratch[at] = samples.value(node, way, i);
    count += count_bits(lanes);
  }
  count = count < kMost ? count : kMost;
  sync_warp();
  if (count < kFewest) return {T(0), T(0), false};
  T own[kEach];
  std::uint32_t ranks[kEach] = {};
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = lane_number() + k * kWarp;
    own[k] = scratch[i < count ? i : 0];
  }
#pragma unroll 4
  for (std::uint32_t j = 0; j < count; ++j) {
    const T other = scratch[j];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) ranks[k] += other < own[k] ? 1 : 0;
  }
  // The rank of the median in the sample has a standard deviation of half the root of the count. A guess that fails is
  // expensive, and there are thousands of nodes: more than four of them on either side.
  const auto reach = static_cast<std::uint32_t>(T(2.25) * std::sqrt(static_cast<T>(count))) + 1;
  Key low = 0, high = 0, beyond = kLast;
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const Key key = ordered_key(own[k]);
    if (key > low && (ranks[k] + reach <= count / 2 || ranks[k] == 0)) low = key;
    if (key < beyond && ranks[k] >= count / 2 + reach) beyond = key;
    high = key > high ? key : high;
  }
  low = max_of_warp(low);
  beyond = min_of_warp(beyond);
  high = max_of_warp(high);
  sync_warp();
  const T from = value_of_key<T>(low), to = value_of_key<T>(beyond == kLast ? high : beyond);
  return {from, to, to > from};
}

}  // namespace kith::cuda
