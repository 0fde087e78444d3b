// Where lists begin whose lengths are known.
#pragma once

#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// starts[i] becomes the sum of counts[0] to counts[i - 1], for i up to `count` itself. Puts kernels into the stream.
/// Throws OutOfMemory, DeviceError.
void sum_counts(const std::uint32_t* counts, std::uint64_t count, std::uint64_t* starts, const Stream& stream);

}  // namespace kith::cuda
