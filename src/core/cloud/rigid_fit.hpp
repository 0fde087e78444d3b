// The rotation and the shift that take pairs of places onto each other best, in closed form.
#pragma once

#include "core/cloud/motion.hpp"
#include "core/cloud/symmetric_eigen.hpp"
#include "core/host_device.hpp"

namespace kith::core {

/// What a fit may turn and shift: `free` any; `level` turns about z alone.
enum class FitFreedom : unsigned char { free, level };

/// Weighted sums over pairs, taken one after the other.
class RigidFit {
 public:
  KITH_HOST_DEVICE void add(const double* from, const double* to, double weight) {
    weight_ += weight;
    for (int i = 0; i < 3; ++i) {
      from_[i] += weight * from[i];
      to_[i] += weight * to[i];
      for (int j = 0; j < 3; ++j) products_[i][j] += weight * from[i] * to[j];
    }
  }

  /// The motion that minimises the weighted squared distances of pairs (Horn's quaternion). False without weight.
  KITH_HOST_DEVICE bool solve(FitFreedom freedom, Motion& motion) const {
    if (!(weight_ > 0)) return false;
    double s[3][3];  // of centred pairs
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) s[i][j] = products_[i][j] - from_[i] * to_[j] / weight_;
    }
    motion = {};
    if (freedom == FitFreedom::level) {
      double cosine = s[0][0] + s[1][1], sine = s[0][1] - s[1][0];
      const double largest = (cosine < 0 ? -cosine : cosine) + (sine < 0 ? -sine : sine);
      if (!(largest > 1e-100 && largest < 1e100)) {  // squares would overflow or vanish
        if (!(largest > 0)) return false;
        cosine /= largest;
        sine /= largest;
      }
      const double length = square_root(cosine * cosine + sine * sine);
      if (!(length > 0)) return false;
      // Half of the angle, from the larger of its sine and cosine.
      const double c = cosine / length;
      if (c >= 0) {
        motion.quaternion[0] = square_root((1 + c) / 2);
        motion.quaternion[3] = sine / length / (2 * motion.quaternion[0]);
      } else {
        motion.quaternion[3] = square_root((1 - c) / 2);
        motion.quaternion[0] = sine / length / (2 * motion.quaternion[3]);
      }
    } else {
      const double n[4][4] = {{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
                              {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                              {s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                              {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]}};
      const SymmetricEigen<4> eigen = symmetric_eigen(n);
      for (int i = 0; i < 4; ++i) motion.quaternion[i] = eigen.vectors[3][i];
    }
    set_rotation(motion);
    const double from[3] = {from_[0] / weight_, from_[1] / weight_, from_[2] / weight_};
    double turned[3];
    rotate(motion.rotation, from, turned);
    for (int i = 0; i < 3; ++i) motion.shift[i] = to_[i] / weight_ - turned[i];
    return true;
  }

 private:
  double weight_ = 0;
  double from_[3] = {};
  double to_[3] = {};
  double products_[3][3] = {};  ///< of from and to
};

}  // namespace kith::core
