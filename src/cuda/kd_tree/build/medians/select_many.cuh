// The split of a node with more candidates than threads, or with some that are equal to it: rounds of a histogram over
// the ordered keys leave a few. Candidates that are equal in one component of the super-key go on with the next one, so
// that ties cost at most dims + 1 times the rounds. A long list may be worked on by several blocks, which then
// synchronise after each look at the list.
#pragma once

#include "cuda/kd_tree/build/medians/select_candidate.cuh"

namespace kith::cuda {

/// The rounds that leave but a few of many. `kIsLast`: of a node of the group's last level.
template <bool kIsLast, typename T>
class CandidateSelection {
 public:
  using Key = OrderedKey<T>;

  __device__ __forceinline__ CandidateSelection(const GroupParameters<T>& p, const StepTask& task)
      : p_(p),
        list_(p, task),
        shared_(task.blocks > 1 ? &shared_cells(p, task) : nullptr),
        dim_(task.dim),
        first_stage_(task.stage),
        block_(task.block),
        blocks_(task.blocks) {}

  /// The candidate that `rank` of `remaining` precede; their keys lie in [low, high].
  __device__ __forceinline__ void run(std::uint32_t rank, std::uint32_t remaining, Key low, Key high) {
    StepShared& cells = step_shared();
    std::uint32_t stage = first_stage_;
    while (remaining > kFewCandidates) {
      if (low == high) {
        if (stage == first_stage_ && thread_number() == 0) cells.split_first = low;
        ++stage;
        go_on_with(stage, low, high);
      } else {
        narrow(low, high, rank, remaining);
      }
    }
    collect_few(low, high);
    auto* keys = reinterpret_cast<Key*>(cells.few_keys);
    rank_all_pairs(keys, cells.few_places, cells.few, rank, stage);
    sync_block();
    if (cells.split_equal > 1) break_tie(p_.source, p_.shape.dims, dim_, keys, cells.few_places, cells.few);
    if (is_shared()) {
      if (thread_number() == 0) cells.barriers = barriers_;
      sync_block();
    }
  }

 private:
  __device__ __forceinline__ bool is_shared() const { return blocks_ > 1; }

  /// The blocks synchronise, and their cells of the barrier before become those of the one after the next: none reads
  /// them now.
  __device__ __forceinline__ void synchronise() {
    wait_for_blocks(&shared_->arrived, blocks_, barriers_);
    if (block_ != 0) return;
    const std::uint32_t round = (barriers_ + 1) % 3;
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) {
      shared_->histogram[round][b] = 0;
    }
    if (thread_number() == 0) shared_->least[round] = shared_->greatest[round] = 0;
  }

  /// Calls f(entry, key, is_there) for this block's part of the list; all lanes of a warp together.
  template <typename F>
  __device__ __forceinline__ void for_each_key(F&& f) {
    constexpr std::uint32_t kTogether = 32 / sizeof(Key);  // so many keys are on their way at a time
    const std::uint32_t step = threads_per_block(), end = list_.end;
    for (std::uint32_t base = list_.first; base < end; base += kTogether * step) {
      const std::uint32_t i = base + thread_number();
      Key keys[kTogether];
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) keys[k] = i + k * step < end ? list_.key(i + k * step) : Key{0};
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (base + k * step < end) f(i + k * step, keys[k], i + k * step < end);
      }
    }
    sync_warp();
  }

  /// Notes the least and the greatest key of a warp, for join_extremes. The block must synchronise afterwards.
  __device__ __forceinline__ void note_extremes(Key least, Key greatest) {
    StepShared& cells = step_shared();
    least = min_of_warp(least);
    greatest = max_of_warp(greatest);
    if (lane_number() == 0) {
      cells.least[warp_number()] = least;
      cells.greatest[warp_number()] = greatest;
    }
  }

  /// The least and the greatest key of the block. The work of one warp.
  __device__ __forceinline__ void join_extremes(Key& least, Key& greatest) const {
    const StepShared& cells = step_shared();
    const bool is_used = lane_number() < threads_per_block() / kWarp;
    least = min_of_warp(is_used ? static_cast<Key>(cells.least[lane_number()]) : static_cast<Key>(~Key{0}));
    greatest = max_of_warp(is_used ? static_cast<Key>(cells.greatest[lane_number()]) : Key{0});
  }

  /// Those of all blocks: before they synchronise, and afterwards.
  __device__ __forceinline__ void share_extremes(std::uint32_t round) {
    Key least, greatest;
    join_extremes(least, greatest);
    if (lane_number() == 0) {
      atomic_max(&shared_->least[round], ~static_cast<std::uint64_t>(least));
      atomic_max(&shared_->greatest[round], static_cast<std::uint64_t>(greatest));
    }
  }
  __device__ __forceinline__ void load_extremes(std::uint32_t round, Key& least, Key& greatest) const {
    least = static_cast<Key>(~load_fresh(&shared_->least[round]));
    greatest = static_cast<Key>(load_fresh(&shared_->greatest[round]));
  }

  /// All candidates left are equal to `low`: they get their keys of the next component, those that are decided get
  /// keys that no component has. Afterwards [low, high] is the range of the new ones.
  __device__ __forceinline__ void go_on_with(std::uint32_t stage, Key& low, Key& high) {
    constexpr std::uint32_t kTogether = 16 / sizeof(Key);
    const std::uint32_t step = threads_per_block(), end = list_.end;
    Key least = static_cast<Key>(~Key{0}), greatest = 0;
    for (std::uint32_t i = list_.first + thread_number(); i < end; i += kTogether * step) {
      Key next[kTogether];
      std::uint32_t equal = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        next[k] = i + k * step < end ? list_.key(i + k * step) : Key{0};
        equal |= (next[k] == low ? 1u : 0u) << k;
        next[k] = next[k] < low ? Key{0} : static_cast<Key>(~Key{0});
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if ((equal >> k & 1) == 0) continue;
        next[k] = component_key(p_.source, p_.shape.dims, list_.place(i + k * step), dim_, stage);
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if ((equal >> k & 1) != 0) {
          least = next[k] < least ? next[k] : least;
          greatest = next[k] > greatest ? next[k] : greatest;
        }
        if (i + k * step < end) list_.key(i + k * step) = next[k];
      }
    }
    sync_warp();
    note_extremes(least, greatest);
    sync_block();
    if (is_shared()) {
      const std::uint32_t round = barriers_ % 3;
      if (warp_number() == 0) share_extremes(round);
      synchronise();
      load_extremes(round, low, high);
    } else {
      join_extremes(low, high);
      sync_block();
    }
  }

  /// Keeps the bin of [low, high] in which the rank lies, as far as there are keys: where ties are it ends with low ==
  /// high, however many bits they have.
  __device__ __forceinline__ void narrow(Key& low, Key& high, std::uint32_t& rank, std::uint32_t& remaining) {
    StepShared& cells = step_shared();
    std::uint32_t* histogram = cells.histogram;
    const std::uint32_t width = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(high - low));
    const std::uint32_t shift = width > 10 ? width - 10 : 0, round = barriers_ % 3;
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) histogram[b] = 0;
    sync_block();
    Key least = static_cast<Key>(~Key{0}), greatest = 0;
    for_each_key([&](std::uint32_t, Key key, bool is_there) {
      const bool is_inside = is_there && key >= low && key <= high;
      const std::uint32_t bin = is_inside ? static_cast<std::uint32_t>((key - low) >> shift) : kSelectBins;
      if (is_inside) {
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
      }
      if (all_lanes_equal(bin)) {  // ties: one addition for the warp
        if (lane_number() == 0 && is_inside) atomic_add(&histogram[bin], kWarp);
      } else if (is_inside) {
        atomic_add(&histogram[bin], 1u);
      }
      sync_warp();
    });
    note_extremes(least, greatest);
    sync_block();
    if (is_shared()) {
      if (warp_number() == 0) share_extremes(round);
      share_histogram(round);
    }
    sum_parts(histogram, kSelectBins, histogram, 0);
    sync_block();
    if (warp_number() == 0) {
      const FoundBin found = find_bin(histogram, kSelectBins, cells.part_sums[0], rank);
      if (is_shared()) {
        load_extremes(round, least, greatest);
      } else {
        join_extremes(least, greatest);
      }
      if (lane_number() == 0) {
        cells.found = found;
        cells.found_least = least;
        cells.found_greatest = greatest;
      }
    }
    sync_block();
    rank -= cells.found.below;
    remaining = cells.found.count;
    low += static_cast<Key>(static_cast<Key>(cells.found.bin) << shift);
    const Key span = static_cast<Key>((Key{1} << shift) - 1);  // low + span may be too large for a key
    if (high - low > span) high = low + span;
    if (low < cells.found_least) low = static_cast<Key>(cells.found_least);
    if (high > cells.found_greatest) high = static_cast<Key>(cells.found_greatest);
  }

  /// The sum of the histograms of all blocks.
  __device__ __forceinline__ void share_histogram(std::uint32_t round) {
    std::uint32_t* histogram = step_shared().histogram;
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) {
      if (histogram[b] != 0) atomic_add(&shared_->histogram[round][b], histogram[b]);
    }
    synchronise();
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) {
      histogram[b] = load_fresh(&shared_->histogram[round][b]);
    }
    sync_block();
  }

  /// Those with keys in [low, high], to shared memory.
  __device__ __forceinline__ void collect_few(Key low, Key high) {
    StepShared& cells = step_shared();
    auto* own_keys = reinterpret_cast<Key*>(cells.few_keys);
    std::uint32_t* count = is_shared() ? &shared_->few : &cells.few;
    std::uint32_t* places = is_shared() ? shared_->few_places : cells.few_places;
    Key* keys = is_shared() ? reinterpret_cast<Key*>(shared_->few_keys) : own_keys;
    for_each_key([&](std::uint32_t i, Key key, bool is_there) {
      if (!is_there || key < low || key > high) return;
      const std::uint32_t entry = atomic_add(count, 1u);
      places[entry] = list_.place(i);
      keys[entry] = key;
    });
    if (is_shared()) {
      synchronise();
      for (std::uint32_t i = thread_number(); i < kFewCandidates; i += threads_per_block()) {
        cells.few_places[i] = load_fresh(&places[i]);
        own_keys[i] = load_fresh(&keys[i]);
      }
      if (thread_number() == 0) cells.few = load_fresh(count);
    }
    sync_block();
  }

  const GroupParameters<T>& p_;
  CandidateList<kIsLast, T> list_;
  ListCells* shared_;
  std::uint32_t dim_, first_stage_, block_, blocks_;
  std::uint32_t barriers_ = 0;
};

/// Finds the split, however many candidates there are, if those that are ranked at once are known to be tied.
template <bool kIsLast, bool kMayBeTied, typename T>
__device__ __forceinline__ void select_of_many(const GroupParameters<T>& p, const StepTask& task, const T* box) {
  using Key = OrderedKey<T>;
  const SplitNode<T>& node = step_node<T>();
  const std::uint32_t dims = p.shape.dims, dim = task.dim;
  if (is_ranked_at_once(task)) {
    const StoredCandidates<T> stored(p);
    return break_tie(p.source, dims, dim, stored.keys, stored.places, task.count);
  }
  Key low = 1, high = static_cast<Key>(p.shape.geometry.points);  // of numbers
  if (kMayBeTied && node.are_equal()) {
    low = static_cast<Key>(node.first_number) + 1;
    high = static_cast<Key>(node.last_number) + 1;
  } else if (dim < dims) {
    const SplitRange<T> range = known_split_range<kMayBeTied>(p, task.segment, node.scale, node.median, box);
    low = ordered_key(range.low);
    high = ordered_key(range.high);
  }
  CandidateSelection<kIsLast, T>(p, task).run(node.needed, task.count, low, high);
}

}  // namespace kith::cuda
