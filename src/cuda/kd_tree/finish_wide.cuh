// Splits the nodes of one level that are owned by whole warps.
#pragma once

#include "cuda/kd_tree/finish_select.cuh"
#include "cuda/kd_tree/finish_slots.cuh"

namespace kith::cuda {

/// Finds and keeps the tight box.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ SplitSide<T> tighten_with_team(const Subtree<T, kStaged>& subtree, const Team& team,
                                                          std::uint32_t depth, const OwnSlots<kRows>& own_slots,
                                                          T* box) {
  const OwnSlots<kRows> slots = only_points(own_slots);
  SideChooser<T, kStaged> chooser(subtree, depth);
#pragma unroll 1
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

/// The first round of the selection: counters of equal width over the side. A team that does not count only comes to
/// the meetings. Whatever overflows or is no number on the
/// way still gives counters that are monotone in the value.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void count_over_side(const Subtree<T, kStaged>& subtree, const Team& team,
                                                const SplitSide<T>& side, const OwnSlots<kRows>& slots, bool counts,
                                                Selection& selection) {
  std::uint32_t* counters = subtree.counters + 4 * (thread_number() - team.rank);
  const std::uint32_t last = 4 * team.threads - 1;
  const T scale = static_cast<T>(4 * team.threads) / (side.upper - side.lower);
  std::uint32_t counter[kRows];
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t found = to_unsigned((subtree.value(slots.at[k], side.dim) - side.lower) * scale);
    counter[k] = found < last ? found : last;
  }
  if (any_lane(slots.count != kRows || !counts)) {
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) {
      if (k < slots.count && counts) atomic_add(counters + counter[k], 1u);
    }
  } else {
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) atomic_add(counters + counter[k], 1u);
  }
  team.sync();
  const FinishChoice choice = find_counter(subtree, team, selection.rank);
  if (!counts) return;
  std::uint32_t not_left = 0, right = 0;
#pragma unroll
  for (std::uint32_t k = kRows; k-- > 0;) {  // bits by carries: a counter not less, a counter greater than the choice
    not_left = add_with_carry(not_left, not_left, counter[k], 0 - choice.counter);
    right = add_with_carry(right, right, counter[k], ~choice.counter);
  }
  if (choice.counter == 0) not_left = ~0u;  // there is no carry from adding 0
  selection.left = selection.undecided & ~not_left;
  selection.undecided &= not_left & ~right;
  selection.rank -= choice.below;
  selection.count = choice.count;
}

/// Moves the slots: those of `left` to the front of the node, the others behind them.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void partition_with_team(const Subtree<T, kStaged>& subtree, const Team& team,
                                                    const FinishNode& node, const OwnSlots<kRows>& slots,
                                                    std::uint32_t left) {
  const std::uint32_t own_left = count_bits(left);
  const std::uint32_t both = own_left | (slots.count - own_left) << 16;
  const std::uint32_t through = sum_through_lane(both);
  std::uint32_t before = through - both;
  if (team.warps > 1) {
    before += sum_before_warp(subtree, team, shuffle(through, kWarp - 1), 1);
  } else {
    sync_warp();  // all have read their slots
  }
  move_slots(subtree, slots, left, node.begin + (before & 0xffff), node.middle + (before >> 16));
}

/// The counters are zero before and after.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void split_with_team(const Subtree<T, kStaged>& subtree, std::uint32_t depth) {
  const Team team(depth);
  const FinishNode node = subtree.node(depth, team.number);
  if (team.rank == 0) subtree.choices[team.first_warp].candidates = 0;
  const OwnSlots<kRows> slots = load_slots<kRows>(subtree, node, team.rank, team.bits);
  T* box = subtree.team_box(depth, node.number);
  const SplitSide<T> side = subtree.is_tight(depth) ? tighten_with_team(subtree, team, depth, slots, box)
                                                    : side_of_box(subtree, depth, static_cast<const T*>(box));
  Selection selection;
  selection.undecided = (1u << slots.count) - 1;
  selection.rank = node.middle - node.begin;
  selection.count = node.end - node.begin;
  selection.component = first_component(subtree, side);
  T split_value = side.upper;
  const bool has_right = node.middle != node.end;  // not only with leaves of one point
  if (!has_right) {
    selection.left = selection.undecided;
    selection.undecided = 0;
    selection.count = 0;
  }
  const bool counts = selection.component == 0 && selection.count > kMostCandidates;
  if (team.go_on(counts)) {
    count_over_side(subtree, team, side, slots, counts, selection);
  } else if (team.warps == 1) {
    team.sync();  // the number of candidates
  }
  narrow_down(subtree, team, node, side.dim, selection);
  const std::uint32_t pivot = decide_by_pairs(subtree, team, node, side.dim, selection);
  if (has_right) split_value = subtree.value(pivot, side.dim) + T(0);
  partition_with_team(subtree, team, node, slots, selection.left);
  if (team.rank == 0) subtree.write_split(node, side.dim, split_value);
  hand_down_box(subtree, node, side, split_value, static_cast<const T*>(box), team.rank, team.threads);
  team.sync();
}

}  // namespace kith::cuda
