// Vectors of floats or doubles as objects of the cover tree on the GPU.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <kith/metric.hpp>

#include <bit>
#include <cstdint>
#include <cstring>

namespace kith::cuda {

/// Cosine comes as L2 of normalised rows. Rows up to kMostCopied bytes are prepared as copies in shared memory; longer
/// ones are read where they lie, all lanes the same word.
template <typename T>
class VectorSpace {
 public:
  using Value = T;
  static constexpr std::uint32_t kMostCopied = 4096;

  VectorSpace(std::uint32_t dims, Metric::Kind kind) : dims_(dims), kind_(kind) {}

  KITH_HOST_DEVICE std::uint32_t stride() const { return dims_ * kWords; }
  KITH_HOST_DEVICE std::uint32_t context_bytes() const {
    return is_copied() ? (dims_ * std::uint32_t{sizeof(T)} + 15) / 16 * 16 : 16;
  }

  __device__ void prepare(std::byte* memory, RowView row) const {
    if (is_copied()) {
      std::uint32_t* copy = reinterpret_cast<std::uint32_t*>(memory);
      for (std::uint32_t w = lane_number(); w < stride(); w += kWarp) copy[w] = row[w];
    } else if (lane_number() == 0) {
      std::memcpy(memory, &row, sizeof(row));
    }
    sync_warp();
  }

  __device__ T measure(const std::byte* prepared, RowView row, T limit) const {
    if (is_copied()) return measure_from(CopiedRow{reinterpret_cast<const T*>(prepared)}, row, limit);
    LongRow from;
    std::memcpy(&from.row, prepared, sizeof(from.row));
    return measure_from(from, row, limit);
  }

  KITH_HOST_DEVICE double metric(T value) const {
    return static_cast<double>(core::visit_kind<core::CoverTreeReductions>(
        kind_, 2, [value](const auto& each) { return each.reported(value); }));
  }
  KITH_HOST_DEVICE core::CoverRounding rounding() const { return core::reduced_rounding<T>(dims_); }

 private:
  static constexpr std::uint32_t kWords = sizeof(T) / sizeof(std::uint32_t);
  static constexpr std::uint32_t kUnchecked = 32;  ///< dims between two looks at the limit

  KITH_HOST_DEVICE bool is_copied() const { return dims_ * sizeof(T) <= kMostCopied; }

  __device__ static T coordinate(RowView row, std::uint32_t dim) {
    if constexpr (kWords == 1) {
      return std::bit_cast<T>(row[dim]);
    } else {
      return std::bit_cast<T>(row[2 * dim] | std::uint64_t{row[2 * dim + 1]} << 32);
    }
  }

  /// Coordinates that are loaded at a time.
  static constexpr std::uint32_t kTogether = 16 / sizeof(T);
  struct alignas(16) Coordinates {
    T values[kTogether];
  };

  /// What was prepared: in shared memory, or where it lies.
  struct CopiedRow {
    const T* coordinates = nullptr;
    __device__ T operator[](std::uint32_t dim) const { return coordinates[dim]; }
    __device__ Coordinates from(std::uint32_t dim) const {
      return *reinterpret_cast<const Coordinates*>(coordinates + dim);
    }
  };
  struct LongRow {
    RowView row;
    __device__ T operator[](std::uint32_t dim) const { return coordinate(row, dim); }
    __device__ Coordinates from(std::uint32_t dim) const {
      Coordinates some;
      for (std::uint32_t i = 0; i < kTogether; ++i) some.values[i] = coordinate(row, dim + i);
      return some;
    }
  };

  template <typename From>
  __device__ T measure_from(const From& from, RowView row, T limit) const {
    return core::visit_kind<core::CoverTreeReductions>(
        kind_, 2, [&](const auto& metric) { return reduced(metric, from, row, limit); });
  }

  template <typename M, typename From>
  __device__ static T step_together(const M& metric, T sum, const From& from, RowView to, std::uint32_t dim) {
    const Coordinates some = from.from(dim);
#pragma unroll
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      sum = core::step_of_pair(metric, sum, some.values[i], coordinate(to, dim + i));
    }
    return sum;
  }

  /// Sums never fall, so a reduced distance that is above the limit stays there.
  template <typename M, typename From>
  __device__ T reduced(const M& metric, const From& from, RowView to, T limit) const {
    T sum = 0;
    std::uint32_t d = 0;
    if constexpr (M::kIsCostly) {  // unrolled it would take registers from the other metrics
#pragma unroll 1
      for (; d < dims_ && !(sum > limit); ++d) sum = core::step_of_pair(metric, sum, from[d], coordinate(to, d));
    } else {
      for (; d + kUnchecked <= dims_; d += kUnchecked) {
#pragma unroll 4
        for (std::uint32_t k = 0; k < kUnchecked; k += kTogether) sum = step_together(metric, sum, from, to, d + k);
        if (sum > limit) return sum;
      }
#pragma unroll 2
      for (; d + kTogether <= dims_; d += kTogether) sum = step_together(metric, sum, from, to, d);
      for (; d < dims_; ++d) sum = core::step_of_pair(metric, sum, from[d], coordinate(to, d));
    }
    return sum;
  }

  std::uint32_t dims_;
  Metric::Kind kind_;
};

static_assert(DeviceSpace<VectorSpace<float>> && DeviceSpace<VectorSpace<double>>);

}  // namespace kith::cuda
