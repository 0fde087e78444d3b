// Which candidate is the split, if there is a thread for each of them but there are too many to compare all pairs: a
// histogram over the cells of the median, which notes the first few candidates of each bin, leaves those of one bin.
//
// The list is not looked at again, and the block synchronises twice. Where so many are in that bin that some are not
// noted, or equal, the split is found another way.
#pragma once

#include "cuda/kd_tree/build/medians/select_candidate.cuh"

namespace kith::cuda {

/// Whether a node's candidates are ranked so. Where cells refine ties they say nothing of values that differ.
template <typename T>
__device__ __forceinline__ bool is_binned_at_once(const StepTask& task) {
  return task.count > kFewCandidates && task.count <= threads_per_block() &&
         (step_shared().is_tied == 0 || step_node<T>().are_equal());
}

/// For rank_own_bins. The block must synchronise afterwards.
__device__ __forceinline__ void clear_own_bins() {
#pragma unroll 1
  for (std::uint32_t b = thread_number(); b < kOwnBins; b += threads_per_block()) step_shared().own_bins.counts[b] = 0;
}

/// The bin of a candidate with first component x, all bins being over the cells of the median. Monotone, as cells are.
template <typename T>
__device__ __forceinline__ std::uint32_t own_bin_of(const SplitNode<T>& node, T x) {
  const MedianCells& median = node.median;
  const float bins_in_cell =
      rough_quotient(static_cast<float>(kOwnBins), static_cast<float>(median.last - median.first + 1));
  const T cells = (x - node.scale.low) * node.scale.scale - static_cast<T>(median.first);
  T at = cells * static_cast<T>(bins_in_cell);
  if constexpr (sizeof(T) == 8) at = greater(T(0), at);  // as in cell_of
  const std::uint32_t bin = to_unsigned(at);
  return bin < kOwnBins ? bin : kOwnBins - 1;
}

/// The same for one of equal points, by its number.
template <typename T>
__device__ __forceinline__ std::uint32_t own_bin_of_number(const SplitNode<T>& node, std::uint32_t number) {
  const float bins_in_number =
      rough_quotient(static_cast<float>(kOwnBins), static_cast<float>(node.last_number - node.first_number) + 1.0f);
  const std::uint32_t bin = to_unsigned(static_cast<float>(number - node.first_number) * bins_in_number);
  return bin < kOwnBins ? bin : kOwnBins - 1;
}

/// Ranks the candidates of the bin in which the split lies; split_equal is 0 if there are more than were noted. The
/// work of one warp.
template <typename T>
__device__ __forceinline__ void rank_bin_of_split(const GroupParameters<T>& p, std::uint32_t stage) {
  using Key = OrderedKey<T>;
  StepShared& cells = step_shared();
  const StoredCandidates<T> stored(p);
  const std::uint32_t needed = step_node<T>().needed;
  const FoundBin found = find_bin(cells.own_bins.counts, kOwnBins, nullptr, needed);
  if (found.count > kOwnSlots) {
    if (lane_number() == 0) cells.split_equal = 0;
    return;
  }
  const bool is_there = lane_number() < found.count;
  const std::uint32_t thread = is_there ? cells.own_bins.threads[found.bin][lane_number()] : 0;
  const Key key = stored.keys[thread];
  const std::uint32_t place = stored.places[thread];
  std::uint32_t less = 0, equal = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < found.count; ++i) {
    const Key other = shuffle(key, i);
    less += other < key ? 1 : 0;
    equal += other == key ? 1 : 0;
  }
  if (is_there) note_if_ranked(key, less, equal, needed - found.below, stage, place);
}

/// Finds the split, each thread with the key of its own candidate. Synchronises the block.
template <typename T>
__device__ __forceinline__ void rank_own_bins(const GroupParameters<T>& p, const StepTask& task, OrderedKey<T> key) {
  OwnBins& bins = step_shared().own_bins;
  if (thread_number() < task.count) {
    const SplitNode<T>& node = step_node<T>();
    const std::uint32_t bin = node.are_equal() ? own_bin_of_number(node, static_cast<std::uint32_t>(key - 1))
                                               : own_bin_of(node, first_value<T>(key, task.dim < p.shape.dims));
    const std::uint32_t slot = atomic_add(&bins.counts[bin], 1u);
    if (slot < kOwnSlots) bins.threads[bin][slot] = static_cast<std::uint16_t>(thread_number());
  }
  sync_block();
  if (warp_number() == 0) rank_bin_of_split(p, task.stage);
  sync_block();
}

}  // namespace kith::cuda
