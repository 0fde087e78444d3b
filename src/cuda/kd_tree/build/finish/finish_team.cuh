// What whole warps do together for one node: synchronise, find extremes, count, find the counter that holds a rank.
#pragma once

#include "cuda/kd_tree/build/finish/finish_box.cuh"

namespace kith::cuda {

/// The threads that own a node: one warp or several, a power of two. Each sees the node's points at its places
/// begin + rank + k * threads.
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

  /// A team of several warps has a barrier of its own, from 1 to 15, that no team of another depth uses: teams do not
  /// wait for each other.
  __device__ __forceinline__ void sync() const {
    if (warps > 1) {
      sync_part((threads_per_block() >> bits) + number, threads);
    } else {
      sync_warp();
    }
  }
};

/// The block synchronises, and teams have before, some more often than others: racecheck of compute-sanitizer then
/// takes what one warp wrote before a barrier of the block and another one reads after it for a race, unless there are
/// two.
__device__ __forceinline__ void sync_after_teams() {
  sync_block();
  sync_block();
}

/// The range of the whole team. `turn` alternates between 0 and 1, so that one barrier is enough.
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

/// Where a rank falls among counters.
struct Choice {
  std::uint32_t counter = 0;
  std::uint32_t below = 0;  ///< points in the counters before
  std::uint32_t count = 0;  ///< points in it
};

/// A team has four counters for each of its threads, but no more than 2^9: every warp adds them up for itself.
__device__ __forceinline__ std::uint32_t counter_bits(const Team& team) {
  constexpr std::uint32_t kMostBits = 9;
  return team.bits + 2 < kMostBits ? team.bits + 2 : kMostBits;
}
template <typename T, bool kStaged>
__device__ __forceinline__ std::uint32_t* counters_of(const Subtree<T, kStaged>& subtree, const Team& team) {
  return subtree.counters + 4 * (thread_number() - team.rank);
}

struct alignas(16) FourCounters {
  std::uint32_t a, b, c, d;
};

/// All threads of the block, between counting and reading.
template <typename T, bool kStaged>
__device__ __forceinline__ void clear_counters(const Subtree<T, kStaged>& subtree) {
  reinterpret_cast<FourCounters*>(subtree.counters)[thread_number()] = {0, 0, 0, 0};
}

/// Finds the counter into which `rank`, less than their sum, falls. The team has synchronised since the last one
/// counted.
template <typename T, bool kStaged>
__device__ __forceinline__ Choice choose_counter(const Subtree<T, kStaged>& subtree, const Team& team,
                                                 std::uint32_t rank) {
  constexpr std::uint32_t kRow = 4 * kWarp, kMostRows = 4;
  const std::uint32_t rows = (1u << counter_bits(team)) / kRow;
  const auto* own = reinterpret_cast<const FourCounters*>(counters_of(subtree, team)) + lane_number();
  std::uint32_t sum[kMostRows], total[kMostRows];
#pragma unroll
  for (std::uint32_t j = 0; j < kMostRows; ++j) {
    const FourCounters four = j < rows ? own[j * kWarp] : FourCounters{0, 0, 0, 0};
    sum[j] = four.a + four.b + four.c + four.d;
  }
#pragma unroll
  for (std::uint32_t j = 0; j < kMostRows; ++j) total[j] = sum_of_warp(sum[j]);
  std::uint32_t row = 0, before = 0, through_row = total[0];
#pragma unroll
  for (std::uint32_t j = 1; j < kMostRows; ++j) {
    if (rank >= through_row && j < rows) {  // the same for all lanes
      sum[0] = sum[j];
      row = j;
      before = through_row;
    }
    through_row += total[j];
  }
  const FourCounters four = own[row * kWarp];
  before += sum_through_lane(sum[0]) - sum[0];
  const std::uint32_t lane = lowest_bit(ballot(rank >= before && rank < before + sum[0]));
  std::uint32_t counter = row * kRow + 4 * lane_number();
  std::uint32_t count = four.a;
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
  sync_warp();
  const std::uint32_t both = shuffle(counter | count << 16, lane);
  return {both & 0xffff, shuffle(before, lane), both >> 16};
}

}  // namespace kith::cuda
