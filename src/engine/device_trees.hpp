// What a backend does to export a tree on one of its GPUs, and to check one.
#pragma once

#include <kith/apps/tree_export_on_device.hpp>
#include <kith/point_view.hpp>

namespace kith::engine {

/// The facade has checked shapes and options; where arrays of a GPU are, and what is in them, the backend looks at.
struct TreeRequest {
  PointView points;  ///< at least one, in the memory of the device or of the host, as are all arrays
  apps::DeviceTreeArrays arrays = {};
  apps::DeviceTreeOptions options = {};
  Device device = {};  ///< the GPU that works
};

/// All of it is in host memory.
struct TreeCheckRequest {
  PointView points;  ///< at least one
  apps::ClaimedTreeArrays arrays = {};
  apps::TreeOnDevice claimed = {};
  apps::DeviceTreeOptions options = {};
  Device device = {};
};

}  // namespace kith::engine
