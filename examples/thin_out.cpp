// Thins out a scan so that no two points are within 20 centimetres, and reports which point represents which.
#include <kith/kith.hpp>

#include <cstdio>

int main() {
  const kith::apps::Generated scan = kith::apps::generate({.shape = kith::apps::Shape::lidar, .points = 20000});
  const kith::apps::Deduped thin = kith::apps::dedupe(scan.points.view(), {.tolerance = 0.2});
  const kith::PointSet points = kith::apps::take_rows(scan.points.view(), thin.kept);

  const std::uint32_t stands_for_last = thin.kept[thin.map.back()];
  std::printf("%zu of %zu points stay; point %u stands for the last one\n", thin.kept.size(), thin.map.size(),
              stands_for_last);
  const kith::Neighbors next = kith::Index::build(points.view()).knn_self(1, {.exclude_self = true});
  for (std::uint64_t i = 0; i < next.queries(); ++i) {
    if (next.distance(i, 0) <= 0.2) return 1;
  }
  return thin.kept.size() < 20000 ? 0 : 1;
}
