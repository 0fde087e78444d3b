// Moves points by a pose.
#pragma once

#include <kith/apps/pose.hpp>
#include <kith/device.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

namespace kith::apps::inline v0 {

struct TransformOptions {
  /// Points with NaN or infinity become NaN in all coordinates, so that the others keep their numbers, instead of
  /// throwing. For `turn_directions` too.
  bool skip_nonfinite = false;
  /// Where the work runs: the CPU, also if it is `automatic`, or a GPU, to and from which all is copied. The result
  /// does not depend on it.
  Device device = Device::cpu();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// The points moved by the pose, in the same order and type. Each coordinate is r0 * x + r1 * y + r2 * z + t, computed
/// in f64 from left to right without fused operations, and rounded once to the type of the points. Points of two
/// dimensions are moved by the upper left part of the pose. What exceeds the type becomes infinity. O(n).
/// Throws BadData on NaN or infinity in points or pose, UsageError unless the points have 2 or 3 dims, the last row of
/// the pose is 0 0 0 1 and the points are in host memory; OutOfMemory, DeviceError, Interrupted.
KITH_EXPORT PointSet transform(PointView points, const Pose& pose, const TransformOptions& options = {});

/// Directions, such as normals, turned by the pose: the translation does not count, and lengths stay as they are. Right
/// for rotations, reflections and one scale for all axes. Throws as `transform`.
KITH_EXPORT PointSet turn_directions(PointView directions, const Pose& pose, const TransformOptions& options = {});

/// The pose that undoes another: by cofactors in f64, in one order. Throws BadData if there is none, UsageError and
/// BadData as `transform`.
KITH_EXPORT Pose inverse(const Pose& pose);

/// The pose that moves as `first` does, and then as `second`. Products and sums from left to right in f64.
KITH_EXPORT Pose then(const Pose& first, const Pose& second);

/// A turn about the z axis (in a plane: about the origin), counter-clockwise seen from above, in degrees from -360 to
/// 360; the same bits everywhere. Multiples of 90 are exact. Throws UsageError on another angle.
KITH_EXPORT Pose rotation_about_z(double degrees);

}  // namespace kith::apps::inline v0
