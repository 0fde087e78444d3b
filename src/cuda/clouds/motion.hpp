// The kernel that moves points, put into a stream. Does not wait.
#pragma once

#include "cuda/runtime/stream.hpp"

#include <kith/apps/pose.hpp>

#include <cstdint>

namespace kith::cuda {

/// Rows in 2 or 3 dims; `moved` lie side by side. `bad` becomes 1 if a row is not finite.
template <typename T>
void move_on_device(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                    const apps::Pose& pose, bool are_directions, T* moved, std::uint32_t* bad, const Stream& stream);

}  // namespace kith::cuda
