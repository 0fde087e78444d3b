// Points that lie side by side, in the registers of one thread.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/build/build_types.hpp"

namespace kith::cuda {

/// How coordinates lie in memory, as far as the compiler may know it.
enum class Layout : std::uint8_t {
  any,      ///< strides and dims are known at run time only
  rows,     ///< point by point, side by side, aligned to 16 bytes
  columns,  ///< dimension by dimension, side by side, each aligned to 16 bytes
};

/// Points that lie side by side and are the work of one thread: a vector of 16 bytes of each coordinate.
template <typename T>
inline constexpr std::uint32_t kTogether = 16 / sizeof(T);

/// Some values at once; the address is a multiple of their size.
template <std::uint32_t kCount, typename V>
__device__ __forceinline__ void load_vector(const V* from, V (&to)[kCount]) {
  struct alignas(kCount * sizeof(V)) Vector {
    V values[kCount];
  };
  const Vector vector = *reinterpret_cast<const Vector*>(from);
#pragma unroll
  for (std::uint32_t i = 0; i < kCount; ++i) to[i] = vector.values[i];
}

template <std::uint32_t kCount, typename V>
__device__ __forceinline__ void store_vector(V* to, const V (&from)[kCount]) {
  struct alignas(kCount * sizeof(V)) Vector {
    V values[kCount];
  };
  Vector vector;
#pragma unroll
  for (std::uint32_t i = 0; i < kCount; ++i) vector.values[i] = from[i];
  *reinterpret_cast<Vector*>(to) = vector;
}

/// Neighbouring points of one thread. Few coordinates are all loaded at once, before it is known which ones are needed;
/// of many only the ones that are.
template <typename T, std::uint32_t kDims, Layout kLayout>
class LoadedPoints {
 public:
  static constexpr std::uint32_t kEach = kTogether<T>;

  /// `first` is a multiple of kEach. Only the points in [low, end) are there; `kWhole`: all are.
  template <bool kWhole>
  __device__ __forceinline__ void load(const PointSource<T>& source, std::uint32_t first, std::uint32_t low,
                                       std::uint32_t end) {
    if constexpr (kLayout == Layout::any) {
      stride_ = static_cast<std::uint32_t>(source.row_stride);
      dim_stride_ = source.dim_stride;
      row_ = source.values + std::uint64_t{first} * stride_;
    } else if constexpr (kWhole && kLayout == Layout::rows) {
      T flat[kDims][kEach];
#pragma unroll
      for (std::uint32_t v = 0; v < kDims; ++v) {
        load_vector(source.values + std::uint64_t{first} * kDims + v * kEach, flat[v]);
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
#pragma unroll
        for (std::uint32_t k = 0; k < kEach; ++k) {
          values_[d][k] = flat[(k * kDims + d) / kEach][(k * kDims + d) % kEach];
        }
      }
    } else if constexpr (kWhole) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) load_vector(source.values + d * source.dim_stride + first, values_[d]);
    } else {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
#pragma unroll
        for (std::uint32_t k = 0; k < kEach; ++k) {
          if (first + k >= low && first + k < end) values_[d][k] = source.at(first + k, d);
        }
      }
    }
  }

  __device__ __forceinline__ T at(std::uint32_t k, std::uint32_t d) const {
    if constexpr (kLayout == Layout::any) {
      return row_[std::uint64_t{k} * stride_ + d * dim_stride_];
    } else {
      T value = values_[0][k];
#pragma unroll
      for (std::uint32_t e = 1; e < kDims; ++e) value = d == e ? values_[e][k] : value;
      return value;
    }
  }

 private:
  const T* row_;
  std::uint32_t stride_;
  std::uint64_t dim_stride_;
  T values_[kDims > 0 ? kDims : 1][kEach];
};

}  // namespace kith::cuda
