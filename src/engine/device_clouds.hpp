// What a backend does with clouds on one of its GPUs.
#pragma once

#include <kith/apps/clouds_on_device.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::engine {

// The facade has checked shapes and options; there is at least one point. All arrays of a request are in the memory of
// `device`, or all in host memory. Values are of the type of the points.

struct NormalsRequest {
  PointView points;
  void* normals = nullptr;
  void* curvature = nullptr;  ///< may be null
  apps::DeviceNormalsOptions options = {};
  Device device = {};
};

struct MotionRequest {
  PointView points;
  apps::Pose pose = {};
  bool are_directions = false;
  void* moved = nullptr;
  apps::DeviceTransformOptions options = {};
  Device device = {};
};

/// One point per voxel.
struct VoxelRequest {
  PointView points;
  void* sample = nullptr;
  std::uint32_t* rows = nullptr;  ///< may be null, as the following
  std::uint32_t* counts = nullptr;
  std::uint32_t* map = nullptr;
  apps::DeviceDownsampleOptions options = {};
  Device device = {};
};

/// One direction; both clouds have points.
struct NearestRequest {
  PointView from;
  PointView to;
  apps::NearestArrays arrays = {};
  apps::DeviceCloudDistanceOptions options = {};
  Device device = {};
};

struct OutlierRequest {
  PointView points;
  apps::OutlierArrays arrays = {};
  apps::DeviceOutlierOptions options = {};
  Device device = {};
};

}  // namespace kith::engine
