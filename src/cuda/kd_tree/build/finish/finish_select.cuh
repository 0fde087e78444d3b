// Selection by counting, for nodes that are owned by whole warps: which points come before a rank by the super-key.
//
// Rounds of counting narrow the undecided points down until one warp can compare all pairs. The first round has
// counters of equal width over the side of the box; the others count the ordered keys between the exact extremes, and
// go on to the next component of the super-key where those are equal. A round leaves at most a (2 * threads)-th of the
// range of keys, or a 256th, so their number is bounded whatever the data.
#pragma once

#include "cuda/kd_tree/build/finish/finish_slots.cuh"
#include "cuda/kd_tree/build/finish/finish_team.cuh"

namespace kith::cuda {

/// Points of a thread are bits: bit k is the one at place begin + rank + k * threads.
struct Selection {
  std::uint32_t left = 0;       ///< of this thread: known to come before the rank
  std::uint32_t undecided = 0;  ///< of this thread
  std::uint32_t below = 0;      ///< points of the team that are known to come before the rank
  std::uint32_t rank = 0;       ///< that is looked for, among the undecided points of the team
  std::uint32_t count = 0;      ///< undecided points of the team
  std::uint32_t component = 0;  ///< of the super-key: the undecided points are equal before it

  /// The points are narrowed down to those of a counter.
  __device__ __forceinline__ void take(const Choice& choice) {
    below += choice.below;
    rank -= choice.below;
    count = choice.count;
  }
};

/// So many undecided points are compared by pairs.
inline constexpr std::uint32_t kMostCandidates = kWarp;

/// Calls visit(k, slot) for the undecided points of this thread.
template <std::uint32_t kRows, typename Visit>
__device__ __forceinline__ void for_undecided(const OwnSlots<kRows>& slots, std::uint32_t undecided, Visit&& visit) {
  for (std::uint32_t rest = undecided; rest != 0; rest &= rest - 1) {
    const std::uint32_t k = lowest_bit(rest);
    visit(k, slot_at(slots, k));
  }
}

/// Decides the points that are in other counters than the chosen one.
template <std::uint32_t kRows>
__device__ __forceinline__ void decide_by_counters(const std::uint32_t (&counter)[kRows], const Choice& choice,
                                                   Selection& selection) {
  std::uint32_t not_left = 0, right = 0;
#pragma unroll
  for (std::uint32_t k = kRows; k-- > 0;) {  // bits by carries: a counter not less, a counter greater than the choice
    not_left = add_with_carry(not_left, not_left, counter[k], 0 - choice.counter);
    right = add_with_carry(right, right, counter[k], ~choice.counter);
  }
  if (choice.counter == 0) not_left = ~0u;  // there is no carry from adding 0
  selection.left |= selection.undecided & ~not_left;
  selection.undecided &= not_left & ~right;
  selection.take(choice);
}

/// Counts the ordered keys of the undecided points: those of the first component in which they differ. The team
/// synchronises before the next counter is chosen.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void count_components(const Subtree<T, kStaged>& subtree, const Team& team,
                                                 const OwnSlots<kRows>& slots, std::uint32_t dim, Selection& selection,
                                                 std::uint32_t (&counter)[kRows]) {
  using Key = OrderedKey<T>;
  Key key[kRows];
  KeyRange<T> range;
  team.sync();  // all have chosen a counter of the round before
  clear_counters(subtree);
#pragma unroll 1
  for (std::uint32_t turn = 0;; turn ^= 1, ++selection.component) {
    load_components(subtree, slots, dim, selection.component, key);
    range = range_of_team(subtree, team, range_of_keys<T>(key, selection.undecided), turn);
    if (range.low != range.high) break;
  }
  sync_warp();  // the counters of a team of one warp are clear, too
  const std::uint32_t bits = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(range.high - range.low));
  const std::uint32_t shift = bits > counter_bits(team) ? bits - counter_bits(team) : 0;
  std::uint32_t* counters = counters_of(subtree, team);
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    counter[k] = static_cast<std::uint32_t>((key[k] - range.low) >> shift);
    if ((selection.undecided & (1u << k)) != 0) atomic_add(counters + counter[k], 1u);
  }
  if (shift == 0 && selection.component < subtree.dims) ++selection.component;  // one key in each counter
}

/// Moves the decided points to their halves and puts the undecided ones, few by now, down as candidates. Points of a
/// half lie in any order. The team has synchronised since its slots were loaded.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void resolve(const Subtree<T, kStaged>& subtree, const Team& team, const FinishNode& node,
                                        const OwnSlots<kRows>& slots, std::uint32_t dim, const Selection& selection) {
  TeamCells& cells = subtree.cells[team.first_warp];
  const std::uint32_t left = selection.left;
  const std::uint32_t right = ((1u << slots.count) - 1) & ~(left | selection.undecided);
  const std::uint32_t both = count_bits(left) | count_bits(right) << 16;
  const std::uint32_t through = sum_through_lane(both);
  std::uint32_t before = 0;
  if (team.warps > 1) {
    if (lane_number() == kWarp - 1) before = atomic_add(&cells.moved, through);
    before = shuffle(before, kWarp - 1);
  }
  before += through - both;
  // [decided left][candidates][decided right]
  move_slots<false>(subtree, slots, left, right, node.begin + (before & 0xffff),
                    node.begin + selection.below + selection.count + (before >> 16));
  const std::uint32_t storage = team.first_warp * kMostCandidates;
  for_undecided(slots, selection.undecided, [&](std::uint32_t, std::uint32_t slot) {
    const std::uint32_t place = storage + atomic_add(&cells.candidates, 1u);
    subtree.candidate_keys[place] = subtree.component_key(slot, dim, selection.component);
    subtree.candidate_slots[place] = static_cast<std::uint16_t>(slot);
  });
  sync_warp();
}

/// Decides the candidates by comparing all pairs and moves them. Returns the slot of the point at the rank; any slot if
/// there is no candidate. One warp; the team has synchronised since they were put down.
template <typename T, bool kStaged>
__device__ __forceinline__ std::uint32_t decide_candidates(const Subtree<T, kStaged>& subtree, const Team& team,
                                                           const FinishNode& node, std::uint32_t dim,
                                                           const Selection& selection) {
  using Key = OrderedKey<T>;
  const Key* keys = subtree.candidate_keys + team.first_warp * kMostCandidates;
  const std::uint16_t* slots = subtree.candidate_slots + team.first_warp * kMostCandidates;
  const bool has_one = lane_number() < selection.count;
  const Key key = has_one ? keys[lane_number()] : static_cast<Key>(~Key{0});
  const std::uint32_t slot = has_one ? slots[lane_number()] : 0;
  constexpr std::uint32_t kAtATime = 8;  // shuffles in flight
  std::uint32_t rank = 0, equal = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < selection.count; i += kAtATime) {
    Key other[kAtATime];
#pragma unroll
    for (std::uint32_t j = 0; j < kAtATime; ++j) other[j] = shuffle(key, i + j);
#pragma unroll
    for (std::uint32_t j = 0; j < kAtATime; ++j) {
      rank += other[j] < key ? 1 : 0;
      equal += other[j] == key ? 1 : 0;
    }
  }
  if (any_lane(has_one && equal > 1)) {  // than itself: later components decide
    rank = 0;
#pragma unroll 1
    for (std::uint32_t i = 0; has_one && i < selection.count; ++i) {
      const std::uint32_t other = slots[i];
      const bool is_equal = keys[i] == key && other != slot;
      rank += keys[i] < key || (is_equal && subtree.precedes(other, slot, dim, selection.component + 1)) ? 1 : 0;
    }
    sync_warp();
  }
  if (has_one) subtree.order[node.begin + selection.below + rank] = static_cast<std::uint16_t>(slot);
  const std::uint32_t found = ballot(has_one && rank == selection.rank);
  return shuffle(slot, found == 0 ? 0 : lowest_bit(found));
}

}  // namespace kith::cuda
