// The bytes of saved indexes of points, for every engine and builder.
#include "golden/golden_search.hpp"

#include <gtest/gtest.h>

namespace kith::test {
namespace {

TEST(GoldenFiles, OfIndexes) {
  GoldenSection golden("index_files");
  struct Kind {
    const char* name;
    BuildOptions build;
  };
  const Kind kinds[] = {{"brute", {.engine = Engine::brute_force}},
                        {"kdtree_widest", {.engine = Engine::kd_tree, .leaf_size = 8}},
                        {"kdtree_cycle", {.engine = Engine::kd_tree, .split = SplitRule::cycle, .leaf_size = 5}},
                        {"kdtree_periodic", {.engine = Engine::kd_tree, .period = {8388608, 0, 0}}},
                        {"covertree_batch", {.engine = Engine::cover_tree}},
                        {"covertree_lists", {.engine = Engine::cover_tree, .builder = Builder::lists}}};
  const std::vector<EngineOnDevice> engines = available_engines();
  for (const GoldenShape shape : {GoldenShape::uniform, GoldenShape::grid, GoldenShape::offset}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const Metric metric : {Metric::l2(), Metric::cosine()}) {
        const PointSet points = golden_points(shape, dtype, 300, 3, 1, metric.is_of_directions());
        for (const auto& [name, wanted] : kinds) {
          if (metric.is_of_directions() && !wanted.period.empty()) continue;
          for (const EngineOnDevice& where : engines) {
            if (where.engine != wanted.engine) continue;
            for (const int threads : {1, 2}) {
              BuildOptions build = wanted;
              build.metric = metric;
              build.device = where.device;
              build.threads = threads;
              const Index index = Index::build(points.view(), build);
              golden.check(fmt::format("{}_{}_300x3_{}_{}", name, name_of(shape), kith::name_of(dtype), metric.name()),
                           digest_of(index.to_bytes({.threads = threads})), where.device.name());
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
