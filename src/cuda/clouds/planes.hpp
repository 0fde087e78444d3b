// The kernels of normals, put into a stream. None of these waits.
#pragma once

#include "cuda/clouds/plane_types.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Rows in 2 or 3 dims, as PaddedPoint: padded_bytes each.
template <typename T>
void pad_points_on_device(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                          std::byte* padded, const Stream& stream);

template <typename T>
void fit_planes_of_tree(const PlaneTask<T>& task, const Stream& stream);

}  // namespace kith::cuda
