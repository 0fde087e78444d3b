// The plane (in 2-D the line) that fits a point and its neighbours best: its normal, and how far they bend away from
// it.
#pragma once

#include "core/cloud/symmetric_eigen.hpp"
#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// The sums that a covariance needs, of offsets from one place near the points, so that coordinates far from the origin
/// lose nothing.
template <int D>
class Neighborhood {
 public:
  template <typename T>
  KITH_HOST_DEVICE void add(const T* point, const T* place) {
    double offset[D];
    for (int d = 0; d < D; ++d) offset[d] = static_cast<double>(point[d]) - static_cast<double>(place[d]);
    count_ += 1;
    for (int d = 0; d < D; ++d) {
      sum_[d] += offset[d];
      for (int e = d; e < D; ++e) products_[d][e] += offset[d] * offset[e];
    }
  }

  KITH_HOST_DEVICE double count() const { return count_; }

  /// The mean of (x - mean)(x - mean)^T; the upper triangle.
  KITH_HOST_DEVICE void covariance(double (&result)[D][D]) const {
    for (int d = 0; d < D; ++d) {
      for (int e = d; e < D; ++e) {
        result[d][e] = result[e][d] = (products_[d][e] - sum_[d] * sum_[e] / count_) / count_;
      }
    }
  }

 private:
  double count_ = 0;
  double sum_[D] = {};
  double products_[D][D] = {};
};

/// A normal of length 1 whose sign is that of SymmetricEigen, or 0 if all points are in one place, their squared
/// distances overflow, or there are fewer than D of them; the share of the least eigenvalue in the sum of all (0 on a
/// plane, 1/D where points spread alike).
template <int D>
struct FittedPlane {
  double normal[D];
  double curvature;
};

/// The least eigenvalue and its vector, of whatever sign, of a covariance in 3-D whose trace is 1; false if two
/// eigenvalues are so close that this way, several times as fast as rotations, becomes inaccurate.
KITH_HOST_DEVICE inline bool least_axis(const double (&a)[3][3], double& value, double (&axis)[3]) {
  constexpr double kApart = 1e-5;
  const double m00 = a[1][1] * a[2][2] - a[1][2] * a[1][2];
  const double m11 = a[0][0] * a[2][2] - a[0][2] * a[0][2];
  const double m22 = a[0][0] * a[1][1] - a[0][1] * a[0][1];
  const double minors = m00 + m11 + m22;
  const double determinant = a[0][0] * m00 - a[0][1] * (a[0][1] * a[2][2] - a[1][2] * a[0][2]) +
                             a[0][2] * (a[0][1] * a[1][2] - a[1][1] * a[0][2]);
  // The root of x^3 - x^2 + minors x - determinant between 0 and 1/3. The polynomial rises and is concave there, so
  // that Newton's steps from 0 never pass it.
  double x = 0;
  double slope = minors;
  for (int step = 0; step < 12 && slope > kApart; ++step) {
    const double next = x - (((x - 1) * x + minors) * x - determinant) / slope;
    if (!(next > x)) break;
    x = next;
    slope = (3 * x - 2) * x + minors;
  }
  if (!(slope > kApart)) return false;
  // Two rows of a - x span the other axes.
  const double rows[3][3] = {
      {a[0][0] - x, a[0][1], a[0][2]}, {a[0][1], a[1][1] - x, a[1][2]}, {a[0][2], a[1][2], a[2][2] - x}};
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    const double* u = rows[i == 2 ? 1 : 0];
    const double* v = rows[i == 0 ? 1 : 2];
    const double across[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double squared = across[0] * across[0] + across[1] * across[1] + across[2] * across[2];
    if (squared > largest) {
      largest = squared;
      for (int d = 0; d < 3; ++d) axis[d] = across[d];
    }
  }
  const double length = square_root(largest);
  if (!(length > kApart)) return false;
  for (int d = 0; d < 3; ++d) axis[d] = axis[d] / length;
  value = x;
  return true;
}

template <int D>
KITH_HOST_DEVICE FittedPlane<D> fitted_plane(const Neighborhood<D>& points) {
  FittedPlane<D> plane{};
  if (points.count() < D) return plane;
  double covariance[D][D];
  points.covariance(covariance);
  double sum = 0;
  for (int d = 0; d < D; ++d) sum += covariance[d][d];
  if (!(sum > 0 && sum < 1e300)) return plane;
  for (int d = 0; d < D; ++d) {
    for (int e = 0; e < D; ++e) covariance[d][e] = covariance[d][e] / sum;
  }
  if constexpr (D == 3) {
    if (least_axis(covariance, plane.curvature, plane.normal)) {
      make_largest_positive(plane.normal);
      for (int d = 0; d < D; ++d) plane.normal[d] += 0.0;  // -0 becomes +0
      return plane;
    }
  }
  const SymmetricEigen<D> axes = symmetric_eigen(covariance);
  for (int d = 0; d < D; ++d) plane.normal[d] = axes.vectors[0][d] + 0.0;
  plane.curvature = larger(axes.values[0], 0.0);
  return plane;
}

}  // namespace kith::core
