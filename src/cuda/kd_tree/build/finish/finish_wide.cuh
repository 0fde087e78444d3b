// Splits the nodes of one level that are owned by whole warps.
#pragma once

#include "cuda/kd_tree/build/finish/finish_select.cuh"

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

/// The counters of a thread's points, of equal width over the side. Whatever overflows or is no number on the way still
/// gives counters that are monotone in the value.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void count_over_side(const Subtree<T, kStaged>& subtree, const Team& team,
                                                const SplitSide<T>& side, const OwnSlots<kRows>& slots,
                                                std::uint32_t (&counter)[kRows]) {
  std::uint32_t* counters = counters_of(subtree, team);
  const std::uint32_t count = 1u << counter_bits(team), last = count - 1;
  const T scale = static_cast<T>(count) / (side.upper - side.lower);
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t found = to_unsigned((subtree.value(slots.at[k], side.dim) - side.lower) * scale);
    counter[k] = found < last ? found : last;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    if (is_sure<kRows>(k) || k < slots.count) atomic_add(counters + counter[k], 1u);
  }
}

/// The side over which the points of a node are counted: that of its box, or of codes.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ SplitSide<T> counted_side(const Subtree<T, kStaged>& subtree, const Team& team,
                                                     const SplitSide<T>& side, const OwnSlots<kRows>& slots) {
  if (!subtree.is_coded) return side;
  const KeyRange<T> range =
      range_of_team(subtree, team, range_of_slots(subtree, only_points(slots), side.dim), subtree.dims % 2);
  return {side.dim, value_of_key<T>(range.low), value_of_key<T>(range.high)};
}

/// The counters are zero before and after. The team synchronises three times, unless many points are undecided after
/// the first round.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void split_with_team(const Subtree<T, kStaged>& subtree, std::uint32_t depth) {
  const Team team(depth);
  const FinishNode node = subtree.node(depth, team.number);
  if (team.rank == 0) subtree.cells[team.first_warp] = {0, 0};
  const OwnSlots<kRows> slots = load_slots<kRows>(subtree, node, team.rank, team.bits);
  T* box = subtree.team_box(depth, node.number);
  const SplitSide<T> side = subtree.is_tight(depth) ? tighten_with_team(subtree, team, depth, slots, box)
                                                    : side_of_box(subtree, depth, static_cast<const T*>(box));
  const SplitSide<T> counted = counted_side(subtree, team, side, slots);
  Selection selection;
  const bool has_right = node.middle != node.end;  // not only with leaves of one point
  selection.rank = node.middle - node.begin;
  selection.component = first_component(subtree, counted);
  if (has_right) {
    selection.undecided = (1u << slots.count) - 1;
    selection.count = node.end - node.begin;
  } else {
    selection.left = (1u << slots.count) - 1;
    selection.below = selection.rank;
  }
  bool counts = selection.component == 0 && selection.count > kMostCandidates;
  std::uint32_t counter[kRows];
  if (counts) count_over_side(subtree, team, counted, slots, counter);
  team.sync();
#pragma unroll 1
  for (;;) {
    if (counts) decide_by_counters(counter, choose_counter(subtree, team, selection.rank), selection);
    if (selection.count <= kMostCandidates) break;
    count_components(subtree, team, slots, side.dim, selection, counter);
    counts = true;
    team.sync();
  }
  resolve(subtree, team, node, slots, side.dim, selection);
  team.sync();
  clear_counters(subtree);
  if (warp_number() == team.first_warp) {
    const std::uint32_t pivot = decide_candidates(subtree, team, node, side.dim, selection);
    const T split_value = has_right ? subtree.coordinate(subtree.value(pivot, side.dim), side.dim) + T(0) : side.upper;
    if (lane_number() == 0) subtree.write_split(node, side.dim, split_value);
    hand_down_box(subtree, node, side, split_value, static_cast<const T*>(box), lane_number(), kWarp);
  }
  team.sync();
}

}  // namespace kith::cuda
