// The iterations of a stage in one kernel: blocks find pairs and add them up, the last one makes the step, and all go
// on.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/match_terms.cuh"
#include "cuda/registration/one_nearest.cuh"
#include "cuda/registration/ordered_total.cuh"
#include "cuda/registration/registration_types.hpp"

#include <cstdint>

namespace kith::cuda {

template <int Unknowns>
struct RefineShared {
  core::StageState state;
  bool is_last;
  TotalShared<core::TermPlaces<Unknowns>::kCount> total;
};

/// The terms of one point at the motion of the state, if it has a pair; remembers its match.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ bool find_terms(const RefineTask<T>& task, const core::StageState& state, std::uint64_t point,
                           core::Terms<core::TermPlaces<Unknowns>::kCount>& terms) {
  const std::uint64_t row = point * task.step;
  double moved[3];
  T query[kDims];
  if (!move_row<T, kDims>(task.source + row * kDims, task.frame, state.motion, moved, query)) return false;

  NearestPoint<T> best{reach_of<T>(state.max_distance), kNoPoint};
  const std::uint32_t before = task.matches[point];
  if (before != kNoPoint) {
    const T* match = task.target + std::uint64_t{before} * kDims;
    T sum = 0;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d)
      sum = core::fused_multiply_add(query[d] - match[d], query[d] - match[d], sum);
    best.offer(sum, before);
  }
  best = find_nearest<T, kDims>(task.tree, query, best);
  task.matches[point] = best.number;
  if (best.number == kNoPoint) return false;
  const std::uint64_t match = std::uint64_t{best.number} * kDims;
  return terms_of_match<T, kDims, Unknowns>(task.rule.pair, task.frame, state, moved, query, task.target + match,
                                            row_at(task.source_normals, row * kDims),
                                            row_at(task.target_normals, match), terms);
}

/// Every block has the state of the last round.
template <int Unknowns>
__device__ void load_state(const core::StageState* from, RefineShared<Unknowns>& shared) {
  static_assert(sizeof(core::StageState) % sizeof(std::uint32_t) == 0);
  constexpr std::uint32_t kWords = sizeof(core::StageState) / sizeof(std::uint32_t);
  if (thread_number() < kWords) {
    reinterpret_cast<std::uint32_t*>(&shared.state)[thread_number()] =
        load_fresh(reinterpret_cast<const std::uint32_t*>(from) + thread_number());
  }
  sync_block();
}

/// Blocks of kSumBlock threads, all of them resident. Ends with the sums at the last pose, and the matches of its
/// pairs; other points have kNoPoint then.
template <typename T, std::uint32_t kDims, int Unknowns>
__global__ void __launch_bounds__(core::kSumBlock, 2) refine_stage(RefineTask<T> task) {
  using Places = core::TermPlaces<Unknowns>;
  auto& shared = *reinterpret_cast<RefineShared<Unknowns>*>(shared_memory());
  const std::uint64_t blocks = core::sum_blocks(task.points);
  for (std::uint32_t round = 0;; ++round) {
    load_state(task.state, shared);
    const bool is_over = shared.state.end != core::StageEnd::none;
    for (std::uint64_t b = block_number(); b < blocks; b += blocks_in_grid()) {
      core::Terms<Places::kCount> terms{};
      const std::uint64_t point = b * core::kSumBlock + thread_number();
      if (point < task.points && !find_terms<T, kDims, Unknowns>(task, shared.state, point, terms) && is_over) {
        task.matches[point] = kNoPoint;
      }
      add_block<Places::kCount>(terms, shared.total, task.sums + b * Places::kCount);
    }
    if (thread_number() == 0) {
      fence_device();
      shared.is_last = atomic_add(&task.counters[0], 1u) == (round + 1) * blocks_in_grid() - 1;
    }
    sync_block();
    if (shared.is_last) {
      fence_device();
      const double* total = add_levels<Places::kCount>(task.sums, task.points, shared.total);
      if (thread_number() < Places::kCount) task.total[thread_number()] = load_fresh_number(total + thread_number());
      fence_device();
      sync_block();
      if (thread_number() == 0) {
        if (!is_over) {
          double sums[Places::kCount];
          for (int j = 0; j < Places::kCount; ++j) sums[j] = load_fresh_number(task.total + j);
          core::StageState state = shared.state;
          core::advance<Unknowns>(rule_of(task), sums, state, task.records[shared.state.iteration]);
          *task.state = state;
        }
        fence_device();
        atomic_add(&task.counters[1], 1u);
      }
    } else if (thread_number() == 0) {
      wait_until(&task.counters[1], round + 1);
      fence_device();
    }
    sync_block();
    if (is_over) return;
  }
}

}  // namespace kith::cuda
