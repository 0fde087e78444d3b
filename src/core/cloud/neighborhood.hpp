// The plane (in 2-D the line) that fits a point and its neighbours best: its normal, and how far they bend away from it.
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

/// A normal of length 1 whose sign is that of SymmetricEigen, or 0 if all points are in one place or there are fewer than
/// D of them; the share of the least eigenvalue in the sum of all (0 on a plane, 1/D where points spread alike).
template <int D>
struct FittedPlane {
  double normal[D];
  double curvature;
};

template <int D>
KITH_HOST_DEVICE FittedPlane<D> fitted_plane(const Neighborhood<D>& points) {
  FittedPlane<D> plane{};
  if (points.count() < D) return plane;
  double covariance[D][D];
  points.covariance(covariance);
  double sum = 0;
  for (int d = 0; d < D; ++d) sum += covariance[d][d];
  if (!(sum > 0)) return plane;
  const SymmetricEigen<D> axes = symmetric_eigen(covariance);
  for (int d = 0; d < D; ++d) plane.normal[d] = axes.vectors[0][d];
  plane.curvature = axes.values[0] > 0 ? axes.values[0] / sum : 0;
  return plane;
}

}  // namespace kith::core
