// What the kernels that register many small pairs get. Plain data, for host and device; all arrays are in device
// memory.
#pragma once

#include "core/cloud/match_terms.hpp"
#include "core/cloud/motion.hpp"
#include "core/cloud/registration_step.hpp"
#include "cuda/registration/small_cloud.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// What the host must know of a cloud.
template <typename T>
struct CloudFacts {
  T lower[3], upper[3];  ///< of its box
  double sums[4];        ///< of coordinates less the middle of the box, and of their squares
  double spacing;        ///< sum of the distances of points to their nearest neighbours
  bool is_finite;        ///< else nothing but this is set
};

/// One cloud to prepare.
template <typename T>
struct CloudTask {
  const T* rows = nullptr;
  std::uint64_t row_stride = 0;
  std::uint32_t points = 0;     ///< 1 to kMostSmallPoints
  std::uint32_t neighbors = 0;  ///< of planes
  bool wants_spacing = false;   ///< else it is left out
  std::byte* tree = nullptr;    ///< receives SmallTree::bytes
  T* normals = nullptr;         ///< receives points x dims; null: not needed
};

/// What is known of the points of a source since each was searched for last: arrays in one piece of memory, aligned to
/// 16 bytes.
template <typename T, std::uint32_t kDims>
struct KnownMatches {
  T* places[kDims];        ///< where a point was then
  T* others;               ///< no point but the match was nearer than this; -1: never searched
  std::uint32_t* nearest;  ///< the place of the match in the tree, or kNoPoint

  KITH_HOST_DEVICE KnownMatches(std::byte* memory, std::uint32_t points) {
    auto* const values = reinterpret_cast<T*>(memory);
    for (std::uint32_t d = 0; d < kDims; ++d) places[d] = values + std::uint64_t{d} * points;
    others = values + std::uint64_t{kDims} * points;
    nearest = reinterpret_cast<std::uint32_t*>(others + points);
  }
  /// A multiple of 16.
  KITH_HOST_DEVICE static constexpr std::uint64_t bytes(std::uint32_t points) {
    return (points * ((kDims + 1) * sizeof(T) + sizeof(std::uint32_t)) + 15) / 16 * 16;
  }
};

struct PairResult {
  core::StageState state;
  double total[core::TermPlaces<7>::kCount];
  double surfaces[core::TermPlaces<7>::kCount];  ///< for gicp: along the target's normals alone
};

/// One pair to register.
template <typename T>
struct PairTask {
  const T* source = nullptr;
  std::uint64_t row_stride = 0;
  const std::byte* source_tree = nullptr;  ///< for its order, in which neighbours follow each other
  const T* source_normals = nullptr;
  std::uint32_t points = 0;   ///< of the source
  std::uint32_t targets = 0;  ///< points of the target
  const std::byte* target_tree = nullptr;
  const T* target_normals = nullptr;
  core::Frame frame;
  core::StepRule rule;
  core::StageState start;
  std::byte* known = nullptr;           ///< KnownMatches::bytes
  core::StepRecord* records = nullptr;  ///< one per iteration and one more
  std::uint32_t* matches = nullptr;     ///< receives those of pairs, kNoPoint for others; may be null
  PairResult* result = nullptr;
};

}  // namespace kith::cuda
