// How NaN is handled: refused with row and column, or skipped while the other rows keep their numbers.
#include <kith/kith.hpp>

#include <cmath>
#include <cstdio>

int main() {
  const float points[] = {0, 0, 1, NAN, 2, 2, 3, 3};  // 4 x 2
  const kith::PointView view(points, 4, 2);
  try {
    kith::Index::build(view);
    return 1;
  } catch (const kith::BadData& error) {
    std::printf("refused: %s\n", error.what());
  }
  const kith::Index index = kith::Index::build(view, {.skip_nonfinite = true});
  const kith::Neighbors near = index.knn_self(1, {.exclude_self = true});
  for (std::uint64_t q = 0; q < near.queries(); ++q) {
    std::printf("point %llu: nearest is %u\n", static_cast<unsigned long long>(q), near.index(q, 0));
  }
  return near.index(1, 0) == near.missing() && near.index(2, 0) == 3 ? 0 : 1;
}
