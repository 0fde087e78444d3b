// One point per voxel of a caller's points.
#include "core/dispatch.hpp"
#include "cuda/clouds/caller_arrays.hpp"
#include "cuda/clouds/cloud_arrays.hpp"
#include "cuda/clouds/voxels.hpp"
#include "cuda/runtime/device_scope.hpp"

namespace kith::cuda {
namespace {

template <typename T>
std::optional<apps::SampledOnDevice> sample_all(const engine::VoxelRequest& request) {
  const Stream stream = stream_of_caller(request.options.stream, request.device);
  const CopyOptions copying{.threads = request.options.threads, .progress = &request.options.progress};
  const CallerRows<T> rows(request.points, request.device, stream, copying);
  const auto written = [&]<typename V>(V* caller, std::uint64_t size, const char* name) {
    return WrittenArray<V>(caller, size, request.points, request.device, name, stream);
  };
  WrittenArray<T> sample = written(static_cast<T*>(request.sample), rows.rows() * rows.dims(), "points of the sample");
  WrittenArray<std::uint32_t> kept = written(request.rows, rows.rows(), "rows");
  WrittenArray<std::uint32_t> counts = written(request.counts, rows.rows(), "counts");
  WrittenArray<std::uint32_t> map = written(request.map, rows.rows(), "map");
  VoxelTask<T> task;
  task.rows = rows.data();
  task.row_stride = rows.row_stride();
  task.count = static_cast<std::uint32_t>(rows.rows());
  task.size = *request.options.voxel;
  task.keep = request.options.keep;
  task.sample = sample.data();
  task.kept_rows = kept.data();
  task.counts = counts.data();
  task.map = map.data();
  const std::optional<std::uint32_t> voxels = sample_voxels_on_device(task, rows.dims(), stream);
  if (!voxels) return std::nullopt;
  sample.hand_over(std::uint64_t{*voxels} * rows.dims(), stream, copying);
  kept.hand_over(*voxels, stream, copying);
  counts.hand_over(*voxels, stream, copying);
  map.hand_over(rows.rows(), stream, copying);
  stream.synchronize();
  return apps::SampledOnDevice{*voxels, 0};
}

}  // namespace

std::optional<apps::SampledOnDevice> sample_voxels_of_arrays(const engine::VoxelRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.points.dtype(), [&](auto type) { return sample_all<decltype(type)>(request); });
}

}  // namespace kith::cuda
