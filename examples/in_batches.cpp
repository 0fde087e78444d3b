// All neighbours of a large set in batches: asks first what an index will take, then searches part by part, so that
// only one part of the answer is in memory at a time.
#include <kith/kith.hpp>

#include <algorithm>
#include <cstdio>

int main() {
  constexpr std::uint64_t kPoints = 200'000, kBatch = 30'000;
  const kith::BuildPlan plan = kith::Index::plan(kPoints, 3, kith::DType::f32);
  std::printf("an index of %llu points takes %.1f MB, its build up to %.1f MB\n",
              static_cast<unsigned long long>(kPoints), 1e-6 * static_cast<double>(plan.index_bytes),
              1e-6 * static_cast<double>(plan.peak_bytes));

  const kith::apps::Generated cloud = kith::apps::generate({.points = kPoints});
  const kith::PointView points = cloud.points.view();
  const kith::Index index = kith::Index::build(points);
  double sum = 0;
  std::uint64_t searched = 0;
  for (std::uint64_t first = 0; first < kPoints; first += kBatch) {
    const std::uint64_t count = std::min(kBatch, kPoints - first);
    const kith::Neighbors near = index.knn(points.slice(first, count), 2);
    for (std::uint64_t query = 0; query < count; ++query) sum += near.distance(query, 1);  // 0 is the point itself
    searched += count;
  }
  const double mean = sum / static_cast<double>(kPoints);
  std::printf("to the nearest other point it is %.5f on average\n", mean);
  // Of n uniform points in a unit cube, boundaries aside: Gamma(4/3) / (4 pi n / 3)^(1/3).
  return searched == kPoints && mean > 0.0094 && mean < 0.0099 ? 0 : 1;
}
