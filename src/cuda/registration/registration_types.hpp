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
  core::StageState* state = nullptr;    ///< begins with the start
  core::StepRecord* records = nullptr;  ///< one per iteration
  std::uint32_t* matches = nullptr;     ///< per point: of the last iteration, or kNoPoint; begins with kNoPoint
  double* sums = nullptr;               ///< total_scratch numbers
  double* total = nullptr;              ///< receives the sums at the last pose
  std::uint32_t* counters = nullptr;    ///< two: blocks that arrived, rounds that ended; begin with 0
};

/// How far from a query its nearest point may be, as a reduced distance: somewhat more than pairs reach, because those
/// are measured in double.
template <typename T>
KITH_HOST_DEVICE T reach_of(double max_distance) {
  constexpr T kMost = std::numeric_limits<T>::max();
  const double squared = max_distance * max_distance * 1.0001;
  return squared < static_cast<double>(kMost) ? static_cast<T>(squared) + std::numeric_limits<T>::min() : kMost;
}

}  // namespace kith::cuda
