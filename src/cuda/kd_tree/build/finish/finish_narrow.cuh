// Splits the nodes of one level that are owned by a part of a warp: the keys are sorted in registers.
//
// Where the keys on both sides of the split are equal, the points with that key are sorted again by the next component
// of the super-key in which they differ, while the points that are decided stand at the ends. At most dims + 1 rounds.
#pragma once

#include "cuda/kd_tree/build/finish/finish_slots.cuh"
#include "cuda/kd_tree/build/finish/finish_sort.cuh"

namespace kith::cuda {

/// The lanes that own a node: a power of two from 2 to 16.
struct LaneTeam {
  std::uint32_t bits = 0;  ///< the logarithm of the threads
  std::uint32_t threads = 0;
  std::uint32_t rank = 0;

  __device__ __forceinline__ explicit LaneTeam(std::uint32_t depth)
      : bits(thread_bits_at(depth)), threads(1u << bits), rank(thread_number() & (threads - 1)) {}
  /// The sum over the team's lanes before this one.
  __device__ __forceinline__ std::uint32_t sum_before(std::uint32_t value) const {
    std::uint32_t through = value;
#pragma unroll
    for (std::uint32_t step = 1; step < kWarp / 2; step *= 2) {
      const std::uint32_t other = shuffle_up(through, step);
      through += rank >= step ? other : 0;
    }
    return through - value;
  }
};

/// Finds and keeps the tight box.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ SplitSide<T> tighten_with_lanes(const Subtree<T, kStaged>& subtree, const LaneTeam& team,
                                                           std::uint32_t depth, const OwnSlots<kRows>& own_slots,
                                                           T* box) {
  const OwnSlots<kRows> slots = only_points(own_slots);
  SideChooser<T, kStaged> chooser(subtree, depth);
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    KeyRange<T> range = range_of_slots(subtree, slots, d);
    range.join_lanes(team.threads);
    const T lower = subtree.coordinate(value_of_key<T>(range.low), d);
    const T upper = subtree.coordinate(value_of_key<T>(range.high), d);
    if (team.rank == 0) {
      box[d] = lower;
      box[subtree.dims + d] = upper;
    }
    chooser.offer(d, lower, upper);
  }
  return chooser.side();
}

/// The keys of the undecided points; the others stand at the ends.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void load_keys(const Subtree<T, kStaged>& subtree, const OwnSlots<kRows>& slots,
                                          std::uint32_t dim, std::uint32_t component, std::uint32_t left,
                                          std::uint32_t undecided, OrderedKey<T> (&key)[kRows]) {
  using Key = OrderedKey<T>;
  load_components(subtree, slots, dim, component, key);
  if (!any_lane(undecided != (1u << kRows) - 1)) return;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const Key decided = ((left >> k) & 1) != 0 ? Key{0} : static_cast<Key>(~Key{0});
    key[k] = ((undecided >> k) & 1) != 0 ? key[k] : decided;
  }
}

template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void split_with_lanes(const Subtree<T, kStaged>& subtree, std::uint32_t depth) {
  using Key = OrderedKey<T>;
  const LaneTeam team(depth);
  const FinishNode node = subtree.node(depth, thread_number() >> team.bits);
  const OwnSlots<kRows> slots = load_slots<kRows, true>(subtree, node, team.rank, team.bits);
  T* box = subtree.team_box(depth, node.number);
  const SplitSide<T> side = subtree.is_tight(depth) ? tighten_with_lanes(subtree, team, depth, slots, box)
                                                    : side_of_box(subtree, depth, static_cast<const T*>(box));

  // Bits of this thread, as in Selection. Places without a point fill up both halves to the same size, so that the
  // split is in the middle of the sorted keys.
  const std::uint32_t fill_left = kRows * team.threads / 2 - (node.middle - node.begin);
  const std::uint32_t left_end = rows_below(node.end - node.begin + fill_left, team.rank, team.bits);
  std::uint32_t undecided = (1u << slots.count) - 1;
  std::uint32_t left = ((1u << left_end) - 1) & ~undecided;
  const std::uint32_t start = first_component(subtree, side);
  T split_value = side.upper;
  bool goes_on = true;
#pragma unroll 1
  for (std::uint32_t round = 0; goes_on; ++round) {
    const std::uint32_t component = start + round < subtree.dims ? start + round : subtree.dims;
    Key key[kRows], sorted[kRows];
    load_keys(subtree, slots, side.dim, component, left, undecided, key);
    if (round > 0) {
      KeyRange<T> range = range_of_keys<T>(key, undecided);
      range.join_lanes(team.threads);
      if (!any_lane(range.low < range.high)) continue;  // nothing to sort in this component
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) sorted[k] = key[k];
    const MiddleKeys<Key> middle = find_middle(team.threads, sorted);
    const bool is_tied = middle.last_left == middle.first_right;
    if constexpr (sizeof(Key) > 4) {  // there are no registers to keep them
      load_keys(subtree, slots, side.dim, component, left, undecided, key);
    }
    std::uint32_t lower = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) lower |= key[k] < middle.first_right ? 1u << k : 0;
    left |= lower & undecided;
    goes_on = any_lane(is_tied);
    if (goes_on) {
      std::uint32_t equal = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kRows; ++k) equal |= key[k] == middle.first_right ? 1u << k : 0;
      undecided = is_tied ? undecided & equal : 0;
    }
    if (component == 0 && node.middle != node.end)
      split_value = subtree.coordinate(value_of_key<T>(middle.first_right), side.dim);
  }
  left &= (1u << slots.count) - 1;
  const std::uint32_t right = ((1u << slots.count) - 1) & ~left;

  const std::uint32_t both = count_bits(left) | count_bits(right) << 16;
  const std::uint32_t before = team.sum_before(both);
  sync_warp();  // all have read their slots and the box
  move_slots<true>(subtree, slots, left, right, node.begin + (before & 0xffff), node.middle + (before >> 16));
  if (team.rank == 0) subtree.write_split(node, side.dim, split_value);
  hand_down_box(subtree, node, side, split_value, static_cast<const T*>(box), team.rank, team.threads);
  sync_warp();
}

}  // namespace kith::cuda
