// In which cell of a grid a coordinate lies, for CPU and GPU.
#pragma once

#include "core/host_device.hpp"

#include <cmath>

namespace kith::core {

/// Numbers of cells at or above this are not all exact in f64.
inline constexpr double kMostCell = 0x1p53;

/// floor(x / size) in f64: the quotient is rounded once, so the grid begins at 0 wherever the points are.
KITH_HOST_DEVICE inline double voxel_cell(double x, double size) { return floor(x / size); }

/// False also for NaN and infinity.
KITH_HOST_DEVICE inline bool is_exact_cell(double cell) { return cell > -kMostCell && cell < kMostCell; }

}  // namespace kith::core
