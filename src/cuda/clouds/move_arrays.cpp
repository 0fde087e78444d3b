// A caller's points, moved by a pose.
#include "core/dispatch.hpp"
#include "cuda/clouds/caller_arrays.hpp"
#include "cuda/clouds/cloud_arrays.hpp"
#include "cuda/clouds/motion.hpp"
#include "cuda/runtime/device_scope.hpp"

namespace kith::cuda {
namespace {

template <typename T>
bool move_all(const engine::MotionRequest& request) {
  const Stream stream = stream_of_caller(request.options.stream, request.device);
  const CopyOptions copying{.threads = request.options.threads, .progress = &request.options.progress};
  const CallerRows<T> rows(request.points, request.device, stream, copying);
  const std::uint64_t values = rows.rows() * rows.dims();
  WrittenArray<T> moved(static_cast<T*>(request.moved), values, request.points, request.device, "moved", stream);
  DeviceBuffer<std::uint32_t> bad(1, stream);
  check(cudaMemsetAsync(bad.data(), 0, sizeof(std::uint32_t), stream.get()), "moving points");
  move_on_device(rows.data(), rows.row_stride(), rows.rows(), rows.dims(), request.pose, request.are_directions,
                 moved.data(), bad.data(), stream);
  std::uint32_t is_bad = 0;
  check(cudaMemcpyAsync(&is_bad, bad.data(), sizeof is_bad, cudaMemcpyDeviceToHost, stream.get()), "moving points");
  stream.synchronize();
  if (is_bad != 0 && !request.options.skip_nonfinite) return false;
  moved.hand_over(values, stream, copying);
  return true;
}

}  // namespace

bool move_arrays(const engine::MotionRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.points.dtype(), [&](auto type) { return move_all<decltype(type)>(request); });
}

}  // namespace kith::cuda
