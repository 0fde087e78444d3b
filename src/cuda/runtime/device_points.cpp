// See device_points.hpp.
#include "cuda/runtime/device_points.hpp"

#include "core/dispatch.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/stream.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cuda {

bool is_on_device(const void* memory, Device device) {
  const DeviceScope scope(device.ordinal());
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
  if (status == cudaErrorInvalidValue) {  // an address that CUDA has never seen
    cudaGetLastError();
  } else {
    check(status, "looking at an address");
  }
  if (attributes.type == cudaMemoryTypeManaged) return true;
  return attributes.type == cudaMemoryTypeDevice && attributes.device == device.ordinal();
}

void require_on_device(const void* memory, Device device) {
  if (is_on_device(memory, device)) return;
  throw UsageError(fmt::format("the array is said to be on {}, but its memory is not there", device.name()));
}

PointSet copy_points_to_host(PointView points, int threads) {
  PointSet copy(points.dtype(), points.rows(), points.dims());
  if (points.rows() == 0 || points.dims() == 0) return copy;
  require_on_device(points.data(), points.device());
  const DeviceScope scope(points.device().ordinal());
  const Stream stream;
  stream.wait_for_default_stream();
  const CopyOptions options{.threads = threads};
  const std::uint64_t row_bytes = points.dims() * size_of(points.dtype());
  auto* to = core::visit_dtype(
      points.dtype(), [&](auto zero) { return reinterpret_cast<std::byte*>(copy.values<decltype(zero)>().data()); });
  if (points.row_stride() >= static_cast<std::int64_t>(points.dims())) {
    const std::uint64_t pitch = static_cast<std::uint64_t>(points.row_stride()) * size_of(points.dtype());
    copy_rows_to_host(to, points.data(), row_bytes, pitch, points.rows(), stream, options);
    return copy;
  }
  for (std::uint64_t i = 0; i < points.rows(); ++i) {  // backwards, or rows that overlap: rare enough to be slow
    copy_to_host(to + i * row_bytes, points.slice(i, 1).data(), row_bytes, stream, options);
  }
  return copy;
}

}  // namespace kith::cuda
