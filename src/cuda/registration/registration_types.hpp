// What the kernels of a registration get. Plain data, for host and device; all arrays are in device memory.
#pragma once

#include "core/cloud/motion.hpp"
#include "core/cloud/ordered_sum.hpp"
#include "core/cloud/registration_step.hpp"
#include "core/order/candidate.hpp"
#include "cuda/kd_tree/search/search_types.hpp"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Memory of a total over `items` items of `terms` numbers each: the sums of blocks, level by level.
KITH_HOST_DEVICE constexpr std::uint64_t total_scratch(std::uint64_t items, int terms) {
  std::uint64_t sums = 0;
  std::uint64_t count = core::sum_blocks(items);
  for (; count > 1; count = core::sum_blocks(count)) sums += count;
  return (sums + 1) * static_cast<std::uint64_t>(terms);
}

/// The neighbours of every point of a cloud.
template <typename T>
struct NeighborLists {
  const std::uint32_t* numbers = nullptr;  ///< k per point, ascending by distance; null: unknown
  const T* distances = nullptr;
  std::uint32_t k = 0;
};

/// The mean distance between neighbours of the target, where only the GPU knows it.
struct SpacingSum {
  const double* sum = nullptr;
  double count = 1;
};

/// One stage: every `step`-th point of the source against the whole target.
template <typename T>
struct RefineTask {
  SearchTree<T> tree;                 ///< of the target
  const T* target = nullptr;          ///< rows of dims coordinates, as are all
  const T* target_normals = nullptr;  ///< null unless they are needed
  const T* source = nullptr;
  const T* source_normals = nullptr;
  std::uint64_t step = 1;
  std::uint64_t points = 0;  ///< of the source that take part
  core::Frame frame;
  core::StepRule rule;
  SpacingSum spacing;                   ///< for rule.least_distance, which the host has left out
  NeighborLists<T> near;                ///< of the target
  core::StageState* state = nullptr;    ///< begins with the start
  core::StepRecord* records = nullptr;  ///< one per iteration
  std::uint32_t* matches = nullptr;     ///< per point: of the last iteration, or kNoPoint; begins with kNoPoint
  double* sums = nullptr;               ///< refine_scratch numbers
  double* total = nullptr;              ///< receives the sums at the last pose
  double* surfaces = nullptr;           ///< for gicp, if not null: the same of distances along the target's normals
  std::uint32_t* counters = nullptr;    ///< four, which begin with 0: blocks that arrived, rounds that ended, twice
};

/// What a stage has of `RefineTask::sums`.
KITH_HOST_DEVICE constexpr std::uint64_t refine_scratch(std::uint64_t points, int terms) {
  const std::uint64_t groups = core::sum_blocks(points) * (core::kSumBlock / core::kSumGroup);
  const std::uint64_t of_few = 2 * groups * static_cast<std::uint64_t>(terms);
  const std::uint64_t of_many = total_scratch(points, terms);
  return of_few > of_many ? of_few : of_many;
}

/// With the least distance of pairs, four times the mean spacing.
template <typename T>
KITH_HOST_DEVICE core::StepRule rule_of(const RefineTask<T>& task) {
  core::StepRule rule = task.rule;
  if (rule.adapts_distance && task.spacing.sum != nullptr) {
    rule.least_distance = 4 * (*task.spacing.sum / task.spacing.count);
  }
  return rule;
}

/// How far from a query its nearest point may be, as a reduced distance: somewhat more than pairs reach, because those
/// are measured in double.
template <typename T>
KITH_HOST_DEVICE T reach_of(double max_distance) {
  constexpr T kMost = std::numeric_limits<T>::max();
  const double squared = max_distance * max_distance * 1.0001;
  return squared < static_cast<double>(kMost) ? static_cast<T>(squared) + std::numeric_limits<T>::min() : kMost;
}

}  // namespace kith::cuda
