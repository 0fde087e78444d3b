// The facade of exported trees on a GPU: checks what can be checked without looking into the arrays, and calls the
// backend.
#include "engine/device_trees.hpp"

#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::apps::inline v0 {
namespace {

/// The GPU that works.
template <typename Arrays>
Device checked(PointView points, const Arrays& arrays, const DeviceTreeOptions& options) {
  const Device device = points.device().kind() == Device::Kind::cuda ? points.device() : options.device;
  if (device.kind() != Device::Kind::cuda) {
    throw UsageError("points in host memory: name the GPU to work on in the options (Device::cuda)");
  }
  if (points.rows() > engine::kMostPoints) {
    throw UsageError(fmt::format("{} points, but at most {} can be numbered; cut the set into parts", points.rows(),
                                 engine::kMostPoints));
  }
  engine::require_gpu(device);
  if (points.empty()) return device;
  if (points.dims() == 0) throw UsageError("points: rows without coordinates (0 dimensions)");
  if (points.data() == nullptr) throw UsageError("points: the data pointer is null");
  if (points.device().kind() == Device::Kind::cuda && points.row_stride() < static_cast<std::int64_t>(points.dims())) {
    throw UsageError("points: rows that overlap or lie backwards; copy them first");
  }
  if ((arrays.less == nullptr) != (arrays.greater == nullptr)) {
    throw UsageError("less and greater: both arrays must be there, or none");
  }
  return device;
}

}  // namespace

TreeOnDevice export_tree_on_device(PointView points, const DeviceTreeArrays& arrays, const DeviceTreeOptions& options) {
  const Device device = checked(points, arrays, options);
  if (points.empty()) return {};
  if (arrays.point == nullptr || arrays.split_dim == nullptr) {
    throw UsageError("point and split_dim: both arrays must be there");
  }
  return engine::cuda_backend()->export_tree({points, arrays, options, device});
}

bool is_tree_on_device(PointView points, const ClaimedTreeArrays& arrays, const TreeOnDevice& claimed,
                       const DeviceTreeOptions& options) {
  const Device device = checked(points, arrays, options);
  if (points.device().kind() == Device::Kind::cuda) throw UsageError("points: they must be in host memory");
  if (points.empty()) return claimed.nodes == 0;
  return engine::cuda_backend()->is_right_tree({points, arrays, claimed, options, device});
}

}  // namespace kith::apps::inline v0
