// The candidates of a round, and which of them became centres.
#pragma once

#include "cuda/cover_tree/build/close_cells.cuh"

namespace kith::cuda::cover {

/// A candidate is an object that is farther than the radius from all centres so far; it is taken if its rank is below
/// `below`.
static __global__ void __launch_bounds__(kThreads)
    flag_candidates(const std::uint32_t* numbers, Moves moves, std::uint32_t count, double radius, std::uint64_t below,
                    std::uint32_t* flags, Counters* counters) {
  const std::uint64_t p = thread_of_grid();
  const bool is_candidate = p < count && moves.distance[p] > radius;
  if (p < count) flags[p] = is_candidate && core::cover_rank(numbers[p]) < below ? 1 : 0;
  const std::uint32_t candidates = ballot(is_candidate);
  if (lane_number() == 0 && candidates != 0) atomic_add(&counters->undecided, count_bits(candidates));
}

static __global__ void __launch_bounds__(kThreads)
    take_candidates(const std::uint32_t* flags, std::uint32_t count, Prefix prefix, Counters* counters) {
  const std::uint64_t p = thread_of_grid();
  if (p == 0) counters->prefix = prefix.before[count];
  if (p >= count || flags[p] == 0) return;
  prefix.positions[prefix.before[p]] = static_cast<std::uint32_t>(p);
  prefix.states[prefix.before[p]] = kUndecided;
}

static __global__ void __launch_bounds__(kThreads)
    flag_centres(const std::uint32_t* states, std::uint32_t count, std::uint32_t* flags) {
  const std::uint64_t i = thread_of_grid();
  if (i < count) flags[i] = states[i] == kCentre ? 1 : 0;
}

static __global__ void __launch_bounds__(kThreads)
    take_centres(const std::uint32_t* numbers, Prefix prefix, std::uint32_t count, Moves moves, bool by_lists) {
  const std::uint64_t i = thread_of_grid();
  if (i >= count || prefix.states[i] != kCentre) return;
  const std::uint32_t position = prefix.positions[i], number = numbers[position];
  prefix.taken[prefix.taken_before[i]] = by_lists ? position : number;
  moves.distance[position] = 0;
  moves.centre[position] = number;
}

}  // namespace kith::cuda::cover
