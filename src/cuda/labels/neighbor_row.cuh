// One row of neighbours: how much each counts, and what it is labelled if that is known already.
#pragma once

#include "core/vote.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/labels/label_types.hpp"

namespace kith::cuda {

template <typename T>
class NeighborRow {
 public:
  __device__ __forceinline__ NeighborRow(const NeighborRows<T>& rows, std::uint64_t row)
      : indices_(rows.indices + row * rows.k),
        distances_(rows.distances == nullptr ? nullptr : rows.distances + row * rows.k),
        k_(rows.k),
        missing_(rows.missing) {}

  /// The j-th nearest, or the number of points if there are not so many.
  __device__ __forceinline__ std::uint32_t index(std::uint32_t j) const { return j < k_ ? indices_[j] : missing_; }
  /// Of one that is there.
  __device__ __forceinline__ double weight(std::uint32_t j) const {
    if (distances_ == nullptr) return 1;
    return core::distance_weight(static_cast<double>(distances_[0]), static_cast<double>(distances_[j]));
  }

 private:
  const std::uint32_t* indices_;
  const T* distances_;
  std::uint32_t k_;
  std::uint32_t missing_;
};

/// The label of a point as a word of FoundLabel, with depth 0 if it is the caller's.
__device__ __forceinline__ std::uint64_t label_now(const KnownLabels& known, std::uint32_t point) {
  if (point < known.trained) return FoundLabel::word(known.labels[point], 0);
  return load_now(known.found + (point - known.trained));
}

}  // namespace kith::cuda
