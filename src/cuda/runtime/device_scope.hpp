// Makes a GPU the current one of this thread for a while.
#pragma once

#include "cuda/runtime/check.hpp"

namespace kith::cuda {

/// The device that was current before is current again afterwards: the caller may use CUDA too.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal) {
    check(cudaGetDevice(&before_), "asking for the current GPU");
    check(cudaSetDevice(ordinal), "choosing the GPU");
  }
  ~DeviceScope() { cudaSetDevice(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
};

}  // namespace kith::cuda
