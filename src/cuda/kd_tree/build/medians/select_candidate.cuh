// Which of the candidates of a node is the first point of its right half: the one of a given rank by the super-key.
//
// A few are ranked by comparing all pairs; more, if each has a thread, as select_own.cuh tells, and where cells refine
// ties as tied_own.cuh does; many, and others that are tied, as select_many.cuh does.
//
// What is found lies in StepShared.
#pragma once

#include "cuda/kd_tree/build/medians/publish_node.cuh"
#include "cuda/kd_tree/build/super_key.cuh"
#include "cuda/kd_tree/build/team.cuh"

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
  template <typename T>
  __device__ __forceinline__ std::uint32_t needed(const GroupParameters<T>& p) const {
    return p.nodes[std::uint64_t{segment} * kHeap + heap].needed;
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

/// The part [first, end) of a node's candidates that a block looks at. `kIsLast`: of the group's last level.
template <bool kIsLast, typename T>
struct CandidateList {
  OrderedKey<T>* keys;
  std::uint32_t* places;
  ListEntries<kIsLast> entry;
  std::uint32_t first, end;

  __device__ __forceinline__ CandidateList(const GroupParameters<T>& p, const StepTask& task)
      : keys(p.keys),
        places(listed_places<kIsLast>(p)),
        entry(p, task.segment, task.level, task.heap, step_node<T>().needed),
        first(static_cast<std::uint32_t>(std::uint64_t{task.count} * task.block / task.blocks)),
        end(static_cast<std::uint32_t>(std::uint64_t{task.count} * (task.block + 1) / task.blocks)) {}

  __device__ __forceinline__ OrderedKey<T>& key(std::uint32_t i) const { return keys[entry(i)]; }
  __device__ __forceinline__ std::uint32_t place(std::uint32_t i) const { return places[entry(i)]; }
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

/// Calls note(entry, key, less, equal) for each of `count` keys, `key_at(entry)`: how many others precede it, and how
/// many, itself included, are equal to it. The block must synchronise afterwards.
template <typename KeyAt, typename Note>
__device__ __forceinline__ void compare_all_pairs(std::uint32_t count, const KeyAt& key_at, const Note& note) {
  // Four threads for each of them; whole warps, so that the four can add up.
  const std::uint32_t quarters = (4 * count + kWarp - 1) / kWarp * kWarp;
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < quarters; i += threads_per_block()) {
    const std::uint32_t a = i / 4;
    const auto own = key_at(a < count ? a : 0);
    std::uint32_t sums = 0;  // of those less, and of those equal above 16 bits
#pragma unroll 4
    for (std::uint32_t b = i % 4; b < count; b += 4) {
      const auto other = key_at(b);
      sums += other < own ? 1 : other == own ? 1 << 16 : 0;
    }
    sync_warp();
    sums += shuffle_xor(sums, 1);
    sums += shuffle_xor(sums, 2);
    if (i % 4 == 0 && a < count) note(a, own, sums & 0xffffu, sums >> 16);
  }
}

/// Finds the key that `rank` others precede, and its place, unless others are equal to it. The block must synchronise
/// afterwards.
template <typename Key>
__device__ __forceinline__ void rank_all_pairs(const Key* keys, const std::uint32_t* places, std::uint32_t count,
                                               std::uint32_t rank, std::uint32_t stage) {
  compare_all_pairs(
      count, [&](std::uint32_t i) { return keys[i]; },
      [&](std::uint32_t i, Key key, std::uint32_t less, std::uint32_t equal) {
        note_if_ranked(key, less, equal, rank, stage, places[i]);
      });
}

/// Which of the equal ones has the rank: they are ranked by one component after the other, until one is alone. The keys
/// of the others are lost. Synchronises the block.
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

/// Whether a node has so few candidates that they are ranked without a look at the list.
__device__ __forceinline__ bool is_ranked_at_once(const StepTask& task) {
  return task.count <= kFewCandidates && task.count <= threads_per_block();
}

}  // namespace kith::cuda
