// Splits the nodes of one level that are owned by a part of a warp: the keys are sorted in registers.
//
// Where the keys on both sides of the split are equal, the points with that key are sorted again by the next component
// of the super-key, while the points that are decided stand at the ends. At most dims + 1 rounds.
#pragma once

#include "cuda/kd_tree/finish_wide.cuh"

namespace kith::cuda {

/// The lanes that own a node: a power of two from 2 to 16.
struct LaneTeam {
  std::uint32_t threads = 0;
  std::uint32_t rank = 0;

  __device__ __forceinline__ explicit LaneTeam(std::uint32_t depth)
      : threads(threads_per_block() >> depth), rank(thread_number() & (threads - 1)) {}
  /// Which lanes these are.
  __device__ __forceinline__ std::uint32_t lanes() const {
    return ((1u << threads) - 1) << (lane_number() & ~(threads - 1));
  }
};

/// The neighbours of the cut through the middle of a sorted sequence.
template <typename Key>
struct MiddleKeys {
  Key last_left;
  Key first_right;
};

template <typename Key>
__device__ __forceinline__ void exchange(Key& a, Key& b) {
  const Key low = b < a ? b : a, high = b < a ? a : b;
  a = low;
  b = high;
}

/// Sorts the keys of each thread by a network.
template <typename Key>
__device__ __forceinline__ void sort_own(Key (&key)[kFinishPerThread]) {
  exchange(key[0], key[1]), exchange(key[2], key[3]), exchange(key[4], key[5]), exchange(key[6], key[7]);
  exchange(key[0], key[2]), exchange(key[1], key[3]), exchange(key[4], key[6]), exchange(key[5], key[7]);
  exchange(key[1], key[2]), exchange(key[5], key[6]);
  exchange(key[0], key[4]), exchange(key[1], key[5]), exchange(key[2], key[6]), exchange(key[3], key[7]);
  exchange(key[2], key[4]), exchange(key[3], key[5]);
  exchange(key[1], key[2]), exchange(key[3], key[4]), exchange(key[5], key[6]);
}

/// Sorts a thread's keys that rise and then fall, or fall and then rise.
template <typename Key>
__device__ __forceinline__ void merge_own(Key (&key)[kFinishPerThread]) {
#pragma unroll
  for (std::uint32_t step = kFinishPerThread / 2; step > 0; step /= 2) {
#pragma unroll
    for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
      if ((k & step) == 0) exchange(key[k], key[k + step]);
    }
  }
}

/// Sorts the keys of a team as far as is needed to see the middle.
template <typename Key>
__device__ __forceinline__ MiddleKeys<Key> find_middle(const LaneTeam& team, Key (&key)[kFinishPerThread]) {
  constexpr std::uint32_t kLast = kFinishPerThread - 1;
  sort_own(key);
#pragma unroll 1
  for (std::uint32_t lanes = 2; lanes < team.threads; lanes *= 2) {
    bool keeps_high = (lane_number() & (lanes / 2)) != 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kFinishPerThread / 2; ++k) {  // against the mirror image
      const Key a = shuffle_xor(key[kLast - k], lanes - 1), b = shuffle_xor(key[k], lanes - 1);
      key[k] = (a < key[k]) != keeps_high ? a : key[k];
      key[kLast - k] = (b < key[kLast - k]) != keeps_high ? b : key[kLast - k];
    }
#pragma unroll 1
    for (std::uint32_t step = lanes / 4; step > 0; step /= 2) {
      keeps_high = (lane_number() & step) != 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
        const Key other = shuffle_xor(key[k], step);
        key[k] = (other < key[k]) != keeps_high ? other : key[k];
      }
    }
    merge_own(key);
  }
  MiddleKeys<Key> middle{0, static_cast<Key>(~Key{0})};
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    const Key other = shuffle_xor(key[kLast - k], team.threads - 1);
    const Key low = other < key[k] ? other : key[k], high = other < key[k] ? key[k] : other;
    middle.last_left = low > middle.last_left ? low : middle.last_left;
    middle.first_right = high < middle.first_right ? high : middle.first_right;
  }
#pragma unroll 1
  for (std::uint32_t step = team.threads / 4; step > 0; step /= 2) {
    const Key low = shuffle_xor(middle.last_left, step), high = shuffle_xor(middle.first_right, step);
    middle.last_left = low > middle.last_left ? low : middle.last_left;
    middle.first_right = high < middle.first_right ? high : middle.first_right;
  }
  return middle;
}

/// Finds and keeps the tight box.
template <typename T, bool kStaged>
__device__ __forceinline__ SplitSide<T> tighten_with_lanes(const Subtree<T, kStaged>& subtree, const LaneTeam& team,
                                                           std::uint32_t depth, const OwnSlots& slots, T* box) {
  SideChooser<T, kStaged> chooser(subtree, depth);
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    KeyRange<T> range = range_of_slots(subtree, slots, d);
    range.join_lanes(team.threads);
    const T lower = value_of_key<T>(range.low), upper = value_of_key<T>(range.high);
    if (team.rank == 0) {
      box[d] = lower;
      box[subtree.dims + d] = upper;
    }
    chooser.offer(d, lower, upper);
  }
  return chooser.side();
}

template <typename T, bool kStaged>
__device__ __forceinline__ void split_with_lanes(const Subtree<T, kStaged>& subtree, std::uint32_t depth) {
  using Key = OrderedKey<T>;
  const LaneTeam team(depth);
  const FinishNode node = subtree.node(depth, thread_number() / team.threads);
  const OwnSlots slots = load_slots(subtree, node, team.rank, team.threads);
  T* box = subtree.team_box(depth, node.number);
  const SplitSide<T> side = subtree.is_tight(depth) ? tighten_with_lanes(subtree, team, depth, slots, box)
                                                    : side_of_box(subtree, depth, static_cast<const T*>(box));

  // Bits of this thread, as in Selection. Places without a point fill up both halves to 4 * threads, so that the split
  // is in the middle of the sorted keys.
  const std::uint32_t exist = (1u << slots.count) - 1;
  const std::uint32_t fill_left = 4 * team.threads - (node.middle - node.begin);
  std::uint32_t undecided = exist, left = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    const std::uint32_t fill = team.rank + k * team.threads - (node.end - node.begin);
    left |= (k >= slots.count && fill < fill_left ? 1u : 0u) << k;
  }
  const std::uint32_t start = first_component(subtree, side);
  T split_value = side.upper;
  bool is_tied = true;
#pragma unroll 1
  for (std::uint32_t round = 0; any_lane(is_tied); ++round) {
    const std::uint32_t component = start + round < subtree.dims ? start + round : subtree.dims;
    Key key[kFinishPerThread], sorted[kFinishPerThread];
#pragma unroll
    for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
      key[k] = ((left >> k) & 1) != 0 ? Key{0} : static_cast<Key>(~Key{0});
      if (((undecided >> k) & 1) != 0) key[k] = subtree.component_key(slots.at[k], side.dim, component);
      sorted[k] = key[k];
    }
    const MiddleKeys<Key> middle = find_middle(team, sorted);
    is_tied = middle.last_left == middle.first_right;
    std::uint32_t lower = 0, equal = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
      lower |= (key[k] < middle.first_right ? 1u : 0u) << k;
      equal |= (key[k] == middle.first_right ? 1u : 0u) << k;
    }
    left |= lower & undecided;
    undecided = is_tied ? undecided & equal : 0;
    if (component == 0 && node.middle != node.end) split_value = value_of_key<T>(middle.first_right);
  }
  left &= exist;

  const std::uint32_t lanes = team.lanes(), lanes_below = lanes & ((1u << lane_number()) - 1);
  std::uint32_t lefts_before = 0;
  sync_warp();  // all have read their slots and the box
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    const bool is_left = ((left >> k) & 1) != 0;
    const std::uint32_t lefts = ballot(is_left);
    const std::uint32_t before = lefts_before + count_bits(lefts & lanes_below);
    const std::uint32_t place = is_left ? node.begin + before : node.middle + team.rank + k * team.threads - before;
    if (k < slots.count) subtree.order[place] = static_cast<std::uint16_t>(slots.at[k]);
    lefts_before += count_bits(lefts & lanes);
  }
  if (team.rank == 0) subtree.write_split(node, side.dim, split_value);
  hand_down_box(subtree, node, side, split_value, static_cast<const T*>(box), team.rank, team.threads);
  sync_warp();
}

}  // namespace kith::cuda
