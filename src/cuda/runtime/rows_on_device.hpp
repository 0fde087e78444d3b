// Arrays of the host copied to a GPU.
#pragma once

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/staging.hpp"

#include <kith/point_view.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cuda {

template <typename V>
DeviceBuffer<V> copy_of(const V* values, std::uint64_t count, const Stream& stream, const CopyOptions& options) {
  DeviceBuffer<V> copy(count, stream);
  copy_to_device(copy.data(), values, copy.bytes(), stream, options);
  return copy;
}

/// Rows that do not lie side by side are put so on the host first.
template <typename T>
DeviceBuffer<T> copy_of(PointView points, const Stream& stream, const CopyOptions& options) {
  const std::uint64_t values = points.rows() * points.dims();
  if (points.row_stride() == static_cast<std::int64_t>(points.dims())) {
    return copy_of(points.row<T>(0), values, stream, options);
  }
  std::vector<T> side_by_side(values);
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    std::copy_n(points.row<T>(i), points.dims(), side_by_side.data() + i * points.dims());
  }
  return copy_of(side_by_side.data(), values, stream, options);
}

}  // namespace kith::cuda
