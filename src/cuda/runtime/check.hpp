// Turns the status of a CUDA call into an exception.
#pragma once

#include <cuda_runtime.h>

namespace kith::cuda {

/// Throws what `check` throws for a status that is not success.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* doing);

/// Throws DeviceError with CUDA's own text unless the call went well; OutOfMemory if memory was missing. `doing` says
/// what was tried: "copying points to the GPU".
inline void check(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw_cuda_error(status, doing);
}

/// For the line after a kernel launch: whether it could be launched at all.
inline void check_launch(const char* doing) { check(cudaGetLastError(), doing); }

}  // namespace kith::cuda
