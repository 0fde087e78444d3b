// The last step of a group, after its scatter: the splits of its last level are found exactly, and the candidates,
// which the scatter has left out, move to the ends of the nodes.
#pragma once

#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/medians/node_samples.cuh"
#include "cuda/kd_tree/build/medians/publish_node.cuh"
#include "cuda/kd_tree/build/medians/select_many.cuh"
#include "cuda/kd_tree/build/medians/step_node.cuh"
#include "cuda/kd_tree/build/ties/tied_own.cuh"

namespace kith::cuda {

/// Where the candidates of a node go: they fill the ends of its halves. Blocks that share a list go on behind the
/// points that are there.
template <typename T>
class CandidateSlots {
 public:
  __device__ __forceinline__ CandidateSlots(const GroupParameters<T>& p, const StepTask& task, std::uint32_t needed)
      : is_shared_(task.blocks > 1) {
    const std::uint32_t level = p.first_level + p.levels;
    const std::uint64_t left = 2 * ((std::uint64_t{task.segment} << task.level) + task.heap - (1u << task.level));
    const std::uint64_t middle = p.shape.geometry.first(level, left + 1);
    left_ = is_shared_ ? p.shape.geometry.first(level, left) : middle - needed;
    right_ = is_shared_ ? middle : p.shape.geometry.first(level, left + 2) - (task.count - needed);
    cursors_ = p.cursors + left * kCursorStride;
  }

  /// Room for one candidate of each lane that has one. Whole warps.
  __device__ __forceinline__ std::uint64_t take(bool is_there, bool is_right) {
    const std::uint32_t lefts = ballot(is_there && !is_right), rights = ballot(is_there && is_right);
    std::uint32_t moved = 0;
    if (lane_number() < 2) {  // a lane for each half
      const std::uint32_t count = count_bits(lane_number() == 0 ? lefts : rights);
      if (is_shared_) {
        moved = atomic_add(&cursors_[lane_number() * kCursorStride], count);
      } else {
        moved = atomic_add(&step_shared().moved[lane_number()], count);
      }
    }
    sync_warp();
    const std::uint32_t before = count_bits((is_right ? rights : lefts) & ((1u << lane_number()) - 1));
    return (is_right ? right_ : left_) + shuffle(moved, is_right ? 1 : 0) + before;
  }

 private:
  bool is_shared_;
  std::uint64_t left_, right_;
  std::uint32_t* cursors_;
};

/// The boxes of the halves of a node whose split is found.
template <typename T>
__device__ __forceinline__ void cut_child_boxes(const GroupParameters<T>& p, const StepTask& task,
                                                const StepNode<T>& known, const Selected<T>& split) {
  const std::uint32_t dims = p.shape.dims, sides = p.child_sides;
  const std::uint64_t left = 2 * ((std::uint64_t{task.segment} << task.level) + task.heap - (1u << task.level));
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < 4 * sides; i += threads_per_block()) {
    const bool is_right = i >= 2 * sides;
    const std::uint32_t rest = is_right ? i - 2 * sides : i;
    const bool is_upper = rest >= sides;
    const std::uint32_t d = is_upper ? rest - sides : rest;
    const T side = d == task.dim && is_upper != is_right ? split.value : known.box[(is_upper ? dims + 1 : 0) + d];
    p.child_boxes[left * 2 * sides + i] = side;
    if (p.child_windows != nullptr) p.child_windows[left * 2 * sides + i] = side;
  }
}

/// Where the medians of the halves lie, by their samples: the next group counts there. The block has synchronised since
/// the windows were written.
template <typename T>
__device__ __forceinline__ void guess_child_windows(const GroupParameters<T>& p, const StepTask& task,
                                                    const Selected<T>& split) {
  const std::uint32_t dims = p.shape.dims, sides = p.child_sides;
  const std::uint64_t left = 2 * ((std::uint64_t{task.segment} << task.level) + task.heap - (1u << task.level));
  const std::uint32_t warps =
      threads_per_block() / kWarp < kGuessingWarps ? threads_per_block() / kWarp : kGuessingWarps;
  if (warp_number() >= warps || task.dim == dims) return;
#pragma unroll 1
  for (std::uint32_t i = warp_number(); i < 2 * dims; i += warps) {
    const std::uint32_t half = i & 1, d = i / 2;
    const GuessedRange<T> range = guess_median(dims, 0, task.dim, split.value, half == 1, d);
    if (!range.is_known || lane_number() != 0) continue;
    T* window = p.child_windows + (left + half) * 2 * sides;
    window[d] = range.low;
    window[sides + d] = range.high;
  }
}

/// Moves the candidates of a list to the places where the list itself lies: first the place from which each of them
/// comes to where it goes, then, when all blocks have done so, the points.
template <typename T>
__device__ __forceinline__ void move_many(const GroupParameters<T>& p, const StepTask& task, const Selected<T>& split) {
  const CandidateList<true, T> list(p, task);
  // In the place itself, whatever its neighbours hold by now.
  const auto comes_from = [&](std::uint64_t to) { return p.places + to * p.place_words; };
  CandidateSlots<T> slots(p, task, step_node<T>().needed);
  constexpr std::uint32_t kTogether = 4;
  const std::uint32_t step = threads_per_block();
  for (std::uint32_t base = list.first; base < list.end; base += kTogether * step) {
    std::uint32_t from[kTogether];
    std::uint32_t there = 0, sides = 0, ties = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t i = base + k * step + thread_number();
      from[k] = i < list.end ? list.place(i) : 0;
      const OrderedKey<T> key = i < list.end ? list.key(i) : OrderedKey<T>{0};
      there |= (i < list.end ? 1u : 0u) << k;
      sides |= (key > split.key ? 1u : 0u) << k;
      ties |= (key == split.key ? 1u : 0u) << k;
    }
    for (; ties != 0; ties &= ties - 1) {
      const std::uint32_t k = lowest_bit(ties);
      if (is_right_tie(p, task.dim, split, list.place(base + k * step + thread_number()))) sides |= 1u << k;
    }
    sync_warp();
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint64_t to = slots.take((there >> k & 1) != 0, (sides >> k & 1) != 0);
      if ((there >> k & 1) != 0) *comes_from(to) = from[k];
    }
  }
  if (task.blocks > 1) {
    std::uint32_t barriers = step_shared().barriers;
    wait_for_blocks(&shared_cells(p, task).arrived, task.blocks, barriers);
  } else {
    sync_block();
  }
  for (std::uint32_t base = list.first + thread_number(); base < list.end; base += kTogether * step) {
    std::uint32_t from[kTogether], to[kTogether];
    std::uint32_t there = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t i = base + k * step;
      there |= (i < list.end ? 1u : 0u) << k;
      to[k] = i < list.end ? list.entry(i) : 0;
      from[k] = i < list.end ? load_fresh(comes_from(to[k])) : 0;
    }
    for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
      T values[kTogether];
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) values[k] = p.source.at(from[k], d);
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if ((there >> k & 1) != 0) p.out_values[d * p.out_stride + to[k]] = values[k];
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      if ((there >> k & 1) != 0) p.out_indices[to[k]] = p.source.index(from[k]);
    }
  }
}

/// Notes a split that is found, and makes known what the next group asks of its halves. The block may synchronise.
template <typename T>
__device__ __forceinline__ void note_last_split(const GroupParameters<T>& p, const StepTask& task,
                                                const StepNode<T>& known, const Selected<T>& split, bool guesses) {
  if (task.block != 0) return;
  if (thread_number() == threads_per_block() - 1) note_split(p, task, known, split);
  cut_child_boxes(p, task, known, split);
  if (!guesses) return;
  sync_block();
  guess_child_windows(p, task, split);
}

/// Moves the candidate of this thread, which has a number, if there is one. Whole warps.
template <typename T>
__device__ __forceinline__ void move_own(const GroupParameters<T>& p, const StepTask& task, const OwnCandidate<T>& own,
                                         std::uint32_t number, bool is_right) {
  const std::uint32_t dims = p.shape.dims;
  const bool is_there = thread_number() < task.count;
  const std::uint64_t to = CandidateSlots<T>(p, task, step_node<T>().needed).take(is_there, is_right);
  if (!is_there) return;
#pragma unroll
  for (std::uint32_t d = 0; d < kOwnDims; ++d) {
    if (d < dims) p.out_values[d * p.out_stride + to] = own.values[d];
  }
#pragma unroll 1
  for (std::uint32_t d = kOwnDims; d < dims; ++d) p.out_values[d * p.out_stride + to] = p.source.at(own.place, d);
  p.out_indices[to] = number;
}

/// Splits a node whose candidates are many or tied. Out of the way of other nodes.
template <typename T>
KITH_NOINLINE __device__ void place_many(const GroupParameters<T>& p, std::uint32_t each, bool guesses) {
  StepTask task(p.levels - 1, each);
  task.complete(p);
  const StepNode<T> known(p, task, 0);
  select_of_many<true, false>(p, task, known.box);
  const Selected<T> split(p.shape.dims, task.dim);
  note_last_split(p, task, known, split, guesses);
  move_many(p, task, split);
}

/// Splits a node whose cells refine ties. Out of the way, too.
template <typename T>
KITH_NOINLINE __device__ void place_tied(const GroupParameters<T>& p, std::uint32_t each, bool guesses) {
  StepTask task(p.levels - 1, each);
  task.complete(p);
  const StepNode<T> known(p, task, 0);
  // Again: it is near by now.
  OwnCandidate<T> own = fetch_candidate<true>(p, task, task.count, step_node<T>().needed);
  fetch_coordinates(p, task, own);
  const std::uint32_t number = number_of(p, task, own);
  TiedOwn<T> tied;
  const bool is_ranked = find_tied_split(p, task, own, number, tied);
  if (!is_ranked) select_of_tied<true>(p, task, own, known.box);
  const Selected<T> split(p.shape.dims, task.dim);
  note_last_split(p, task, known, split, guesses);
  if (is_ranked) {
    move_own(p, task, own, number, !(tied.rank < step_shared().split_key));
  } else {
    move_many(p, task, split);
  }
}

/// The last splits of the group: found exactly, and their candidates moved. As find_medians.
template <typename T>
__global__ void __launch_bounds__(kStepThreads, 1)
    place_candidates(const __grid_constant__ GroupParameters<T> p, std::uint32_t each) {
  StepTask task(p.levels - 1, each);
  const StepNode<T> known(p, task, 0);
  const std::uint32_t dims = p.shape.dims;
  start_next();
  begin_step<T>(p);
  wait_for_previous();
  const std::uint32_t candidates = task.candidates(p), needed = task.needed(p);
  const bool guesses = p.child_windows != nullptr && is_uneven(p, task.segment);
  if (!task.is_needed(candidates)) return;
  if (guesses) gather_samples(p, task.segment, task.level, task.heap, 1);
  OwnCandidate<T> own = fetch_candidate<true>(p, task, candidates, needed);
  fetch_node(p, task, known);
  const bool are_tied = is_tied(p, task.segment);
  if (thread_number() == 2) step_shared().is_tied = are_tied ? 1 : 0;
  if (are_tied) [[unlikely]] {
    stage_ties(p, task.segment, StepLayout<T>(dims, 0, p.sample_shift > 0, threads_per_block()).ties);
  }
  store_candidate(p, own);
  if (thread_number() < 2) step_shared().moved[thread_number()] = 0;
  if (are_tied) wait_for_copies();
  sync_block();
  if (step_shared().is_tied != 0) return place_tied(p, each, guesses);
  task.complete(p);
  fetch_coordinates(p, task, own);  // on their way while the split is found
  const std::uint32_t own_number = number_of(p, task, own);
  if (!find_clear_split(p, task, own)) return place_many(p, each, guesses);
  const Selected<T> split(dims, task.dim);
  note_last_split(p, task, known, split, guesses);
  move_own(p, task, own, own_number, !(own.key < split.key));
}

}  // namespace kith::cuda
