// The pose of a registration while it is refined: a quaternion, a shift and a scale between two centred clouds.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

namespace kith::core {

/// The places that are subtracted from source and target, so that coordinates far from the origin lose nothing.
struct Frame {
  double source[3] = {};
  double target[3] = {};
};

/// Half way between two ends of a box, also if its side overflows.
KITH_HOST_DEVICE inline double middle_of(double lower, double upper) {
  const double side = upper - lower;
  return side <= 1.7976931348623157e308 ? lower + side / 2 : lower / 2 + upper / 2;
}

/// x, a point of the source less its centre, is moved to scale * rotation * x + shift, less the centre of the target.
struct Motion {
  double quaternion[4] = {1, 0, 0, 0};  ///< w, x, y, z; of length 1
  double shift[3] = {};
  double scale = 1;
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< that of the quaternion, row by row
};

/// The rotation matrix of a quaternion of length 1.
KITH_HOST_DEVICE inline void set_rotation(Motion& motion) {
  const double w = motion.quaternion[0];
  const double x = motion.quaternion[1];
  const double y = motion.quaternion[2];
  const double z = motion.quaternion[3];
  double* r = motion.rotation;
  r[0] = 1 - 2 * (y * y + z * z);
  r[1] = 2 * (x * y - w * z);
  r[2] = 2 * (x * z + w * y);
  r[3] = 2 * (x * y + w * z);
  r[4] = 1 - 2 * (x * x + z * z);
  r[5] = 2 * (y * z - w * x);
  r[6] = 2 * (x * z - w * y);
  r[7] = 2 * (y * z + w * x);
  r[8] = 1 - 2 * (x * x + y * y);
}

/// `V` is double, or a vector of doubles that belong to as many points.
template <typename V>
KITH_HOST_DEVICE void rotate(const double* rotation, const V* x, V* result) {
  for (int i = 0; i < 3; ++i) {
    result[i] = rotation[i * 3] * x[0] + rotation[i * 3 + 1] * x[1] + rotation[i * 3 + 2] * x[2];
  }
}

/// The moved point, less the centre of the target. Points in a plane have a third coordinate of 0.
template <typename V>
KITH_HOST_DEVICE void move_point(const Motion& motion, const V* x, V* moved) {
  V turned[3];
  rotate(motion.rotation, x, turned);
  for (int i = 0; i < 3; ++i) moved[i] = motion.scale * turned[i] + motion.shift[i];
}

/// A step of an iteration: a small turn (a vector along its axis), a shift, and a change of the scale.
struct MotionStep {
  double turn[3] = {};
  double shift[3] = {};
  double scale = 0;
};

/// The motion followed by the step. A turn w becomes the rotation of the quaternion (1, w / 2), normalised, which has
/// the axis of w and nearly its angle: no function of a library is needed.
KITH_HOST_DEVICE inline void apply_step(const MotionStep& step, Motion& motion) {
  Motion turn;
  const double a = step.turn[0] / 2;
  const double b = step.turn[1] / 2;
  const double c = step.turn[2] / 2;
  const double length = square_root(1 + a * a + b * b + c * c);
  turn.quaternion[0] = 1 / length;
  turn.quaternion[1] = a / length;
  turn.quaternion[2] = b / length;
  turn.quaternion[3] = c / length;
  set_rotation(turn);

  const double growth = 1 + step.scale;
  double shifted[3];
  rotate(turn.rotation, motion.shift, shifted);
  for (int i = 0; i < 3; ++i) motion.shift[i] = growth * shifted[i] + step.shift[i];
  motion.scale = motion.scale * growth;

  const double* p = turn.quaternion;
  const double* q = motion.quaternion;
  double product[4];
  product[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  product[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  product[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  product[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
  const double size = square_root(product[0] * product[0] + product[1] * product[1] + product[2] * product[2] +
                                  product[3] * product[3]);
  for (int i = 0; i < 4; ++i) motion.quaternion[i] = product[i] / size;
  set_rotation(motion);
}

}  // namespace kith::core
