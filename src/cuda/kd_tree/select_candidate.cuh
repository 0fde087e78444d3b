// Which of the candidates of a node is the first point of its right half: the one of a given rank by the super-key.
//
// A few are ranked by comparing all pairs; more, if each has a thread, as select_own.cuh tells. Of many, and of those
// that are tied, rounds of a histogram over the ordered keys leave a few; candidates that are equal in one component of
// the super-key go on with the next one, so that ties cost at most dims + 1 times the rounds. A long list may be worked
// on by several blocks, which then meet after each look at the list.
//
// What is found lies in StepShared.
#pragma once

#include "cuda/kd_tree/publish_node.cuh"
#include "cuda/kd_tree/super_key.cuh"
#include "cuda/kd_tree/team.cuh"

namespace kith::cuda {

/// The node whose split a block is about to find, and the block's part of that.
struct StepTask {
  std::uint32_t level;  ///< of the node, in the group
  std::uint32_t each;   ///< blocks for each node, if its list is long
  std::uint32_t segment, heap;
  std::uint32_t block, blocks;  ///< of those that share the list
  std::uint32_t count;          ///< of candidates
  std::uint32_t dim;            ///< by which they are told apart
  std::uint32_t stage;          ///< the component of the super-key that their keys hold at first

  __device__ __forceinline__ StepTask(std::uint32_t level_of_nodes, std::uint32_t blocks_each)
      : level(level_of_nodes), each(blocks_each) {
    const std::uint32_t number = block_number() / each;
    segment = number >> level;
    heap = (1u << level) + (number & ((1u << level) - 1));
    block = block_number() - number * each;
  }

  template <typename T>
  __device__ __forceinline__ std::uint32_t candidates(const GroupParameters<T>& p) const {
    return p.nodes[std::uint64_t{segment} * kHeap + heap].candidates;
  }
  __device__ __forceinline__ bool is_needed(std::uint32_t found) const { return block == 0 || found > kLongList; }

  /// When the node is in shared memory.
  template <typename T>
  __device__ __forceinline__ void complete(const GroupParameters<T>& p) {
    const SplitNode<T>& node = step_node<T>();
    count = node.candidates;
    dim = node.median.dim;
    stage = dim < p.shape.dims && !node.are_equal() ? 0 : p.shape.dims;
    blocks = count > kLongList ? each : 1;
  }
};

/// The part of a node's candidates that a block looks at: entries of keys, places and candidate_values.
struct CandidateList {
  std::uint64_t base;  ///< of the node
  std::uint32_t first, end;

  template <typename T>
  __device__ __forceinline__ CandidateList(const GroupParameters<T>& p, const StepTask& task)
      : base(first_place(p, task.segment, task.level, task.heap)),
        first(static_cast<std::uint32_t>(std::uint64_t{task.count} * task.block / task.blocks)),
        end(static_cast<std::uint32_t>(std::uint64_t{task.count} * (task.block + 1) / task.blocks)) {}
};

/// What the blocks that work on a list share.
template <typename T>
__device__ __forceinline__ ListCells& shared_cells(const GroupParameters<T>& p, const StepTask& task) {
  const std::uint32_t above = ((1u << task.level) - 1) << p.first_level;  // nodes of the group's levels above
  return p.lists[above + (task.segment << task.level) + (task.heap - (1u << task.level))];
}

/// The candidates of the threads of a block, in shared memory.
template <typename T>
struct StoredCandidates {
  OrderedKey<T>* keys;
  std::uint32_t* places;

  __device__ __forceinline__ explicit StoredCandidates(const GroupParameters<T>& p) {
    const StepLayout<T> layout(p.shape.dims, 0, p.sample_shift > 0, threads_per_block());
    keys = reinterpret_cast<OrderedKey<T>*>(shared_memory() + layout.keys);
    places = reinterpret_cast<std::uint32_t*>(shared_memory() + layout.places);
  }
};

/// What the key of a first component says: a coordinate, or the number of a point.
template <typename T>
__device__ __forceinline__ T first_value(OrderedKey<T> key, bool is_coordinate) {
  return is_coordinate ? value_of_key<T>(key) : static_cast<T>(static_cast<std::uint32_t>(key - 1));
}

/// The split of a node: its first point to the right.
template <typename T>
struct Selected {
  OrderedKey<T> key;  ///< in the component that the keys of the list hold now
  T value;            ///< in the dimension by which the node is split; -0 is +0
  std::uint32_t place;
  std::uint32_t stage;  ///< that component

  __device__ __forceinline__ Selected(std::uint32_t dims, std::uint32_t dim) {
    const StepShared& cells = step_shared();
    key = static_cast<OrderedKey<T>>(cells.split_key);
    const bool is_first = cells.split_stage == (dim < dims ? 0 : dims);
    value = first_value<T>(is_first ? key : static_cast<OrderedKey<T>>(cells.split_first), dim < dims);
    place = cells.split_place;
    stage = cells.split_stage;
  }
};

/// Whether a candidate with the key of the split lies in the right half.
template <typename T>
__device__ __forceinline__ bool is_right_tie(const GroupParameters<T>& p, std::uint32_t dim, const Selected<T>& split,
                                             std::uint32_t place) {
  return place == split.place ||
         !precedes(p.source, p.shape.dims, place, std::uint64_t{split.place}, dim, split.stage + 1);
}

/// Notes a key that `less` others precede, if it is the one of the rank, and its place, unless `equal`, itself
/// included, are equal to it.
__device__ __forceinline__ void note_if_ranked(std::uint64_t key, std::uint32_t less, std::uint32_t equal,
                                               std::uint32_t rank, std::uint32_t stage, const std::uint32_t& place) {
  if (rank - less >= equal) return;  // so it is, too, if the rank is less than `less`
  StepShared& cells = step_shared();
  cells.split_key = key;
  cells.split_stage = stage;
  cells.split_equal = equal;
  cells.split_rank = rank - less;
  if (equal == 1) cells.split_place = place;
}

/// Finds the key that `rank` others precede, and its place, unless others are equal to it. The block has to meet.
template <typename Key>
__device__ __forceinline__ void rank_all_pairs(const Key* keys, const std::uint32_t* places, std::uint32_t count,
                                               std::uint32_t rank, std::uint32_t stage) {
  // Four threads for each of them; whole warps, so that the four can add up.
  const std::uint32_t quarters = (4 * count + kWarp - 1) / kWarp * kWarp;
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < quarters; i += threads_per_block()) {
    const std::uint32_t a = i / 4;
    const Key own = keys[a < count ? a : 0];
    std::uint32_t sums = 0;  // of those less, and of those equal above 16 bits
#pragma unroll 4
    for (std::uint32_t b = i % 4; b < count; b += 4) {
      const Key other = keys[b];
      sums += other < own ? 1 : other == own ? 1 << 16 : 0;
    }
    sync_warp();
    sums += shuffle_xor(sums, 1);
    sums += shuffle_xor(sums, 2);
    if (i % 4 == 0 && a < count) note_if_ranked(own, sums & 0xffffu, sums >> 16, rank, stage, places[a]);
  }
}

/// Which of the equal ones has the rank: they are ranked by one component after the other, until one is alone. The keys
/// of the others are lost. The block meets.
template <typename T>
__device__ __forceinline__ void break_tie(const PointSource<T>& source, std::uint32_t dims, std::uint32_t dim,
                                          OrderedKey<T>* keys, const std::uint32_t* places, std::uint32_t count) {
  using Key = OrderedKey<T>;
  StepShared& cells = step_shared();
  const std::uint64_t first_key = cells.split_key;
  const std::uint32_t first_stage = cells.split_stage;
  std::uint32_t stage = first_stage;
#pragma unroll 1
  while (cells.split_equal > 1) {
    const auto key = static_cast<Key>(cells.split_key);
    const std::uint32_t rank = cells.split_rank;
    ++stage;
#pragma unroll 1
    for (std::uint32_t a = thread_number(); a < count; a += threads_per_block()) {
      keys[a] = keys[a] == key ? component_key(source, dims, places[a], dim, stage) : static_cast<Key>(~Key{0});
    }
    sync_block();
    rank_all_pairs(keys, places, count, rank, stage);
    sync_block();
  }
  if (thread_number() == 0) {
    cells.split_key = first_key;
    cells.split_stage = first_stage;
  }
  sync_block();
}

/// The rounds that leave but a few of many. `kHasValues`: candidates have their coordinates, because the scatter has
/// not begun.
template <bool kHasValues, typename T>
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
    while (remaining > kFew) {
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
      if (thread_number() == 0) cells.meetings = meetings_;
      sync_block();
    }
  }

 private:
  __device__ __forceinline__ bool is_shared() const { return blocks_ > 1; }

  /// The blocks meet, and their cells of the meeting before become those of the one after the next: nobody looks at
  /// them now.
  __device__ __forceinline__ void meet() {
    meet_blocks(&shared_->arrived, blocks_, meetings_);
    if (block_ != 0) return;
    const std::uint32_t round = (meetings_ + 1) % 3;
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
    const Key* const from = p_.keys + list_.base;
    for (std::uint32_t base = list_.first; base < end; base += kTogether * step) {
      const std::uint32_t i = base + thread_number();
      Key keys[kTogether];
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) keys[k] = i + k * step < end ? from[i + k * step] : Key{0};
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (base + k * step < end) f(i + k * step, keys[k], i + k * step < end);
      }
    }
    sync_warp();
  }

  /// Notes the least and the greatest key of a warp, for join_extremes. The block has to meet.
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

  /// Those of all blocks: before they meet, and afterwards.
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
    Key* const keys = p_.keys + list_.base;
    Key least = static_cast<Key>(~Key{0}), greatest = 0;
    for (std::uint32_t i = list_.first + thread_number(); i < end; i += kTogether * step) {
      Key next[kTogether];
      std::uint32_t equal = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        next[k] = i + k * step < end ? keys[i + k * step] : Key{0};
        equal |= (next[k] == low ? 1u : 0u) << k;
        next[k] = next[k] < low ? Key{0} : static_cast<Key>(~Key{0});
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if ((equal >> k & 1) != 0) next[k] = key_of_entry(i + k * step, stage);
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if ((equal >> k & 1) != 0) {
          least = next[k] < least ? next[k] : least;
          greatest = next[k] > greatest ? next[k] : greatest;
        }
        if (i + k * step < end) keys[i + k * step] = next[k];
      }
    }
    sync_warp();
    note_extremes(least, greatest);
    sync_block();
    if (is_shared()) {
      const std::uint32_t round = meetings_ % 3;
      if (warp_number() == 0) share_extremes(round);
      meet();
      load_extremes(round, low, high);
    } else {
      join_extremes(low, high);
      sync_block();
    }
  }

  __device__ __forceinline__ Key key_of_entry(std::uint32_t entry, std::uint32_t stage) const {
    const std::uint32_t dims = p_.shape.dims;
    if (!kHasValues || stage >= dims) {
      return component_key(p_.source, dims, p_.places[list_.base + entry], dim_, stage);
    }
    const std::uint32_t axis = dim_ + stage < dims ? dim_ + stage : dim_ + stage - dims;
    return ordered_key(p_.candidate_values[axis * p_.out_stride + list_.base + entry]);
  }

  /// Keeps the bin of [low, high] in which the rank lies, as far as there are keys: where ties are it ends with low ==
  /// high, however many bits they have.
  __device__ __forceinline__ void narrow(Key& low, Key& high, std::uint32_t& rank, std::uint32_t& remaining) {
    StepShared& cells = step_shared();
    std::uint32_t* histogram = cells.histogram;
    const std::uint32_t width = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(high - low));
    const std::uint32_t shift = width > 10 ? width - 10 : 0, round = meetings_ % 3;
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
    meet();
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
      places[entry] = p_.places[list_.base + i];
      keys[entry] = key;
    });
    if (is_shared()) {
      meet();
      for (std::uint32_t i = thread_number(); i < kFew; i += threads_per_block()) {
        cells.few_places[i] = load_fresh(&places[i]);
        own_keys[i] = load_fresh(&keys[i]);
      }
      if (thread_number() == 0) cells.few = load_fresh(count);
    }
    sync_block();
  }

  const GroupParameters<T>& p_;
  CandidateList list_;
  ListCells* shared_;
  std::uint32_t dim_, first_stage_, block_, blocks_;
  std::uint32_t meetings_ = 0;
};

/// Whether a node has so few candidates that they are ranked without a look at the list.
__device__ __forceinline__ bool is_ranked_at_once(const StepTask& task) {
  return task.count <= kFew && task.count <= threads_per_block();
}

/// Finds the split, however many candidates there are, if those that are ranked at once are known to be tied.
template <bool kHasValues, bool kMayBeTied, typename T>
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
  CandidateSelection<kHasValues, T>(p, task).run(node.needed, task.count, low, high);
}

}  // namespace kith::cuda
