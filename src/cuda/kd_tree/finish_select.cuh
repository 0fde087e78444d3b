// Selection by counting, for nodes that are owned by whole warps: which points come before a rank by the super-key.
//
// Rounds of counting narrow the undecided points down until one warp can compare all pairs. The first round has
// counters of equal width over the side of the box; the others count the ordered keys between the exact extremes, and
// go on to the next component of the super-key where those are equal. A round leaves at most a (2 * threads)-th of the
// range of keys, so their number is bounded whatever the data.
#pragma once

#include "cuda/kd_tree/finish_team.cuh"

namespace kith::cuda {

/// Points of a thread are bits: bit k is the one at place begin + rank + k * threads.
struct Selection {
  std::uint32_t left = 0;       ///< of this thread: known to come before the rank
  std::uint32_t undecided = 0;  ///< of this thread
  std::uint32_t rank = 0;       ///< that is looked for, among the undecided points of the team
  std::uint32_t count = 0;      ///< undecided points of the team
  std::uint32_t component = 0;  ///< of the super-key: the undecided points are equal before it
};

/// So many undecided points are compared by pairs.
inline constexpr std::uint32_t kMostCandidates = kWarp;

template <typename T, bool kStaged>
__device__ __forceinline__ std::uint32_t slot_at(const Subtree<T, kStaged>& subtree, const Team& team,
                                                 const FinishNode& node, std::uint32_t k) {
  return subtree.order[node.begin + team.rank + k * team.threads];
}

/// Calls visit(k, slot) for the undecided points of this thread.
template <typename T, bool kStaged, typename Visit>
__device__ __forceinline__ void for_undecided(const Subtree<T, kStaged>& subtree, const Team& team,
                                              const FinishNode& node, std::uint32_t undecided, Visit&& visit) {
  for (std::uint32_t rest = undecided; rest != 0; rest &= rest - 1) {
    const std::uint32_t k = lowest_bit(rest);
    visit(k, slot_at(subtree, team, node, k));
  }
}

/// Rounds on ordered keys until few points are undecided.
template <typename T, bool kStaged>
__device__ __forceinline__ void narrow_down(const Subtree<T, kStaged>& subtree, const Team& team,
                                            const FinishNode& node, std::uint32_t dim, Selection& selection) {
  using Key = OrderedKey<T>;
  std::uint32_t* counters = subtree.counters + 4 * (thread_number() - team.rank);
  const std::uint32_t counter_bits = team.bits + 2;
  std::uint32_t turn = 0;
  // Teams of several warps go through the rounds together; those that are done only come to the meetings.
  while (team.go_on(selection.count > kMostCandidates)) {
    const bool is_open = selection.count > kMostCandidates;
    const std::uint32_t undecided = is_open ? selection.undecided : 0;
    KeyRange<T> range{static_cast<Key>(~Key{0}), 0};
    const auto key_of = [&](std::uint32_t slot) { return subtree.component_key(slot, dim, selection.component); };
    for_undecided(subtree, team, node, undecided, [&](std::uint32_t, std::uint32_t slot) { range.add(key_of(slot)); });
    range = range_of_team(subtree, team, range, turn);
    turn ^= 1;
    const bool counts = is_open && range.low != range.high;
    const std::uint32_t bits = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(range.high - range.low));
    const std::uint32_t shift = bits > counter_bits ? bits - counter_bits : 0;
    const auto counter_of = [&](std::uint32_t slot) {
      return static_cast<std::uint32_t>((key_of(slot) - range.low) >> shift);
    };
    if (counts) {
      for_undecided(subtree, team, node, undecided,
                    [&](std::uint32_t, std::uint32_t slot) { atomic_add(counters + counter_of(slot), 1u); });
    }
    team.sync();
    const FinishChoice choice = find_counter(subtree, team, selection.rank);
    if (counts) {
      for_undecided(subtree, team, node, undecided, [&](std::uint32_t k, std::uint32_t slot) {
        const std::uint32_t counter = counter_of(slot);
        if (counter < choice.counter) selection.left |= 1u << k;
        if (counter != choice.counter) selection.undecided &= ~(1u << k);
      });
      selection.rank -= choice.below;
      selection.count = choice.count;
      if (shift == 0 && selection.component < subtree.dims) ++selection.component;  // one key in each counter
    } else if (is_open) {
      ++selection.component;  // all equal in this one
    }
  }
}

/// Decides the last points by comparing all pairs. Returns the slot of the point at the rank; any slot if no point is
/// undecided. The team's number of candidates was set to 0 before its last meeting.
template <typename T, bool kStaged>
__device__ __forceinline__ std::uint32_t decide_by_pairs(const Subtree<T, kStaged>& subtree, const Team& team,
                                                         const FinishNode& node, std::uint32_t dim,
                                                         Selection& selection) {
  using Key = OrderedKey<T>;
  Key* keys = subtree.candidate_keys + team.first_warp * kMostCandidates;
  std::uint16_t* slots = subtree.candidate_slots + team.first_warp * kMostCandidates;
  const auto comes_before = [&](Key key, std::uint32_t slot, Key other_key, std::uint32_t other) {
    if (key != other_key) return key < other_key;
    return slot != other && subtree.precedes(slot, other, dim, selection.component + 1);
  };
  for_undecided(subtree, team, node, selection.undecided, [&](std::uint32_t, std::uint32_t slot) {
    const std::uint32_t place = atomic_add(&subtree.choices[team.first_warp].candidates, 1u);
    keys[place] = subtree.component_key(slot, dim, selection.component);
    slots[place] = static_cast<std::uint16_t>(slot);
  });
  team.sync();
  const bool has_one = lane_number() < selection.count;
  const Key key = has_one ? keys[lane_number()] : Key{0};
  const std::uint32_t slot = has_one ? slots[lane_number()] : 0;
  std::uint32_t rank = 0, equal = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < selection.count; ++i) {
    const Key other = shuffle(key, i);
    rank += other < key ? 1 : 0;
    equal += other == key ? 1 : 0;
  }
  if (any_lane(has_one && equal > 1)) {  // than itself: later components decide
    rank = 0;
#pragma unroll 1
    for (std::uint32_t i = 0; has_one && i < selection.count; ++i) {
      rank += comes_before(keys[i], slots[i], key, slot) ? 1 : 0;
    }
    sync_warp();
  }
  const std::uint32_t found = ballot(has_one && rank == selection.rank);
  const std::uint32_t lane = found == 0 ? 0 : lowest_bit(found);
  const Key pivot_key = shuffle(key, lane);
  const std::uint32_t pivot = shuffle(slot, lane);
  for_undecided(subtree, team, node, selection.undecided, [&](std::uint32_t k, std::uint32_t own) {
    const Key own_key = subtree.component_key(own, dim, selection.component);
    if (comes_before(own_key, own, pivot_key, pivot)) selection.left |= 1u << k;
  });
  return pivot;
}

}  // namespace kith::cuda
