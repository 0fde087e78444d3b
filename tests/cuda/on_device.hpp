// Arrays in the memory of a GPU for tests, made with CUDA alone.
#pragma once

#include <kith/device.hpp>
#include <kith/point_view.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace kith::test {

inline bool has_gpu() { return available_devices().size() > 1; }

/// How many of `all` random cases a test of small ones runs: all, or one of N with KITH_TEST_ROUNDS=N, for tools that
/// make each take a thousand times as long.
inline std::uint64_t rounds(std::uint64_t all) {
  const char* const text = std::getenv("KITH_TEST_ROUNDS");
  const std::uint64_t share = text == nullptr ? 1 : std::max(std::atoi(text), 1);
  return std::max<std::uint64_t>(all / share, 1);
}

inline void require_success(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// Rows on the GPU, `stride` values apart; what lies between them is not a number.
template <typename T>
class RowsOnDevice {
 public:
  RowsOnDevice(PointView points, std::uint32_t stride) : rows_(points.rows()), dims_(points.dims()), stride_(stride) {
    std::vector<T> spread(rows_ * stride_, std::numeric_limits<T>::quiet_NaN());
    for (std::uint64_t i = 0; i < rows_; ++i) {
      for (std::uint32_t d = 0; d < dims_; ++d) spread[i * stride_ + d] = points.row<T>(i)[d];
    }
    require_success(cudaMalloc(&data_, spread.size() * sizeof(T) + 1));
    require_success(cudaMemcpy(data_, spread.data(), spread.size() * sizeof(T), cudaMemcpyHostToDevice));
    require_success(cudaDeviceSynchronize());  // the copy may still be on its way, and not all streams wait for it
  }
  ~RowsOnDevice() { cudaFree(data_); }
  RowsOnDevice(const RowsOnDevice&) = delete;
  RowsOnDevice& operator=(const RowsOnDevice&) = delete;

  PointView view() const { return PointView(data_, dtype_of<T>, rows_, dims_, stride_, Device::cuda()); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::uint64_t rows_;
  std::uint32_t dims_;
  std::uint32_t stride_;
};

/// A copy of an array, of exactly its size so that compute-sanitizer sees every step beyond it.
template <typename V>
class DeviceArray {
 public:
  explicit DeviceArray(std::span<const V> values) : count_(values.size()) {
    if (count_ == 0) return;
    require_success(cudaMalloc(&data_, count_ * sizeof(V)));
    require_success(cudaMemcpy(data_, values.data(), count_ * sizeof(V), cudaMemcpyHostToDevice));
    require_success(cudaDeviceSynchronize());  // as above
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  V* data() const { return static_cast<V*>(data_); }
  std::vector<V> values() const {
    std::vector<V> out(count_);
    if (count_ > 0) require_success(cudaMemcpy(out.data(), data_, count_ * sizeof(V), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

}  // namespace kith::test
