// The iterations of a stage for a source of few points, in one kernel with one barrier an iteration: every block keeps
// its points, and each adds up the sums of all and makes the step itself.
//
// Few points leave most of a GPU idle, and an iteration takes as long as its longest chain of loads, additions and
// barriers. So blocks have few points (32 where there are enough multiprocessors), a thread each; where a match may
// have changed, eight lanes look for it.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/eight_lanes.cuh"
#include "cuda/registration/match_certainty.cuh"
#include "cuda/registration/match_terms.cuh"
#include "cuda/registration/ordered_total.cuh"
#include "cuda/registration/registration_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// Of 256 points. Every block reads the sums of all groups of 32.
inline constexpr std::uint32_t kMostFewBlocks = 96;

template <typename T, std::uint32_t kDims, int Unknowns>
struct FewShared {
  static constexpr int kTerms = core::TermPlaces<Unknowns>::kCount;
  core::StageState state;
  core::StepRule rule;
  double total[kTerms];
  std::uint32_t open;  ///< points to search for
  // Of each of these.
  std::uint32_t matches[core::kSumBlock];  ///< the last one, then the new one
  T others[core::kSumBlock];
  T queries[kDims][core::kSumBlock];
  union {
    T bounds[EightWayTree::kMostDepths][core::kSumBlock];  ///< while points are searched for
    double blocks[kMostFewBlocks][kTerms];                 ///< while sums are added up
  };
};

/// A point of the source, its thread's alone.
template <typename T, std::uint32_t kDims>
struct OwnPoint {
  T place[kDims] = {};  ///< where it was searched for
  T match[kDims] = {};  ///< where its match lies
  T others = -1;        ///< see may_have_changed
  std::uint32_t number = core::kNoPoint;
};

/// Finds the matches of the points that are open, four by each warp at a time.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void search_open(const RefineTask<T>& task, FewShared<T, kDims, Unknowns>& shared) {
  constexpr double kFarther = 1.25;  // so that points without a match are not searched for again at once
  constexpr std::uint32_t kQueriesPerWarp = kWarp / kQueryLanes;
  const T limit = reach_of<T>(shared.state.max_distance * kFarther);
  const std::uint32_t warps = threads_per_block() / kWarp;
  for (std::uint32_t first = warp_number() * kQueriesPerWarp; first < shared.open; first += warps * kQueriesPerWarp) {
    const std::uint32_t slot = first + lane_number() / kQueryLanes;
    const bool is_there = slot < shared.open;
    T query[kDims] = {};
    NearestPoints<T> best{limit, limit};
    if (is_there) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) query[d] = shared.queries[d][slot];
      const std::uint32_t before = shared.matches[slot];
      if (before != core::kNoPoint) {
        best.offer(reduced_between<T, kDims>(query, task.target + std::uint64_t{before} * kDims), before);
      }
    }
    T others = 0;
    const bool is_found =
        follow_lists<T, kDims>(task.near, task.target, task.tree.geometry.points, query, is_there, best, others);
    if (any_lane(is_there && !is_found)) {
      walk_by_eight<T, kDims>(task.tree, query, is_there && !is_found, &shared.bounds[0][thread_number()],
                              core::kSumBlock, best);
      if (!is_found) others = kept_distance(best.next);
    }
    sync_warp();  // all eight have read what was there
    if (is_there && lane_number() % kQueryLanes == 0) {
      shared.matches[slot] = best.number;
      shared.others[slot] = others;
    }
    sync_warp();
  }
}

/// Moves the block's points and finds their matches. Returns whether this thread's point is at a finite place.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ bool find_own_match(const RefineTask<T>& task, std::uint64_t point, bool is_there,
                               FewShared<T, kDims, Unknowns>& shared, OwnPoint<T, kDims>& own, double (&moved)[3],
                               T (&query)[kDims]) {
  if (thread_number() == 0) shared.open = 0;
  sync_block();
  const bool is_finite = is_there && move_row<T, kDims>(task.source + point * task.step * kDims, task.frame,
                                                        shared.state.motion, moved, query);
  const bool is_open = is_finite && may_have_changed<T, kDims>(query, own.place, own.number != core::kNoPoint,
                                                               own.match, own.others, shared.state.max_distance);
  const std::uint32_t all = ballot(is_open);
  std::uint32_t slot = 0;
  if (lane_number() == 0 && all != 0) slot = atomic_add(&shared.open, count_bits(all));
  slot = shuffle(slot, 0) + count_bits(all & ((1u << lane_number()) - 1));
  if (is_open) {
    shared.matches[slot] = own.number;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) shared.queries[d][slot] = own.place[d] = query[d];
  }
  sync_block();
  if (shared.open == 0) return is_finite;
  search_open<T, kDims, Unknowns>(task, shared);
  sync_block();
  if (is_open) {
    own.number = shared.matches[slot];
    own.others = shared.others[slot];
    if (own.number != core::kNoPoint) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) own.match[d] = task.target[std::uint64_t{own.number} * kDims + d];
    }
  }
  return is_finite;
}

/// The total of the sums of groups of 32 points, to shared.total.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void add_all_groups(const double* sums, std::uint32_t groups, FewShared<T, kDims, Unknowns>& shared) {
  constexpr int kTerms = FewShared<T, kDims, Unknowns>::kTerms;
  constexpr std::uint32_t kGroups = core::kSumBlock / core::kSumGroup;
  const std::uint32_t blocks = (groups + kGroups - 1) / kGroups;
  for (std::uint32_t i = thread_number(); i < blocks * kTerms; i += threads_per_block()) {
    const std::uint32_t block = i / kTerms;
    const std::uint32_t term = i % kTerms;
    double of_groups[kGroups];
#pragma unroll
    for (std::uint32_t g = 0; g < kGroups; ++g) {
      const std::uint32_t group = block * kGroups + g;
      of_groups[g] = group < groups ? load_fresh_number(sums + std::uint64_t{group} * kTerms + term) : 0.0;
    }
    double sum = 0;
#pragma unroll
    for (std::uint32_t g = 0; g < kGroups; ++g) sum += of_groups[g];
    shared.blocks[block][term] = sum;
  }
  sync_block();
  if (thread_number() < kTerms) {
    shared.total[thread_number()] = sum_of_few_blocks(&shared.blocks[0][thread_number()], kTerms, blocks);
  }
  sync_block();
}

/// The total over all points of the terms that their threads have, to shared.total of every block. `round` counts the
/// calls.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void add_points(const RefineTask<T>& task, const core::Terms<core::TermPlaces<Unknowns>::kCount>& terms,
                           std::uint32_t points_per_block, std::uint32_t round, FewShared<T, kDims, Unknowns>& shared) {
  constexpr int kTerms = FewShared<T, kDims, Unknowns>::kTerms;
  const auto groups = static_cast<std::uint32_t>((task.points + core::kSumGroup - 1) / core::kSumGroup);
  // Two in turn: a block may write the next sums while others still read these.
  double* const sums = task.sums + std::uint64_t{round % 2} * groups * kTerms;
  const std::uint32_t group = block_number() * (points_per_block / core::kSumGroup) + warp_number();
  if (warp_number() < points_per_block / core::kSumGroup && group < groups) {
    add_group<kTerms>(terms, sums + std::uint64_t{group} * kTerms);
  }
  sync_block();
  if (thread_number() == 0) {
    fence_device();
    atomic_add(&task.counters[0], 1u);
    wait_until(&task.counters[0], (round + 1) * blocks_in_grid());
    fence_device();
  }
  sync_block();
  add_all_groups<T, kDims, Unknowns>(sums, groups, shared);
}

/// Blocks of kSumBlock threads, all of them resident, one for every `points_per_block` points: 32, 64, 128 or 256. Ends
/// with the sums at the last pose and, if wanted, the matches of its pairs; other points have kNoPoint then.
template <typename T, std::uint32_t kDims, int Unknowns>
__global__ void __launch_bounds__(core::kSumBlock, 2) refine_few(RefineTask<T> task, std::uint32_t points_per_block) {
  using Shared = FewShared<T, kDims, Unknowns>;
  constexpr int kTerms = Shared::kTerms;
  auto& shared = *reinterpret_cast<Shared*>(shared_memory());
  const std::uint64_t point = std::uint64_t{block_number()} * points_per_block + thread_number();
  const bool is_there = thread_number() < points_per_block && point < task.points;
  OwnPoint<T, kDims> own;
  if (thread_number() == 0) {
    shared.state = *task.state;
    shared.rule = rule_of(task);
  }
  sync_block();
  for (std::uint32_t round = 0;; ++round) {
    const bool is_over = shared.state.end != core::StageEnd::none;
    double moved[3];
    T query[kDims];
    const bool is_finite = find_own_match<T, kDims, Unknowns>(task, point, is_there, shared, own, moved, query);
    const auto set_terms = [&](const core::PairRule& rule, core::Terms<kTerms>& terms) {
      return is_finite && own.number != core::kNoPoint &&
             terms_of_match<T, kDims, Unknowns>(rule, task.frame, shared.state, moved, query, own.match,
                                                row_at(task.source_normals, point * task.step * kDims),
                                                row_at(task.target_normals, std::uint64_t{own.number} * kDims), terms);
    };
    core::Terms<kTerms> terms{};
    const bool is_pair = set_terms(shared.rule.pair, terms);
    add_points<T, kDims, Unknowns>(task, terms, points_per_block, round, shared);
    if (!is_over) {
      if (thread_number() == 0) {
        core::StageState state = shared.state;
        core::StepRecord record;
        core::advance<Unknowns>(shared.rule, shared.total, state, record);
        if (block_number() == 0) task.records[shared.state.iteration] = record;
        shared.state = state;
      }
      sync_block();
      continue;
    }
    if (is_there && task.matches != nullptr) task.matches[point] = is_pair ? own.number : core::kNoPoint;
    if (block_number() == 0 && thread_number() < kTerms) task.total[thread_number()] = shared.total[thread_number()];
    if (block_number() == 0 && thread_number() == 0) *task.state = shared.state;
    if (task.surfaces == nullptr) return;
    core::PairRule along_normals = shared.rule.pair;
    along_normals.error = core::PairError::plane;
    terms = {};
    set_terms(along_normals, terms);
    sync_block();  // before totals are written anew
    add_points<T, kDims, Unknowns>(task, terms, points_per_block, round + 1, shared);
    if (block_number() == 0 && thread_number() < kTerms) task.surfaces[thread_number()] = shared.total[thread_number()];
    return;
  }
}

}  // namespace kith::cuda
