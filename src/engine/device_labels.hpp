// What a backend does for labels and values by neighbours whose arrays lie on one of its GPUs.
#pragma once

#include <kith/apps/classify_on_device.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::engine {

/// The facade has checked k, weights and the shapes; where the arrays are, and what is in them, the backend looks at.
struct LabelRequest {
  PointView points;
  PointView queries;  ///< at least one; there are points then
  apps::DeviceNeighborOptions options;
  bool is_sequential = false;
  /// Labels: of points, for queries, and the shares if they are wanted.
  apps::DeviceLabelView codes = {};
  std::uint32_t* labels = nullptr;
  double* shares = nullptr;
  /// Or values: of points, for queries.
  const double* values = nullptr;
  double* means = nullptr;
  std::uint64_t most_rows = 0;  ///< that are answered at a time; 0: as many as there is memory for
};

}  // namespace kith::engine
