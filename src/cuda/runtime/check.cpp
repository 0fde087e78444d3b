// See check.hpp.
#include "cuda/runtime/check.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cuda {
namespace {

/// After these every later call in this process fails too.
bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

}  // namespace

void throw_cuda_error(cudaError_t status, const char* doing) {
  cudaGetLastError();  // what is not sticky must not be reported again by the next call
  const std::string text = fmt::format("{}: {} ({})", doing, cudaGetErrorString(status), cudaGetErrorName(status));
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory("not enough GPU memory: " + text);
  if (is_sticky(status)) {
    throw DeviceError("the GPU failed: " + text +
                      "; this process cannot use the GPU any more: start it again, or use the CPU");
  }
  if (status == cudaErrorNoKernelImageForDevice) {
    throw DeviceError("this kith was compiled for other GPUs: " + text +
                      "; see KITH_CUDA_ARCHITECTURES, or use the CPU");
  }
  throw DeviceError("the GPU reported an error: " + text);
}

}  // namespace kith::cuda
