// The iterations of a stage in one kernel: blocks find pairs and add them up, the last one makes the step, and all go
// on.
#pragma once

#include "core/cloud/match_terms.hpp"
#include "cuda/primitives/intrinsics.cuh"
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

/// One row as three doubles less a centre; of points in a plane the third is 0.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void load_place(const T* row, const double* centre, double (&to)[3]) {
  to[2] = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) to[d] = static_cast<double>(row[d]) - centre[d];
}

/// The terms of one point at the motion of the state, if it has a pair; remembers its match.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ bool find_terms(const RefineTask<T>& task, const core::StageState& state, std::uint64_t point,
                           core::Terms<core::TermPlaces<Unknowns>::kCount>& terms) {
  constexpr double kNowhere[3] = {0, 0, 0};
  const std::uint64_t row = point * task.step;
  double x[3], moved[3];
  load_place<T, kDims>(task.source + row * kDims, task.frame.source, x);
  core::move_point(state.motion, x, moved);
  T query[kDims];
  bool is_finite = true;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    query[d] = static_cast<T>(moved[d] + task.frame.target[d]);
    is_finite = is_finite && query[d] - query[d] == 0;
  }
  if (!is_finite) return false;

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

  const T* match = task.target + std::uint64_t{best.number} * kDims;
  double squared = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const double gap = static_cast<double>(query[d]) - static_cast<double>(match[d]);
    squared += gap * gap;
  }
  if (!(squared <= state.max_distance * state.max_distance) || squared - squared != 0) return false;  // or infinite
  double to[3], source_normal[3] = {}, target_normal[3] = {};
  load_place<T, kDims>(match, task.frame.target, to);
  if (task.rule.pair.error == core::PairError::gicp) {
    double normal[3];
    load_place<T, kDims>(task.source_normals + row * kDims, kNowhere, normal);
    core::rotate(state.motion.rotation, normal, source_normal);
  }
  if (task.rule.pair.error != core::PairError::point) {
    load_place<T, kDims>(task.target_normals + std::uint64_t{best.number} * kDims, kNowhere, target_normal);
  }
  core::pair_terms<Unknowns>(task.rule.pair, moved, to, source_normal, target_normal, terms);
  return true;
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
__global__ void refine_stage(RefineTask<T> task) {
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
          core::advance<Unknowns>(task.rule, sums, state, task.records[shared.state.iteration]);
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
