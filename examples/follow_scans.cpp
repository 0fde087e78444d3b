// How far has the scanner moved? Matches a scan with the one before it, by the nearest points that a search with a
// budget of leaves finds, and by exact ones. (In up to 5 dims an exact search takes less time than a budget, so that
// kith answers both exactly; in more dims the first would be the faster one.)
#include <kith/kith.hpp>

#include <cmath>
#include <cstdio>

namespace {

/// The scan as it is seen after the scanner has moved along x.
kith::PointSet moved(const kith::PointSet& scan, float by) {
  kith::PointSet points = kith::PointSet::copy_of(scan.view());
  for (std::uint64_t i = 0; i < points.rows(); ++i) points.values<float>()[3 * i] -= by;
  return points;
}

/// The mean step from the points to their nearest ones in the index, along x.
double step_along_x(const kith::Index& before, const kith::PointSet& scan, const kith::PointSet& now,
                    const kith::SearchOptions& options) {
  const kith::Neighbors near = before.knn(now.view(), 1, options);
  double sum = 0;
  for (std::uint64_t i = 0; i < near.queries(); ++i) {
    sum += static_cast<double>(scan.values<float>()[3 * near.index(i, 0)] - now.values<float>()[3 * i]);
  }
  return sum / static_cast<double>(near.queries());
}

}  // namespace

int main() {
  const kith::PointSet scan = kith::apps::generate({.shape = kith::apps::Shape::lidar, .points = 20000}).points;
  const kith::Index index = kith::Index::build(scan.view(), {.engine = kith::Engine::kd_tree});
  constexpr float kMoved = 0.3f;
  double found[2] = {};
  for (const bool is_bounded : {true, false}) {
    kith::SearchOptions options;
    if (is_bounded) options.max_leaves = 4;
    double& total = found[is_bounded ? 0 : 1];
    for (int round = 0; round < 20; ++round) {
      total += step_along_x(index, scan, moved(scan, kMoved - static_cast<float>(total)), options);
    }
    std::printf("%s search: the scanner moved by %.3f m\n", is_bounded ? "bounded" : "exact", total);
  }
  return std::abs(found[0] - 0.3) < 0.03 && std::abs(found[1] - 0.3) < 0.03 ? 0 : 1;
}
