// See shared_limit.hpp.
#include "cuda/runtime/shared_limit.hpp"

#include "cuda/runtime/device_facts.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace kith::cuda {

std::uint32_t shared_limit_of(int device) {
  const int shared = attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (static_cast<std::uint32_t>(shared) < kLeastSharedBytes) {
    throw DeviceError(
        fmt::format("device cuda:{}: a block may have {} bytes of shared memory, and {} are needed; use a GPU of "
                    "compute capability "
                    "7.5 or later, or `device=cpu`",
                    device, shared, kLeastSharedBytes));
  }
  return lowered_shared_limit(static_cast<std::uint32_t>(shared), std::getenv(kSharedLimitVariable));
}

}  // namespace kith::cuda
