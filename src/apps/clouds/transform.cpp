// See transform.hpp: moves rows by all threads, and computes with poses.
#include <kith/apps/transform.hpp>

#include "apps/row_content.hpp"
#include "apps/usable_rows.hpp"
#include "core/cloud/cloud_checks.hpp"
#include "core/cloud/move_point.hpp"
#include "core/dispatch.hpp"
#include "core/metric/sine.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/clouds_on_device.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kMovedRows = 16384;  // of one task

using core::check_pose;

void check_moved_points(PointView points, const Pose& pose, const TransformOptions& options) {
  require_host_points(points, "transform them");
  core::check_motion(points, pose, options);
}

/// By kernels that move points, or directions.
PointSet move_on_gpu(PointView points, const Pose& pose, bool are_directions, const TransformOptions& options) {
  PointSet moved(points.dtype(), points.rows(), points.dims());
  const DeviceTransformOptions there{options};
  core::visit_dtype(points.dtype(), [&](auto zero) {
    const CloudValues to = moved.values<decltype(zero)>().data();
    if (are_directions) {
      turn_directions_on_device(points, pose, to, there);
    } else {
      transform_on_device(points, pose, to, there);
    }
  });
  return moved;
}

bool is_for_gpu(const TransformOptions& options) { return options.device.kind() == Device::Kind::cuda; }

/// Calls `move(from, to)` with kDims doubles each for every row and rounds what it made to T.
template <int kDims, typename T, typename Move>
void move_rows(PointView points, std::span<T> moved, const TransformOptions& options, const Move& move) {
  const std::uint64_t tasks = (points.rows() + kMovedRows - 1) / kMovedRows;
  const runtime::ParallelOptions parallel{.threads = options.threads,
                                          .stage = "moving",
                                          .progress = &options.progress,
                                          .units_per_task = kMovedRows,
                                          .total_units = points.rows()};
  runtime::parallel_for(tasks, parallel, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(points.rows(), (task + 1) * kMovedRows);
    for (std::uint64_t i = task * kMovedRows; i < end; ++i) {
      const T* row = points.row<T>(i);
      T* out = moved.data() + i * kDims;
      if (options.skip_nonfinite && !is_finite_row(row, kDims)) {
        std::fill_n(out, kDims, std::numeric_limits<T>::quiet_NaN());
        continue;
      }
      double from[kDims], to[kDims];
      for (int d = 0; d < kDims; ++d) from[d] = static_cast<double>(row[d]);
      move(from, to);
      // The bits of a NaN that is computed depend on the machine.
      for (int d = 0; d < kDims; ++d)
        out[d] = to[d] == to[d] ? static_cast<T>(to[d]) : std::numeric_limits<T>::quiet_NaN();
    }
  });
}

/// The points through `move_point` or `turn_direction`, whichever `move` calls.
template <typename Move>
PointSet move_all(PointView points, const TransformOptions& options, const Move& move) {
  const runtime::Watched watched(&options.progress, "checking");
  if (!options.skip_nonfinite) usable_rows(points, {.threads = options.threads});  // throws if one is not
  PointSet moved(points.dtype(), points.rows(), points.dims());
  if (points.empty()) return moved;
  core::visit_dtype(points.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (points.dims() == 2) {
      move_rows<2, T>(points, moved.values<T>(), options, [&](const double* from, double* to) { move(from, to, 2); });
    } else {
      move_rows<3, T>(points, moved.values<T>(), options, [&](const double* from, double* to) { move(from, to, 3); });
    }
  });
  return moved;
}

/// The 2 x 2 determinant of rows r, s and columns c, d.
double minor_of(const Pose& pose, int r, int s, int c, int d) {
  return pose(r, c) * pose(s, d) - pose(r, d) * pose(s, c);
}

}  // namespace

PointSet transform(PointView points, const Pose& pose, const TransformOptions& options) {
  check_moved_points(points, pose, options);
  if (is_for_gpu(options)) return move_on_gpu(points, pose, false, options);
  return move_all(points, options, [&](const double* from, double* to, int dims) {
    dims == 2 ? core::move_point<2>(pose.matrix.data(), from, to) : core::move_point<3>(pose.matrix.data(), from, to);
  });
}

PointSet turn_directions(PointView directions, const Pose& pose, const TransformOptions& options) {
  check_moved_points(directions, pose, options);
  if (is_for_gpu(options)) return move_on_gpu(directions, pose, true, options);
  return move_all(directions, options, [&](const double* from, double* to, int dims) {
    dims == 2 ? core::turn_direction<2>(pose.matrix.data(), from, to)
              : core::turn_direction<3>(pose.matrix.data(), from, to);
  });
}

Pose inverse(const Pose& pose) {
  check_pose(pose);
  const double x = minor_of(pose, 1, 2, 1, 2), y = minor_of(pose, 1, 2, 0, 2), z = minor_of(pose, 1, 2, 0, 1);
  const double determinant = pose(0, 0) * x - pose(0, 1) * y + pose(0, 2) * z;
  Pose undone;
  undone(0, 0) = x / determinant;
  undone(0, 1) = -minor_of(pose, 0, 2, 1, 2) / determinant;
  undone(0, 2) = minor_of(pose, 0, 1, 1, 2) / determinant;
  undone(1, 0) = -y / determinant;
  undone(1, 1) = minor_of(pose, 0, 2, 0, 2) / determinant;
  undone(1, 2) = -minor_of(pose, 0, 1, 0, 2) / determinant;
  undone(2, 0) = z / determinant;
  undone(2, 1) = -minor_of(pose, 0, 2, 0, 1) / determinant;
  undone(2, 2) = minor_of(pose, 0, 1, 0, 1) / determinant;
  for (int i = 0; i < 3; ++i) {
    undone(i, 3) = -(undone(i, 0) * pose(0, 3) + undone(i, 1) * pose(1, 3) + undone(i, 2) * pose(2, 3));
  }
  for (double& value : undone.matrix) value += 0.0;  // -0 becomes +0
  if (!std::all_of(undone.matrix.begin(), undone.matrix.end(), [](double value) { return std::isfinite(value); })) {
    throw BadData(fmt::format("pose: it has no inverse, because its determinant is {}", determinant));
  }
  return undone;
}

Pose then(const Pose& first, const Pose& second) {
  check_pose(first);
  check_pose(second);
  Pose both;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      const double sum = second(i, 0) * first(0, j) + second(i, 1) * first(1, j) + second(i, 2) * first(2, j);
      both(i, j) = j == 3 ? sum + second(i, 3) : sum;
    }
  }
  return both;
}

Pose rotation_about_z(double degrees) {
  if (!(std::abs(degrees) <= 360)) {
    throw UsageError(fmt::format("the angle must be between -360 and 360 degrees, not {}", degrees));
  }
  const core::SineAndCosine angle = core::sine_and_cosine(degrees, true);
  Pose pose;
  pose(0, 0) = pose(1, 1) = angle.cosine + 0.0;
  pose(0, 1) = -angle.sine + 0.0;
  pose(1, 0) = angle.sine + 0.0;
  return pose;
}

}  // namespace kith::apps::inline v0
