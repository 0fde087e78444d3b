// The facade of jobs on clouds on a GPU: checks what can be checked without looking into the arrays, and calls the
// backend. What the kernels lack, and points with NaN or infinity, are the host's.
#include "engine/device_clouds.hpp"

#include "core/cloud/cloud_checks.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/host_view.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

bool is_on_gpu(PointView points) { return points.device().kind() == Device::Kind::cuda; }

/// The GPU that holds the points, or that the options name. Throws unless it can be used for them.
Device gpu_of(PointView points, Device named) {
  const Device device = is_on_gpu(points) ? points.device() : named;
  if (device.kind() != Device::Kind::cuda) {
    throw UsageError("points in host memory: name the GPU to work on in the options (Device::cuda)");
  }
  if (points.rows() > engine::kMostPoints) {
    throw UsageError(fmt::format("{} points, but at most {} can be numbered", points.rows(), engine::kMostPoints));
  }
  if (is_on_gpu(points) && points.row_stride() < static_cast<std::int64_t>(points.dims())) {
    throw UsageError("points on a GPU whose rows overlap or lie backwards; copy them first");
  }
  engine::require_gpu(device);
  return device;
}

void require_cloud(PointView points, std::string_view purpose) {
  if (points.dims() == 2 || points.dims() == 3) return;
  throw UsageError(fmt::format("{} dims, but 2 or 3 are needed to {}", points.dims(), purpose));
}

/// The array if it is of the type of the points.
void* values_of(const CloudValues& values, PointView points, std::string_view name, bool may_be_null = false) {
  return std::visit(
      [&]<typename T>(T* each) -> void* {
        if (each == nullptr && !may_be_null && !points.empty()) {
          throw UsageError(fmt::format("{}: the pointer is null", name));
        }
        if (each != nullptr && dtype_of<T> != points.dtype()) {
          throw UsageError(fmt::format("{}: an array of {} for points of {}", name, kith::name_of(dtype_of<T>),
                                       kith::name_of(points.dtype())));
        }
        return each;
      },
      values);
}

/// Results of the host, put where the caller's arrays are.
class HandOver {
 public:
  HandOver(PointView points, Device device, void* stream)
      : is_there_(is_on_gpu(points)), device_(device), stream_(stream) {
    engine::cuda_backend()->wait_for(device, stream);
  }
  template <typename V>
  void operator()(void* to, std::span<const V> from) const {
    if (to == nullptr || from.empty()) return;
    if (is_there_) {
      engine::cuda_backend()->copy_to_device(to, from.data(), from.size_bytes(), device_, stream_);
    } else {
      std::copy(from.begin(), from.end(), static_cast<V*>(to));
    }
  }
  void operator()(void* to, const PointSet& from) const {
    if (from.dtype() == DType::f32) {
      (*this)(to, from.values<float>());
    } else {
      (*this)(to, from.values<double>());
    }
  }
  template <typename V>
  void operator()(V* to, const std::vector<V>& from) const {
    (*this)(to, std::span<const V>(from));
  }

 private:
  bool is_there_;
  Device device_;
  void* stream_;
};

void move_there(PointView points, const Pose& pose, bool are_directions, const CloudValues& moved,
                const DeviceTransformOptions& options) {
  core::check_motion(points, pose, options);
  void* const to = values_of(moved, points, "moved");
  const Device device = gpu_of(points, options.device);
  if (points.empty()) return;
  if (engine::cuda_backend()->move({points, pose, are_directions, to, options, device})) return;
  engine::cuda_backend()->wait_for(device, options.stream);
  const engine::HostView here(points, options.threads);
  TransformOptions on_cpu = options;
  on_cpu.device = Device::cpu();
  transform(here.view(), pose, on_cpu);  // throws: it names the first point that cannot be moved
}

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::uint64_t normals_on_device(PointView points, CloudValues normals, CloudValues curvature,
                                const DeviceNormalsOptions& options) {
  core::check_normals(points.dims(), options);
  require_cloud(points, "compute normals");
  void* const to = values_of(normals, points, "normals");
  void* const bends = values_of(curvature, points, "curvature", true);
  const Device device = gpu_of(points, options.device);
  if (points.empty()) return 0;
  if (core::fits_planes_on_gpu(options)) {
    const std::optional<std::uint64_t> without = engine::cuda_backend()->normals({points, to, bends, options, device});
    if (without) return *without;
  }
  const HandOver hand_over(points, device, options.stream);
  const engine::HostView here(points, options.threads);
  NormalsOptions from_here = options;
  from_here.device = device;
  const Normals found = apps::normals(here.view(), from_here);
  hand_over(to, found.normals);
  hand_over(bends, found.curvature);
  return found.without;
}

void transform_on_device(PointView points, const Pose& pose, CloudValues moved, const DeviceTransformOptions& options) {
  move_there(points, pose, false, moved, options);
}

void turn_directions_on_device(PointView directions, const Pose& pose, CloudValues turned,
                               const DeviceTransformOptions& options) {
  move_there(directions, pose, true, turned, options);
}

SampledOnDevice downsample_on_device(PointView points, const SampleArrays& sample,
                                     const DeviceDownsampleOptions& options) {
  core::check_sampling(points, options);
  void* const to = values_of(sample.points, points, "points of the sample");
  const Device device = gpu_of(points, options.device);
  if (points.empty()) return {};
  if (options.voxel && (points.dims() == 2 || points.dims() == 3)) {
    const std::optional<SampledOnDevice> found =
        engine::cuda_backend()->sample_voxels({points, to, sample.rows, sample.counts, sample.map, options, device});
    if (found) return *found;
  }
  const HandOver hand_over(points, device, options.stream);
  const engine::HostView here(points, options.threads);
  DownsampleOptions from_here = options;
  from_here.device = options.voxel ? Device::cpu() : device;
  from_here.want_rows = sample.rows != nullptr;
  from_here.want_map = sample.map != nullptr || (sample.counts != nullptr && !options.voxel);
  const Downsampled found = downsample(here.view(), from_here);
  hand_over(to, found.points);
  hand_over(sample.rows, found.rows);
  hand_over(sample.counts, found.counts);
  hand_over(sample.map, found.map);
  return {found.points.rows(), found.skipped};
}

CloudDistance cloud_distance_on_device(PointView first, PointView second, const NearestArrays& forward,
                                       const NearestArrays& backward, const DeviceCloudDistanceOptions& options) {
  core::check_cloud_distance(first, second, options);
  if (!first.empty() && !second.empty() && first.device() != second.device()) {
    throw UsageError("the clouds are not in the same memory; copy one of them to the other's");
  }
  const Device device = gpu_of(first.empty() ? second : first, options.device);
  gpu_of(second.empty() ? first : second, options.device);
  CloudDistance result;
  result.chamfer = result.chamfer_squared = result.hausdorff = kUnknown;
  std::optional<DirectedDistance> there, back;
  if (!first.empty() && !second.empty()) {
    const engine::Backend& gpu = *engine::cuda_backend();
    there = gpu.nearest_of_cloud({first, second, forward, options, device});
    if (there && options.symmetric) back = gpu.nearest_of_cloud({second, first, backward, options, device});
  }
  if (there && (back || !options.symmetric)) {
    result.forward = std::move(*there);
    if (!back) return result;
    result.chamfer = result.forward.mean + back->mean;
    result.chamfer_squared = result.forward.mean_squared + back->mean_squared;
    if (result.forward.matched > 0 && back->matched > 0) result.hausdorff = std::max(result.forward.max, back->max);
    result.backward = std::move(back);
    return result;
  }
  const HandOver hand_over(first.empty() ? second : first, device, options.stream);
  const engine::HostView first_here(first, options.threads), second_here(second, options.threads);
  CloudDistanceOptions from_here = options;
  from_here.device = device;
  result = cloud_distance(first_here.view(), second_here.view(), from_here);
  const auto give = [&](DirectedDistance& found, const NearestArrays& arrays) {
    hand_over(arrays.distances, found.distances);
    hand_over(arrays.nearest, found.nearest);
    found.distances.clear();
    found.nearest.clear();
  };
  give(result.forward, forward);
  if (result.backward) give(*result.backward, backward);
  return result;
}

OutliersOnDevice outliers_on_device(PointView points, const OutlierArrays& found, const DeviceOutlierOptions& options) {
  core::check_outliers(options);
  const Device device = gpu_of(points, options.device);
  if (points.empty()) return {};
  if (points.dims() == 0) throw UsageError("points: rows without coordinates (0 dimensions)");
  if (found.flags == nullptr) throw UsageError("flags: the pointer is null");
  const std::optional<OutliersOnDevice> flagged = engine::cuda_backend()->outliers({points, found, options, device});
  if (flagged) return *flagged;
  const HandOver hand_over(points, device, options.stream);
  const engine::HostView here(points, options.threads);
  OutlierOptions from_here = options;
  from_here.device = device;
  const Outliers flags = outliers(here.view(), from_here);
  hand_over(found.flags, flags.flags);
  hand_over(found.kept, flags.kept);
  hand_over(found.mean_distances, flags.mean_distances);
  hand_over(found.counts, flags.counts);
  return {flags.kept.size(), flags.mean, flags.deviation, flags.threshold, flags.skipped};
}

}  // namespace kith::apps::inline v0
