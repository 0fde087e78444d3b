// What whole warps do together for one node: meet, find extremes, find the counter into which a rank falls.
#pragma once

#include "cuda/kd_tree/finish_box.cuh"

namespace kith::cuda {

/// The threads that own a node: one warp or several, a power of two. Each sees the node's points at its places
/// begin + rank + k * threads, k < 8.
struct Team {
  std::uint32_t bits = 0;  ///< the logarithm of the threads
  std::uint32_t threads = 0;
  std::uint32_t rank = 0;        ///< of this thread
  std::uint32_t number = 0;      ///< of the node, among those of its depth
  std::uint32_t warps = 0;       ///< of the team
  std::uint32_t first_warp = 0;  ///< its number in the block; also where the team's part of arrays of warps begins

  __device__ __forceinline__ explicit Team(std::uint32_t depth)
      : bits(thread_bits_at(depth)),
        threads(1u << bits),
        rank(thread_number() & (threads - 1)),
        number(thread_number() >> bits),
        warps(threads / kWarp),
        first_warp(warp_number() & ~(warps - 1)) {}

  /// Teams of several warps meet all together, so all of them come here equally often.
  __device__ __forceinline__ void sync() const {
    if (warps > 1) {
      sync_block();
    } else {
      sync_warp();
    }
  }
  /// Meets, too. True if this team says so, or, with teams of several warps, any team: then all go on.
  __device__ __forceinline__ bool go_on(bool wants) const { return warps > 1 ? any_thread(wants) : wants; }
};

/// The range of the whole team. `turn` alternates between 0 and 1, so that one meeting is enough.
template <typename T, bool kStaged>
__device__ __forceinline__ KeyRange<T> range_of_team(const Subtree<T, kStaged>& subtree, const Team& team,
                                                     KeyRange<T> range, std::uint32_t turn) {
  range.low = min_of_warp(range.low);
  range.high = max_of_warp(range.high);
  if (team.warps == 1) return range;
  constexpr std::uint32_t kMostWarps = FinishLayout<T>::kMostWarps;
  auto* lows = subtree.lows + turn * kMostWarps;
  auto* highs = subtree.highs + turn * kMostWarps;
  if (lane_number() == 0) {
    lows[warp_number()] = range.low;
    highs[warp_number()] = range.high;
  }
  team.sync();
  const std::uint32_t warp = team.first_warp + (lane_number() & (team.warps - 1));
  return {min_of_warp(lows[warp]), max_of_warp(highs[warp])};
}

/// The sum over the lanes of a warp up to this one.
__device__ __forceinline__ std::uint32_t sum_through_lane(std::uint32_t value) {
#pragma unroll
  for (std::uint32_t step = 1; step < kWarp; step *= 2) {
    const std::uint32_t other = shuffle_up(value, step);
    value += lane_number() >= step ? other : 0;
  }
  return value;
}

/// The sum of `own` over the team's warps before this one; `own` is the sum of a warp.
template <typename T, bool kStaged>
__device__ __forceinline__ std::uint32_t sum_before_warp(const Subtree<T, kStaged>& subtree, const Team& team,
                                                         std::uint32_t own, std::uint32_t turn) {
  std::uint32_t* totals = subtree.totals + turn * FinishLayout<T>::kMostWarps;
  if (lane_number() == 0) totals[warp_number()] = own;
  team.sync();
  const bool is_before = team.first_warp + lane_number() < warp_number();
  return sum_of_warp(is_before ? totals[team.first_warp + lane_number()] : 0);
}

/// Finds the one of the team's 4 * threads counters into which `rank` falls; none if it is not less than their sum.
/// Clears the counters. All threads have met since the last one counted.
template <typename T, bool kStaged>
__device__ __forceinline__ FinishChoice find_counter(const Subtree<T, kStaged>& subtree, const Team& team,
                                                     std::uint32_t rank) {
  struct alignas(16) Four {
    std::uint32_t a, b, c, d;
  };
  Four* own = reinterpret_cast<Four*>(subtree.counters) + thread_number();
  const Four four = *own;
  *own = {0, 0, 0, 0};
  const std::uint32_t sum = four.a + four.b + four.c + four.d;
  const std::uint32_t through = sum_through_lane(sum);
  std::uint32_t before = through - sum;
  if (team.warps > 1) before += sum_before_warp(subtree, team, shuffle(through, kWarp - 1), 0);
  if (rank >= before && rank < before + sum) {
    FinishChoice& choice = subtree.choices[team.first_warp];
    std::uint32_t counter = 4 * team.rank, count = four.a;
    if (rank >= before + count) {
      before += count;
      ++counter;
      count = four.b;
      if (rank >= before + count) {
        before += count;
        ++counter;
        count = four.c;
        if (rank >= before + count) {
          before += count;
          ++counter;
          count = four.d;
        }
      }
    }
    choice.counter = counter;
    choice.below = before;
    choice.count = count;
  }
  team.sync();
  return subtree.choices[team.first_warp];
}

}  // namespace kith::cuda
