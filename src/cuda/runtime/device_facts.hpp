// What a GPU says of itself.
#pragma once

#include "cuda/runtime/check.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace kith::cuda {

inline int attribute_of(int device, cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "asking for the device");
  return value;
}
inline std::uint32_t processors_of(int device) {
  return static_cast<std::uint32_t>(attribute_of(device, cudaDevAttrMultiProcessorCount));
}
/// The first number of the compute capability: 7 (Turing), 8 (Ampere, Ada), 9 (Hopper), and so on.
inline int generation_of(int device) { return attribute_of(device, cudaDevAttrComputeCapabilityMajor); }

}  // namespace kith::cuda
