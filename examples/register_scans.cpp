// Where was the scanner? Registers scans with a map that is prepared once, each from the pose of the last.
#include <kith/kith.hpp>

#include <cmath>
#include <cstdio>
#include <string>

int main() {
  const kith::PointSet map = kith::apps::generate({.shape = kith::apps::Shape::lidar, .points = 20000}).points;
  const kith::apps::RegistrationTarget target(map.view());

  // Nothing is known of the first pose: it is found by features. The others begin where the last one was.
  kith::apps::RegistrationOptions options{.initial = kith::apps::InitialPose::global};
  bool is_right = true;
  for (int scan = 1; scan <= 4; ++scan) {
    // The scanner has moved: it sees the map turned and shifted. The pose leads back.
    kith::apps::Pose truth = kith::apps::rotation_about_z(0.5 * scan);
    truth(0, 3) = 0.2 * scan;
    const kith::PointSet seen = kith::apps::transform(map.view(), kith::apps::inverse(truth));

    const kith::apps::Registration found = target.align(seen.view(), options);
    const kith::apps::Pose& pose = found.transformation;
    std::printf("scan %d: at (%.3f, %.3f, %.3f), RMSE %.1e m, %s\n", scan, pose(0, 3), pose(1, 3), pose(2, 3),
                found.inlier_rmse, std::string(kith::apps::explain(found.end)).c_str());
    for (const kith::apps::WeakDirection& weak : found.weak) {
      std::printf("  it can slide along (%.2f, %.2f, %.2f)\n", weak.shift[0], weak.shift[1], weak.shift[2]);
    }
    is_right = is_right && found.converged() && std::abs(pose(0, 3) - truth(0, 3)) < 1e-3;
    options.initial_pose = pose;
  }
  return is_right ? 0 : 1;
}
