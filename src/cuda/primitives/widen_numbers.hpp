// Numbers of points in 64 bits, for callers who know no others.
#pragma once

#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// wide[i] = numbers[i]. Puts a kernel into the stream. Throws DeviceError.
void widen_numbers(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide, const Stream& stream);

}  // namespace kith::cuda
