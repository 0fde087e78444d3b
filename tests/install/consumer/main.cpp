// A program of someone else: finds the neighbours of a few points and checks the answer that it knows.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> points = {0, 0, 3, 4, 1, 0, 6, 8};
  const std::vector<float> query = {0, 0};
  const kith::Index index = kith::Index::build(kith::PointView(points.data(), 4, 2));
  const kith::Neighbors near = index.knn(kith::PointView(query.data(), 1, 2), 3);
  const bool right = near.index(0, 0) == 0 && near.index(0, 1) == 2 && near.index(0, 2) == 1 &&
                     near.distance(0, 1) == 1 && near.distance(0, 2) == 5;
  const kith::apps::Verdict verdict =
      kith::apps::verify_neighbors(near, kith::PointView(points.data(), 4, 2), kith::PointView(query.data(), 1, 2));
  if (!right || verdict.wrong != 0) {
    std::puts("wrong neighbours");
    return 1;
  }
  std::puts("kith " KITH_VERSION " found the right neighbours");
}
