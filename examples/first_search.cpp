// The five nearest neighbours of a few queries among generated points.
#include <kith/kith.hpp>

#include <cstdio>

int main() {
  const kith::apps::Generated cloud = kith::apps::generate({.shape = kith::apps::Shape::surface, .points = 5000});
  const kith::Index index = kith::Index::build(cloud.points.view());

  const float queries[] = {0.5f, 0.5f, 0.5f, 0.1f, 0.2f, 0.3f};  // 2 x 3
  const kith::Neighbors near = index.knn(kith::PointView(queries, 2, 3), 5);
  for (std::uint64_t q = 0; q < near.queries(); ++q) {
    std::printf("query %llu:", static_cast<unsigned long long>(q));
    for (std::uint32_t j = 0; j < near.k(); ++j) std::printf("  %u at %.4f", near.index(q, j), near.distance(q, j));
    std::printf("\n");
  }
  return near.distance(0, 0) <= near.distance(0, 4) ? 0 : 1;
}
