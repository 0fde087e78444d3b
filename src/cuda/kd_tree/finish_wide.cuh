// Splits the nodes of one level that are owned by whole warps.
#pragma once

#include "cuda/kd_tree/finish_select.cuh"

namespace kith::cuda {

/// The slots of the points that a thread looks after.
struct OwnSlots {
  std::uint32_t at[kFinishPerThread];
  std::uint32_t count;  ///< the first ones exist
};

template <typename T, bool kStaged>
__device__ __forceinline__ OwnSlots load_slots(const Subtree<T, kStaged>& subtree, const FinishNode& node,
                                               std::uint32_t rank, std::uint32_t threads) {
  OwnSlots slots;
  slots.count = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    const std::uint32_t place = node.begin + rank + k * threads;
    const bool exists = place < node.end;
    slots.at[k] = exists ? subtree.order[place] : 0;
    slots.count += exists ? 1 : 0;
  }
  return slots;
}

/// The range of coordinate d of a thread's points.
template <typename T, bool kStaged>
__device__ __forceinline__ KeyRange<T> range_of_slots(const Subtree<T, kStaged>& subtree, const OwnSlots& slots,
                                                      std::uint32_t d) {
  KeyRange<T> range;
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    if (k < slots.count) range.add(ordered_key(subtree.value(slots.at[k], d)));
  }
  return range;
}

/// Finds and keeps the tight box.
template <typename T, bool kStaged>
__device__ __forceinline__ SplitSide<T> tighten_with_team(const Subtree<T, kStaged>& subtree, const Team& team,
                                                          std::uint32_t depth, const OwnSlots& slots, T* box) {
  SideChooser<T, kStaged> chooser(subtree, depth);
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    const KeyRange<T> range = range_of_team(subtree, team, range_of_slots(subtree, slots, d), d % 2);
    const T lower = value_of_key<T>(range.low), upper = value_of_key<T>(range.high);
    if (team.rank == 0) {
      box[d] = lower;
      box[subtree.dims + d] = upper;
    }
    chooser.offer(d, lower, upper);
  }
  return chooser.side();
}

/// The first round of the selection: counters of equal width over the side. Whatever overflows or is no number on the
/// way still gives counters that are monotone in the value.
template <typename T, bool kStaged>
__device__ __forceinline__ void count_over_side(const Subtree<T, kStaged>& subtree, const Team& team,
                                                const SplitSide<T>& side, const OwnSlots& slots, Selection& selection) {
  std::uint32_t* counters = subtree.counters + 4 * (thread_number() - team.rank);
  const std::uint32_t last = 4 * team.threads - 1;
  const T scale = static_cast<T>(4 * team.threads) / (side.upper - side.lower);
  std::uint32_t counter[kFinishPerThread];
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    if (k < slots.count) {
      const std::uint32_t found = to_unsigned((subtree.value(slots.at[k], side.dim) - side.lower) * scale);
      counter[k] = found < last ? found : last;
      atomic_add(counters + counter[k], 1u);
    } else {
      counter[k] = ~0u;
    }
  }
  team.sync();
  const FinishChoice choice = find_counter(subtree, team, selection.rank);
  selection.undecided = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    selection.left |= (counter[k] < choice.counter ? 1u : 0u) << k;
    selection.undecided |= (counter[k] == choice.counter ? 1u : 0u) << k;
  }
  selection.rank -= choice.below;
  selection.count = choice.count;
}

/// Moves the slots: those of `left` to the front of the node, the others behind them.
template <typename T, bool kStaged>
__device__ __forceinline__ void partition_with_team(const Subtree<T, kStaged>& subtree, const Team& team,
                                                    const FinishNode& node, const OwnSlots& slots, std::uint32_t left) {
  const std::uint32_t own_left = count_bits(left);
  const std::uint32_t both = own_left | (slots.count - own_left) << 16;
  const std::uint32_t before = sum_before_warp(subtree, team, sum_of_warp(both), 1);
  std::uint32_t left_place = node.begin + (before & 0xffff), right_place = node.middle + (before >> 16);
  const std::uint32_t lanes_below = (1u << lane_number()) - 1;
#pragma unroll
  for (std::uint32_t k = 0; k < kFinishPerThread; ++k) {
    const bool exists = k < slots.count, is_left = ((left >> k) & 1) != 0;
    const std::uint32_t lefts = ballot(is_left), rights = ballot(exists && !is_left);
    const std::uint32_t place =
        is_left ? left_place + count_bits(lefts & lanes_below) : right_place + count_bits(rights & lanes_below);
    if (exists) subtree.order[place] = static_cast<std::uint16_t>(slots.at[k]);
    left_place += count_bits(lefts);
    right_place += count_bits(rights);
  }
}

/// The counters are zero before and after.
template <typename T, bool kStaged>
__device__ __forceinline__ void split_with_team(const Subtree<T, kStaged>& subtree, std::uint32_t depth) {
  const Team team(depth);
  const FinishNode node = subtree.node(depth, thread_number() / team.threads);
  if (team.rank == 0) subtree.choices[team.first_warp].candidates = 0;
  const OwnSlots slots = load_slots(subtree, node, team.rank, team.threads);
  T* box = subtree.team_box(depth, node.number);
  const SplitSide<T> side = subtree.is_tight(depth) ? tighten_with_team(subtree, team, depth, slots, box)
                                                    : side_of_box(subtree, depth, static_cast<const T*>(box));
  Selection selection;
  selection.undecided = (1u << slots.count) - 1;
  selection.rank = node.middle - node.begin;
  selection.count = node.end - node.begin;
  selection.component = first_component(subtree, side);
  T split_value = side.upper;
  if (node.middle == node.end) {  // nothing to the right: only with leaves of one point
    selection.left = selection.undecided;
  } else {
    if (selection.component == 0 && selection.count > kMostCandidates) {
      count_over_side(subtree, team, side, slots, selection);
    } else {
      team.sync();  // the number of candidates
    }
    narrow_down(subtree, team, node, side.dim, selection);
    const std::uint32_t pivot = decide_by_pairs(subtree, team, node, side.dim, selection);
    split_value = subtree.value(pivot, side.dim) + T(0);
  }
  partition_with_team(subtree, team, node, slots, selection.left);
  if (team.rank == 0) subtree.write_split(node, side.dim, split_value);
  hand_down_box(subtree, node, side, split_value, static_cast<const T*>(box), team.rank, team.threads);
  team.sync();
}

}  // namespace kith::cuda
