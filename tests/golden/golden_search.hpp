// A golden case of points and queries, and everybody who must give its answer.
#pragma once

#include "golden/digest.hpp"
#include "golden/golden_points.hpp"
#include "golden/golden_section.hpp"
#include "support/engines.hpp"

#include <kith/index.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

/// What the name of a case says.
struct GoldenSearch {
  GoldenShape shape = GoldenShape::uniform;
  std::uint64_t rows = 300;
  std::uint64_t query_rows = 40;
  std::uint32_t dims = 3;
  DType dtype = DType::f32;
  Metric metric = Metric::l2();
  std::uint32_t k = 8;

  std::string name() const {
    return fmt::format("{}_{}x{}_{}_{}_k{}", name_of(shape), rows, dims, kith::name_of(dtype), metric.name(), k);
  }
  PointSet points() const { return golden_points(shape, dtype, rows, dims, 1, metric.is_of_directions()); }
  PointSet queries() const { return golden_points(shape, dtype, query_rows, dims, 2, metric.is_of_directions()); }
};

/// All cases of a section: every shape in `dims`, with types, metrics and k in turn.
inline std::vector<GoldenSearch> golden_searches(std::vector<std::uint32_t> dims, std::vector<Metric> metrics,
                                                 std::vector<std::uint32_t> sizes) {
  std::vector<GoldenSearch> cases;
  std::uint64_t number = 0;
  for (const GoldenShape shape : kGoldenShapes) {
    for (const std::uint32_t each : dims) {
      const std::uint64_t draw = golden_word(3, number++);
      cases.push_back({.shape = shape,
                       .dims = each,
                       .dtype = draw % 2 == 0 ? DType::f32 : DType::f64,
                       .metric = metrics[draw / 2 % metrics.size()],
                       .k = sizes[draw / 64 % sizes.size()]});
    }
  }
  return cases;
}

/// Calls `answer(index, threads)`, which returns a digest, with an index of every engine on every device that is there,
/// built and searched on one and on two threads, and checks it.
template <typename Answer>
void check_every_engine(GoldenSection& golden, const std::string& name, PointView points, const BuildOptions& options,
                        Answer&& answer) {
  static const std::vector<EngineOnDevice> engines = available_engines();
  for (const EngineOnDevice& where : engines) {
    if (!knows_metric(where, options.metric)) continue;
    if (!options.period.empty() && !knows_periods(where)) continue;
    for (const int threads : {1, 2}) {
      BuildOptions build = options;
      build.engine = where.engine;
      build.device = where.device;
      build.threads = threads;
      if (where.engine == Engine::kd_tree) build.leaf_size = 8;  // small trees with many leaves
      const std::string digest = answer(Index::build(points, build), threads);
      golden.check(name, digest,
                   fmt::format("{} on {}, {} threads,", kith::name_of(where.engine), where.device.name(), threads));
    }
  }
}

}  // namespace kith::test
