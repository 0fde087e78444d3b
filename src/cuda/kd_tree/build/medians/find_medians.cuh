// The steps between two passes: kernels that find the exact splits of one level, then the bins of the medians of their
// halves. One block for each node, several if its list of candidates is long.
//
// A step is nearly all waiting, so everything is fetched at once, whatever of it may be needed, and the block
// synchronises as rarely as can be.
#pragma once

#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/medians/publish_node.cuh"
#include "cuda/kd_tree/build/medians/select_many.cuh"
#include "cuda/kd_tree/build/medians/step_node.cuh"
#include "cuda/kd_tree/build/ties/tied_own.cuh"

namespace kith::cuda {

/// Counters on their way from global to shared memory: two vectors of four by each thread are loaded at once, the rest,
/// if there is one, when these have arrived.
class FetchedCounters {
 public:
  __device__ __forceinline__ FetchedCounters(const std::uint32_t* from, std::uint32_t counters)
      : from_(from), vectors_((counters + 3) / 4) {
#pragma unroll
    for (std::uint32_t k = 0; k < 2; ++k) {
      if (at(k) < vectors_) load_vector(from_ + 4 * at(k), loaded_[k]);
    }
  }
  __device__ __forceinline__ void store(std::uint32_t* to) const {
#pragma unroll
    for (std::uint32_t k = 0; k < 2; ++k) {
      if (at(k) < vectors_) store_vector(to + 4 * at(k), loaded_[k]);
    }
#pragma unroll 1
    for (std::uint32_t i = at(2); i < vectors_; i += threads_per_block()) {
      std::uint32_t counters[4];
      load_vector(from_ + 4 * i, counters);
      store_vector(to + 4 * i, counters);
    }
  }

 private:
  __device__ __forceinline__ std::uint32_t at(std::uint32_t k) const {
    return thread_number() + k * threads_per_block();
  }

  const std::uint32_t* from_;
  std::uint32_t vectors_;
  std::uint32_t loaded_[2][4];
};

/// Threads from `first` on set counters to zero, for the next pass.
__device__ __forceinline__ void clear_counters(std::uint32_t* all, std::uint32_t counters, std::uint32_t first) {
  constexpr std::uint32_t kZeros[4] = {0, 0, 0, 0};
  if (thread_number() < first) return;
#pragma unroll 1
  for (std::uint32_t i = thread_number() - first; i < (counters + 3) / 4; i += threads_per_block() - first) {
    store_vector(all + 4 * i, kZeros);
  }
}

/// Whether a bin of pass 0 holds so much more than its share that halves of halves may have most points in one bin. The
/// block synchronises.
template <typename T>
__device__ __forceinline__ bool has_full_bin(const GroupParameters<T>& p, const std::uint32_t* rows,
                                             std::uint32_t bins) {
  constexpr std::uint32_t kShares = 3;
  const auto full = static_cast<std::uint32_t>((p.shape.geometry.points >> p.first_level) * kShares / bins);
  bool is_full = false;
  for (std::uint32_t i = thread_number(); i < p.shape.dims * bins; i += threads_per_block()) {
    is_full = is_full || rows[i] > full;
  }
  return any_thread(is_full);
}

/// A segment with a coordinate that is not finite: its points go on as if they were all equal, which they may be for
/// all that follows, and no check is needed before the end. The work of one warp.
template <typename T>
KITH_NOINLINE __device__ void forget_box(const GroupParameters<T>& p, T* box, T* known) {
  const std::uint32_t dims = p.shape.dims;
#pragma unroll 1
  for (std::uint32_t d = lane_number(); d < dims; d += kWarp) {
    box[d] = known[d] = box[dims + 1 + d] = known[dims + 1 + d] = T(0);
  }
  if (lane_number() == 0) *p.refused = 1;
  sync_warp();
}

/// Where cells refine ties, ranks the halves of a segment in its histogram. Synchronises the block.
template <typename T>
KITH_NOINLINE __device__ void rank_halves_of_root(const GroupParameters<T>& p, std::uint32_t segment,
                                                  const std::uint32_t* row, std::uint32_t bins) {
  const std::uint32_t left = left_size(p, segment, 0, 1);
  rank_halves(p, segment, 0, 1, [&](std::uint32_t) { return NodeHistogram{1, left, row, bins}; });
  sync_block();
}

/// The root of each segment, from the histograms and the tight box of pass 0. A block for each segment.
template <typename T>
__global__ void __launch_bounds__(kStepThreads, 1) find_root_medians(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  constexpr T kInfinity =
      std::bit_cast<T>(sizeof(T) == 4 ? static_cast<Key>(0x7f800000u) : static_cast<Key>(0x7ff0000000000000ull));
  StepShared& shared = step_shared();
  start_next();
  begin_samples<T>(p);
  wait_for_previous();
  const std::uint32_t segment = block_number();
  const std::uint32_t dims = p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  const StepLayout<T> layout(dims, (dims + 1) * bins, p.sample_shift > 0, 0);
  std::uint32_t* const all = p.histogram + std::uint64_t{segment} * p.segment_counters;
  auto* rows = reinterpret_cast<std::uint32_t*>(shared_memory() + layout.rows);
  T* known = box_of(p, segment, 1);
  T* box = dims <= kStagedDims ? reinterpret_cast<T*>(shared_memory() + layout.boxes) : known;
  const bool are_tied = is_tied(p, segment);
  const FetchedCounters fetched(all, (dims + 1) * bins);
  stage_scales(p, segment);
  if (warp_number() == 0) {
    const Key* tight = p.tight + std::uint64_t{segment} * 2 * (dims + 1);
    bool is_wide = false, is_bad = false;
#pragma unroll 1
    for (std::uint32_t d = lane_number(); d <= dims; d += kWarp) {
      const Key least = static_cast<Key>(~tight[d]), greatest = tight[dims + 1 + d];
      const T range_low = range_side(p, segment, d, false), range_high = range_side(p, segment, d, true);
      const T low = d < dims ? value_of_key<T>(least) : range_low;
      const T high = d < dims ? value_of_key<T>(greatest) : range_high;
      box[d] = known[d] = low;
      box[dims + 1 + d] = known[dims + 1 + d] = high;
      is_wide = is_wide || (d < dims && range_high > range_low);
      // Keys of infinity and NaN lie outside those of finite numbers on either side.
      is_bad = is_bad || (d < dims && (greatest >= ordered_key(kInfinity) || least <= ordered_key(-kInfinity)));
    }
    sync_warp();
    const bool is_refused = any_lane(is_bad);
    if (is_refused) forget_box(p, box, known);
    std::uint32_t dim = working_dim(p, box, 0);
    // All equal, but not by the ranges: numbers were not counted, so that all points are candidates, unless the cells
    // that the tree will note refine ties.
    const bool is_uncounted = dim == dims && (is_refused || (any_lane(is_wide) && !are_tied));
    if (dim == dims && are_tied && !is_refused) dim = noted_dim(p, 0, dims);
    if (lane_number() == 0) {
      shared.slots[0] = dim;
      shared.slots[1] = is_uncounted ? 1 : 0;
      shared.is_tied = are_tied ? 1 : 0;
    }
  }
  if (are_tied) stage_ties(p, segment, layout.ties);
  fetched.store(rows);
  if (are_tied) wait_for_copies();
  sync_block();
  const std::uint32_t dim = shared.slots[0];
  const bool is_uncounted = shared.slots[1] != 0;
  const std::uint32_t* row = rows + dim * bins;
  if (bins > kPartBins) sum_parts(row, bins, row, 0);
  bool guesses = false;
  if (p.sample_shift > 0) {
    guesses = has_full_bin(p, rows, bins);
    if (thread_number() == 0) p.uneven[segment] = guesses ? 1 : 0;
    if (guesses) gather_samples(p, segment, 0, 1, 1);
  }
  if (guesses || bins > kPartBins) sync_block();
  if (shared.is_tied != 0 && p.levels > 1 && !is_uncounted) {
    rank_halves_of_root(p, segment, row, bins);
  }
  if (warp_number() == 0) {
    const std::uint32_t target = left_size(p, segment, 0, 1);
    KnownNode<T> root{segment, 0, 1, box, 0, target, nullptr, nullptr};
    if (is_uncounted) {
      publish_node<true>(p, root, MedianCells{dim, 0, kLastCell}, target);
    } else {
      const FoundBin found = find_bin(row, bins, shared.part_sums[0], target);
      const CellBins used = shared.is_tied != 0 ? tied_root_bins(p, step_ties(p, segment), segment, dim, bins)
                                                : root_bins(p, segment, dim, staged_scale(p, segment, dim), bins);
      root.histogram = row;
      root.bins = &used;
      publish_node<true>(p, root, cells_of(used, found.bin), target - found.below);
    }
  }
  if (p.parts > 1) clear_counters(all, (dims + 1) * bins, kWarp);
}

/// Adds the candidate of this thread to the histogram of the half in which it lies, by a split that has no equals.
template <typename T>
__device__ __forceinline__ void count_own(const GroupParameters<T>& p, const StepTask& task, const StepNode<T>& known,
                                          const Selected<T>& split, const OwnCandidate<T>& own, std::uint32_t bins) {
  const std::uint32_t side = own.key < split.key ? 0 : 1, slot = step_shared().slots[side];
  const CellBins& half = known.counted[side].slots[slot];
  T x = own.values[0];
#pragma unroll
  for (std::uint32_t d = 1; d < kOwnDims; ++d) x = half.dim == d ? own.values[d] : x;
  if (half.dim == p.shape.dims) {
    x = static_cast<T>(p.source.index(own.place));
  } else if (half.dim >= kOwnDims) {
    x = p.source.at(own.place, half.dim);
  }
  const std::uint32_t cell = cell_of(staged_scale(p, task.segment, half.dim), x);
  atomic_add(known.rows + (2 * side + slot) * bins + bin_of(half, cell), 1u);
}

/// The counters [side][slot][bin] of the halves of a node.
template <typename T>
__device__ __forceinline__ std::uint32_t* counters_of_halves(const GroupParameters<T>& p, const StepTask& task,
                                                             std::uint32_t bins) {
  return p.histogram + std::uint64_t{task.segment} * p.segment_counters +
         4 * (task.heap - (1u << task.level)) * std::uint64_t{bins};
}

/// Adds the candidates of this block's part of a list to the histograms of the halves in which they lie. `kTied`: by
/// cells that refine ties.
template <bool kTied, typename T>
__device__ __forceinline__ void count_many(const GroupParameters<T>& p, const StepTask& task, const StepNode<T>& known,
                                           const Selected<T>& split, std::uint32_t bins) {
  constexpr std::uint32_t kTogether = 4;
  const StepShared& cells = step_shared();
  const CandidateList<false, T> list(p, task);
  if (task.blocks > 1) {  // those of the pass are added only once
    for (std::uint32_t i = thread_number(); i < 4 * bins; i += threads_per_block()) known.rows[i] = 0;
    sync_block();
  }
  const std::uint32_t end = list.end, step = threads_per_block();
  for (std::uint32_t base = list.first; base < end; base += kTogether * step) {
    const std::uint32_t i = base + thread_number();
    std::uint32_t sides = 0, ties = 0;
    std::uint32_t cell[kTogether];
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const OrderedKey<T> key = i + k * step < end ? list.key(i + k * step) : OrderedKey<T>{0};
      sides |= (key > split.key ? 1u : 0u) << k;
      ties |= (key == split.key ? 1u : 0u) << k;
    }
    for (; ties != 0; ties &= ties - 1) {
      const std::uint32_t k = lowest_bit(ties);
      if (is_right_tie(p, task.dim, split, list.place(i + k * step))) sides |= 1u << k;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t entry = i + k * step, side = sides >> k & 1;
      if (entry >= end) continue;
      const std::uint32_t half_dim = known.counted[side].slots[cells.slots[side]].dim;
      if (kTied && half_dim < p.shape.dims) {
        cell[k] = tied_cell_at(p, task.segment, half_dim, list.place(entry), 0, kLastCell);
      } else {
        const T x = coordinate(p.source, p.shape.dims, list.place(entry), half_dim);
        cell[k] = cell_of(staged_scale(p, task.segment, half_dim), x);
      }
    }
    sync_warp();
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const bool is_there = i + k * step < end;
      const std::uint32_t side = sides >> k & 1, row = 2 * side + cells.slots[side];
      std::uint32_t at = 4 * bins;
      if (is_there) {
        const CellBins& half = known.counted[side].slots[cells.slots[side]];
        at = row * bins + bin_of(half, cell[k]);
      }
      if (all_lanes_equal(at)) {  // one addition for the warp
        if (lane_number() == 0 && is_there) atomic_add(known.rows + at, kWarp);
      } else if (is_there) {
        atomic_add(known.rows + at, 1u);
      }
      sync_warp();
    }
  }
  if (task.blocks > 1) {
    std::uint32_t* const all = counters_of_halves(p, task, bins);
    sync_block();
    for (std::uint32_t i = thread_number(); i < 4 * bins; i += threads_per_block()) {
      if (known.rows[i] != 0) atomic_add(&all[i], known.rows[i]);
    }
    std::uint32_t barriers = cells.barriers;
    wait_for_blocks(&shared_cells(p, task).arrived, task.blocks, barriers);
    for (std::uint32_t i = thread_number(); task.block == 0 && i < 4 * bins; i += threads_per_block()) {
      known.rows[i] = load_fresh(&all[i]);
    }
  }
}

/// What follows when the split of a node is found: it is noted, `count(split)` adds its candidates to the histograms of
/// its halves, and the bins of their medians are found.
template <bool kMayBeTied, typename T, typename Count>
__device__ __forceinline__ void split_node(const GroupParameters<T>& p, const StepTask& task, const StepNode<T>& known,
                                           Count&& count) {
  const std::uint32_t dims = p.shape.dims, level = task.level + 1, bins = bins_at(level, dims, p.most_bins);
  const Selected<T> split(dims, task.dim);
  StepShared& shared = step_shared();
  const std::uint32_t side = warp_number(), half_heap = 2 * task.heap + side;  // of the two warps that work on one
  T* const half = known.halves + side * 2 * (dims + 1);
  if (side < 2) {
    cut_box(known.box, half, box_of(p, task.segment, half_heap), dims, task.dim, split.value, side == 1);
    // Which dimension is the widest now.
    const std::uint32_t dim = working_dim(p, half, level);
    if (lane_number() == 0) shared.slots[side] = known.counted[side].slots[0].dim == dim ? 0 : 1;
  }
  if (thread_number() == 2 * kWarp && task.block == 0) note_split(p, task, known, split);
  sync_block();
  count(split);
  if (task.block != 0) return;
  sync_block();
  const std::uint32_t* const left = known.rows + shared.slots[0] * bins;
  const std::uint32_t* const right = known.rows + (2 + shared.slots[1]) * bins;
  const std::uint32_t left_bins = known.counted[0].slots[shared.slots[0]].count;
  const std::uint32_t right_bins = known.counted[1].slots[shared.slots[1]].count;
  if (left_bins > kPartBins || right_bins > kPartBins) {
    sum_parts(left, left_bins, right, right_bins);
    sync_block();
  }
  if (kMayBeTied && level + 1 < p.levels) {
    rank_halves(p, task.segment, level, 2, [&](std::uint32_t node) {
      const std::uint32_t heap = 2 * task.heap + node;
      return NodeHistogram{heap, left_size(p, task.segment, level, heap), node == 0 ? left : right,
                           node == 0 ? left_bins : right_bins};
    });
    sync_block();
  }
  if (side < 2) {
    const std::uint32_t target = left_size(p, task.segment, level, half_heap);
    const std::uint32_t* const row = side == 0 ? left : right;
    const CellBins* const counted = &known.counted[side].slots[shared.slots[side]];
    const FoundBin found = find_bin(row, counted->count, shared.part_sums[side], target);
    publish_node<kMayBeTied>(p, {task.segment, level, half_heap, half, side, target, row, counted},
                             cells_of(*counted, found.bin), target - found.below);
  }
  if (p.parts > 1) clear_counters(counters_of_halves(p, task, bins), 4 * bins, 2 * kWarp);
}

/// Splits a node whose cells refine ties. Out of the way of other nodes.
template <typename T>
KITH_NOINLINE __device__ void split_tied_node(const GroupParameters<T>& p, std::uint32_t level, std::uint32_t each) {
  const std::uint32_t bins = bins_at(level + 1, p.shape.dims, p.most_bins);
  StepTask task(level, each);
  task.complete(p);
  const StepNode<T> known(p, task, 4 * bins);
  const bool is_there = thread_number() < task.count;
  OwnCandidate<T> own = fetch_candidate<false>(p, task, task.count);  // again: it is near by now
  fetch_coordinates(p, task, own);
  TiedOwn<T> tied;
  const bool is_ranked = find_tied_split(p, task, own, number_of(p, task, own), tied);
  if (!is_ranked) select_of_tied<false>(p, task, own, known.box);
  split_node<true>(p, task, known, [&](const Selected<T>& split) {
    if (is_ranked) {
      if (is_there) count_tied_own(p, task, known, own, tied, bins);
    } else {
      count_many<true>(p, task, known, split, bins);
    }
  });
}

/// The splits of level `parent_level` of the group, then the bins of the medians of their halves. `each` blocks for a
/// node; if there are several, the launch is a cooperative one.
template <typename T>
__global__ void __launch_bounds__(kStepThreads, 1)
    find_medians(const __grid_constant__ GroupParameters<T> p, std::uint32_t parent_level, std::uint32_t each) {
  StepTask task(parent_level, each);
  const std::uint32_t bins = bins_at(parent_level + 1, p.shape.dims, p.most_bins);
  const StepNode<T> known(p, task, 4 * bins);
  start_next();
  begin_step<T>(p);
  wait_for_previous();
  const std::uint32_t candidates = task.candidates(p);
  const bool guesses = is_uneven(p, task.segment) && parent_level + 2 < p.levels;
  if (!task.is_needed(candidates)) return;
  if (guesses) gather_samples(p, task.segment, parent_level + 1, 2 * task.heap, 2);
  const FetchedCounters fetched(counters_of_halves(p, task, bins), 4 * bins);
  OwnCandidate<T> own = fetch_candidate<false>(p, task, candidates);
  copy_words(known.counted, &p.counted[std::uint64_t{task.segment} * kHeap + 2 * task.heap], 2, 2 * kWarp);
  fetch_node(p, task, known);
  stage_scales(p, task.segment);
  const bool are_tied = is_tied(p, task.segment);  // asked for after all that is fetched: the answer is not waited for
  if (thread_number() == 2) step_shared().is_tied = are_tied ? 1 : 0;
  if (are_tied) [[unlikely]] {
    stage_ties(p, task.segment, StepLayout<T>(p.shape.dims, 4 * bins, p.sample_shift > 0, threads_per_block()).ties);
  }
  store_candidate(p, own);
  fetched.store(known.rows);
  if (are_tied) wait_for_copies();
  sync_block();
  task.complete(p);
  fetch_coordinates(p, task, own);  // on their way while the split is found
  const bool is_clear = step_shared().is_tied == 0 && find_clear_split(p, task, own);
  if (step_shared().is_tied != 0) {
    split_tied_node(p, parent_level, each);
  } else if (is_clear) [[likely]] {
    split_node<false>(p, task, known, [&](const Selected<T>& split) {
      if (thread_number() < task.count) count_own(p, task, known, split, own, bins);
    });
  } else {
    select_of_many<false, false>(p, task, known.box);
    split_node<false>(p, task, known,
                      [&](const Selected<T>& split) { count_many<false>(p, task, known, split, bins); });
  }
}

}  // namespace kith::cuda
