// One point of the source at a pose: where it is searched for, and what it adds to the sums if it has a match.
#pragma once

#include "core/cloud/match_terms.hpp"
#include "core/cloud/motion.hpp"
#include "core/cloud/registration_step.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// One row as three doubles less a centre; of points in a plane the third is 0.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void load_place(const T* row, const double* centre, double (&to)[3]) {
  to[2] = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) to[d] = static_cast<double>(row[d]) - centre[d];
}

/// The moved point, less the centre of the target, and where it is searched for; false if that is not finite.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ bool move_row(const T* row, const core::Frame& frame, const core::Motion& motion,
                                         double (&moved)[3], T (&query)[kDims]) {
  double x[3];
  load_place<T, kDims>(row, frame.source, x);
  core::move_point(motion, x, moved);
  bool is_finite = true;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    query[d] = static_cast<T>(moved[d] + frame.target[d]);
    is_finite = is_finite && query[d] - query[d] == 0;
  }
  return is_finite;
}

/// The row at a place of an array that may be absent.
template <typename T>
__device__ __forceinline__ const T* row_at(const T* rows, std::uint64_t at) {
  return rows == nullptr ? nullptr : rows + at;
}

/// The terms of a point and its match, if they are a pair. Normals are read as far as the rule needs them.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ bool terms_of_match(const core::PairRule& rule, const core::Frame& frame, const core::StageState& state,
                               const double (&moved)[3], const T (&query)[kDims], const T* match,
                               const T* source_normal_row, const T* target_normal_row,
                               core::Terms<core::TermPlaces<Unknowns>::kCount>& terms) {
  constexpr double kNowhere[3] = {0, 0, 0};
  double squared = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const double gap = static_cast<double>(query[d]) - static_cast<double>(match[d]);
    squared += gap * gap;
  }
  if (!(squared <= state.max_distance * state.max_distance) || squared - squared != 0) return false;  // or infinite
  double to[3], source_normal[3] = {}, target_normal[3] = {};
  load_place<T, kDims>(match, frame.target, to);
  if (rule.error == core::PairError::gicp) {
    double normal[3];
    load_place<T, kDims>(source_normal_row, kNowhere, normal);
    core::rotate(state.motion.rotation, normal, source_normal);
  }
  if (rule.error != core::PairError::point) load_place<T, kDims>(target_normal_row, kNowhere, target_normal);
  core::pair_terms<Unknowns, double>(rule, moved, to, source_normal, target_normal, terms.data());
  return true;
}

}  // namespace kith::cuda
