// Two sets of points, one behind the other, in host memory.
#pragma once

#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

namespace kith::apps::inline v0 {

/// The rows of `second` are numbered on from those of `first`; either may lie on a GPU. Throws UsageError if both have
/// rows but not the same dims and type, or more of them than an index holds, OutOfMemory, DeviceError.
PointSet join_points(PointView first, PointView second, int threads);

}  // namespace kith::apps::inline v0
