// Arrays of a caller, on a GPU or in host memory, as kernels read and write them.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/rows_on_device.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/stream.hpp"

#include <kith/device.hpp>
#include <kith/error.hpp>
#include <kith/point_view.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kith::cuda {

/// The caller's stream, or one of our own that begins after the work in the default stream.
inline Stream stream_of_caller(void* stream, Device device) {
  if (stream != nullptr) return Stream(static_cast<cudaStream_t>(stream), device.ordinal());
  const Stream own;
  own.wait_for_default_stream();
  return own;
}

/// Rows in device memory: the caller's, or a copy.
template <typename T>
class CallerRows {
 public:
  CallerRows(PointView points, Device device, const Stream& stream, const CopyOptions& copying)
      : rows_(points.rows()), dims_(points.dims()), row_stride_(points.dims()) {
    if (points.device().kind() == Device::Kind::cuda) {
      require_on_device(points.data(), device);
      data_ = static_cast<const T*>(points.data());
      row_stride_ = static_cast<std::uint64_t>(points.row_stride());
    } else {
      copy_ = copy_of<T>(points, stream, copying);
      data_ = copy_.data();
    }
  }

  const T* data() const { return data_; }
  std::uint64_t rows() const { return rows_; }
  std::uint32_t dims() const { return dims_; }
  std::uint64_t row_stride() const { return row_stride_; }
  PointView view(Device device) const {
    return PointView(data_, dtype_of<T>, rows_, dims_, static_cast<std::int64_t>(row_stride_), device);
  }

 private:
  DeviceBuffer<T> copy_;
  const T* data_ = nullptr;
  std::uint64_t rows_ = 0;
  std::uint32_t dims_ = 0;
  std::uint64_t row_stride_ = 0;
};

/// An array that kernels write: the caller's on the GPU, or one that is copied to the host at the end.
template <typename V>
class WrittenArray {
 public:
  /// `is_needed`: kernels write it even if the caller has none.
  WrittenArray(V* caller, std::uint64_t size, PointView points, Device device, std::string_view name,
               const Stream& stream, bool is_needed = false)
      : caller_(caller) {
    const bool is_there = points.device().kind() == Device::Kind::cuda;
    if (caller != nullptr && is_there) {
      if (!is_on_device(caller, device)) {
        throw UsageError(fmt::format("{}: the array is not in the memory of {}", name, device.name()));
      }
      data_ = caller;
      return;
    }
    if (caller == nullptr && !is_needed) return;
    own_ = DeviceBuffer<V>(size, stream);
    data_ = own_.data();
  }

  /// Null if it is not wanted.
  V* data() { return data_; }
  /// Copies the first values to the host if they are expected there; waits then.
  void hand_over(std::uint64_t count, const Stream& stream, const CopyOptions& copying) {
    if (caller_ == nullptr || data_ == caller_ || count == 0) return;
    copy_to_host(caller_, data_, count * sizeof(V), stream, copying);
  }

 private:
  DeviceBuffer<V> own_;
  V* caller_ = nullptr;
  V* data_ = nullptr;
};

}  // namespace kith::cuda
