// Finds points with few neighbours, a simple outlier filter; shows progress and how to stop.
#include <kith/kith.hpp>

#include <cstdio>

int main() {
  const kith::apps::Generated scan = kith::apps::generate({.shape = kith::apps::Shape::lidar, .points = 20000});
  const kith::Index index = kith::Index::build(scan.points.view());

  int reports = 0;
  const kith::SearchOptions options{.exclude_self = true, .progress = [&](const kith::Progress& progress) {
                                      ++reports;
                                      return progress.done <= progress.total;  // false would stop the search
                                    }};
  const std::vector<std::uint32_t> counts = index.count_self(0.5, options);
  std::size_t lonely = 0;
  for (const std::uint32_t count : counts) lonely += count < 3 ? 1 : 0;
  std::printf("%zu of %zu points have fewer than 3 others within half a metre (%d progress reports)\n", lonely,
              counts.size(), reports);
  return counts.size() == 20000 && reports > 0 ? 0 : 1;
}
