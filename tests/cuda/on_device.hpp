// Arrays of tests in GPU memory.
#pragma once

#include <kith/device.hpp>
#include <kith/point_set.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::test {

inline bool has_gpu() { return available_devices().size() > 1; }

inline void require_cuda(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(status));
}

/// A copy of an array, of exactly its size so that compute-sanitizer sees every step beyond it.
template <typename V>
class DeviceArray {
 public:
  explicit DeviceArray(std::span<const V> values) : count_(values.size()) {
    if (count_ == 0) return;
    require_cuda(cudaMalloc(&data_, count_ * sizeof(V)), "allocating");
    require_cuda(cudaMemcpy(data_, values.data(), count_ * sizeof(V), cudaMemcpyHostToDevice), "copying in");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  V* data() const { return static_cast<V*>(data_); }
  std::vector<V> values() const {
    std::vector<V> out(count_);
    if (count_ > 0) {
      require_cuda(cudaMemcpy(out.data(), data_, count_ * sizeof(V), cudaMemcpyDeviceToHost), "copying out");
    }
    return out;
  }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

}  // namespace kith::test
