// The points of a request to build, in device memory.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/backend.hpp"
#include "engine/non_finite.hpp"
#include "runtime/time_spent.hpp"

#include <cstdint>

namespace kith::cuda {

/// Copies rows, `row_stride` elements apart, to where they lie side by side, unless `to` is null. *refused, which
/// begins as 0, becomes 1 if a coordinate is not finite: src/cuda/brute_force/scan/take_rows.cuh.
template <typename T>
void take_rows_to(const T* from, std::uint64_t row_stride, std::uint32_t dims, std::uint64_t rows, T* to,
                  std::uint32_t* refused, const Stream& stream);

/// The rows of a request side by side. Throws NonFinite if they are to be looked at and one is not finite.
template <typename T>
DeviceBuffer<T> take_rows_of(const engine::BuildRequest<T>& request, const Stream& stream) {
  const std::uint64_t values = request.count * request.dims;
  const bool on_device = request.rows_on.kind() == Device::Kind::cuda;
  DeviceBuffer<T> rows(values, stream);
  DeviceBuffer<std::uint32_t> refused(1, stream);
  check(cudaMemsetAsync(refused.data(), 0, sizeof(std::uint32_t), stream.get()), "writing zeros");
  if (values > 0 && on_device) {
    stream.wait_for_default_stream();
    take_rows_to(request.rows, request.row_stride, request.dims, request.count, rows.data(), refused.data(), stream);
  } else if (values > 0) {
    copy_to_device(rows.data(), request.rows, rows.bytes(), stream, CopyOptions::of_build(request.run));
    if (!request.is_known_finite) {
      take_rows_to<T>(rows.data(), request.dims, request.dims, request.count, nullptr, refused.data(), stream);
    }
  }
  std::uint32_t is_refused = 0;
  const runtime::TimeSpent spent(runtime::member_of(request.run.times, &WorkTimes::device_ms));
  check(cudaMemcpyAsync(&is_refused, refused.data(), sizeof is_refused, cudaMemcpyDeviceToHost, stream.get()),
        "copying a word to the host");
  stream.synchronize();  // the caller may change the points now
  if (is_refused != 0 && !request.is_known_finite) throw engine::NonFinite();
  return rows;
}

}  // namespace kith::cuda
