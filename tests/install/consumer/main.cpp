// A program of someone else: finds the neighbours of a few points and checks the answer that it knows.
#include <kith/kith.hpp>

#include <cstdio>
#include <cstdlib>
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
  // The tree of anything with a metric.
  const auto apart = [](int a, int b) { return std::abs(a - b); };
  kith::CoverTree tree(std::vector<int>{7, 1, 30, 8}, apart);
  tree.remove(0);
  const auto found = tree.knn(6, 2);
  const bool right_in_tree = found.size() == 2 && found[0].id == 3 && found[1].distance == 5 && tree.check().empty();
  if (!right || verdict.wrong != 0 || !right_in_tree) {
    std::puts("wrong neighbours");
    return 1;
  }
  std::puts("kith " KITH_VERSION " found the right neighbours");
}
