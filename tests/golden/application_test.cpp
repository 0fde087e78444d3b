// What the applications make of points: labels, values, fewer points, trees for others, made-up points.
#include "golden/golden_search.hpp"

#include <kith/apps/choose_k.hpp>
#include <kith/apps/classify.hpp>
#include <kith/apps/dedupe.hpp>
#include <kith/apps/generate.hpp>
#include <kith/apps/regress.hpp>
#include <kith/apps/scale.hpp>
#include <kith/apps/tree_export.hpp>

#include <gtest/gtest.h>

namespace kith::test {
namespace {

constexpr std::uint64_t kRows = 240, kQueries = 90;

std::vector<std::uint32_t> golden_labels(std::uint32_t classes) {
  std::vector<std::uint32_t> labels;
  for (std::uint64_t i = 0; i < kRows; ++i) labels.push_back(static_cast<std::uint32_t>(golden_word(40, i) % classes));
  return labels;
}

std::vector<double> golden_values() {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < kRows; ++i) values.push_back(static_cast<double>(golden_word(41, i) >> 40) * 0x1p-10);
  return values;
}

/// Calls `with(options, by)` with options for every engine, device and one and two threads.
template <typename Options, typename With>
void for_each_engine(Options options, With&& with) {
  static const std::vector<EngineOnDevice> engines = available_engines();
  for (const EngineOnDevice& where : engines) {
    for (const int threads : {1, 2}) {
      options.engine = where.engine;
      options.device = where.device;
      options.threads = threads;
      with(options, fmt::format("{} on {}, {} threads,", kith::name_of(where.engine), where.device.name(), threads));
    }
  }
}

constexpr GoldenShape kShapes[] = {GoldenShape::uniform, GoldenShape::grid, GoldenShape::repeats};

TEST(GoldenApplications, Classes) {
  GoldenSection golden("classify");
  for (const GoldenShape shape : kShapes) {
    for (const auto weights : {apps::Weights::uniform, apps::Weights::distance}) {
      for (const std::uint32_t classes : {3u, 100u}) {
        const DType dtype = classes == 3 ? DType::f32 : DType::f64;
        const PointSet points = golden_points(shape, dtype, kRows, 3, 1);
        const PointSet queries = golden_points(shape, dtype, kQueries, 3, 2);
        const std::vector<std::uint32_t> labels = golden_labels(classes);
        const apps::LabelView view{labels, classes};
        apps::ClassifyOptions wanted;
        wanted.k = 7;
        wanted.weights = weights;
        wanted.want_shares = true;
        const std::string name = fmt::format("{}_{}x3_{}_{}_{}classes", name_of(shape), kRows, kith::name_of(dtype),
                                             apps::name_of(weights), classes);
        for_each_engine(wanted, [&](apps::ClassifyOptions options, const std::string& by) {
          const apps::Classified batch = apps::classify(points.view(), view, queries.view(), options);
          golden.check(name + "_batch", digest_of(batch.labels, batch.shares), by);
          options.want_shares = false;
          const apps::Classified one_by_one = apps::classify_sequential(points.view(), view, queries.view(), options);
          golden.check(name + "_sequential", digest_of(one_by_one.labels), by);
        });
      }
    }
  }
}

TEST(GoldenApplications, Values) {
  GoldenSection golden("regress");
  for (const GoldenShape shape : kShapes) {
    for (const auto weights : {apps::Weights::uniform, apps::Weights::distance}) {
      const PointSet points = golden_points(shape, DType::f64, kRows, 2, 1);
      const PointSet queries = golden_points(shape, DType::f64, kQueries, 2, 2);
      apps::NeighborOptions wanted;
      wanted.weights = weights;
      for_each_engine(wanted, [&](const apps::NeighborOptions& options, const std::string& by) {
        golden.check(fmt::format("{}_{}x2_f64_{}", name_of(shape), kRows, apps::name_of(weights)),
                     digest_of(apps::regress(points.view(), golden_values(), queries.view(), options).values), by);
      });
    }
  }
}

TEST(GoldenApplications, ChoiceOfK) {
  GoldenSection golden("choose_k");
  for (const GoldenShape shape : kShapes) {
    for (const std::uint32_t folds : {0u, 5u}) {
      const PointSet points = golden_points(shape, DType::f32, kRows, 3, 1);
      const std::vector<std::uint32_t> labels = golden_labels(4);
      apps::ChooseKOptions wanted;
      wanted.most = 20;
      wanted.folds = folds;
      for_each_engine(wanted, [&](const apps::ChooseKOptions& options, const std::string& by) {
        const std::string name = fmt::format("{}_{}x3_f32_{}folds", name_of(shape), kRows, folds);
        const apps::KChoice of_labels = apps::choose_k(points.view(), apps::LabelView{labels, 4}, options);
        golden.check(name + "_labels", digest_of(of_labels.right, of_labels.best), by);
        const apps::KChoice of_values = apps::choose_k(points.view(), golden_values(), options);
        golden.check(name + "_values", digest_of(of_values.error, of_values.best), by);
      });
    }
  }
}

TEST(GoldenApplications, FewerPoints) {
  GoldenSection golden("dedupe");
  const std::vector<double> scores = golden_values();
  for (const GoldenShape shape : {GoldenShape::uniform, GoldenShape::grid, GoldenShape::repeats}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const PointSet points = golden_points(shape, dtype, kRows, 3, 1);
      for (const int threads : {1, 2}) {
        const auto check = [&](const char* how, apps::DedupeOptions options) {
          options.threads = threads;
          const apps::Deduped found = apps::dedupe(points.view(), options);
          golden.check(fmt::format("{}_{}x3_{}_{}", name_of(shape), kRows, kith::name_of(dtype), how),
                       digest_of(found.kept, found.map), fmt::format("{} threads", threads));
        };
        check("equal", {});
        check("within_0.3", {.tolerance = 0.3});
        check("within_1_l1_scored", {.tolerance = 1.0, .metric = Metric::l1(), .scores = scores});
      }
    }
  }
}

TEST(GoldenApplications, MadeUpPoints) {
  GoldenSection golden("generate");
  using enum apps::Shape;
  for (const apps::Shape shape : {uniform, clusters, surface, lidar, grid, line, duplicates, classes}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {2u, 3u, 5u}) {
        if (dims != 3 && (shape == surface || shape == lidar)) continue;
        for (const int threads : {1, 2}) {
          const apps::Generated made = apps::generate(
              {.shape = shape, .points = 500, .dims = dims, .seed = 9, .dtype = dtype, .threads = threads});
          golden.check(fmt::format("{}_500x{}_{}", apps::name_of(shape), dims, kith::name_of(dtype)),
                       digest_of(made.points, made.labels), fmt::format("{} threads", threads));
        }
      }
    }
  }
}

TEST(GoldenApplications, ScaledColumns) {
  GoldenSection golden("scale");
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto scaling : {apps::Scaling::standard, apps::Scaling::minmax}) {
      const PointSet points = golden_points(GoldenShape::clusters, dtype, kRows, 4, 1);
      for (const int threads : {1, 2}) {
        const apps::Scale scale = apps::fit_scale(points.view(), scaling, threads);
        golden.check(fmt::format("clusters_{}x4_{}_{}", kRows, kith::name_of(dtype), apps::name_of(scaling)),
                     digest_of(scale.shift, scale.divisor, scale.apply(points.view(), threads)));
      }
    }
  }
}

TEST(GoldenApplications, ExportedTrees) {
  GoldenSection golden("tree_exports");
  for (const GoldenShape shape : kShapes) {
    for (const SplitRule split : {SplitRule::widest, SplitRule::cycle}) {
      for (const bool unique : {false, true}) {
        const PointSet points = golden_points(shape, unique ? DType::f64 : DType::f32, kRows, 3, 1);
        for (const int threads : {1, 2}) {
          const apps::TreeExportOptions options = {.split = split, .unique = unique, .threads = threads};
          const std::string name =
              fmt::format("{}_{}x3_{}{}", name_of(shape), kRows, name_of(split), unique ? "_unique" : "");
          const apps::NodeTable table = apps::export_node_table(points.view(), options);
          golden.check(name + "_node_table",
                       digest_of(table.root, table.point, table.split_dim, table.less, table.greater));
          const apps::InOrderTree tree = apps::export_in_order(points.view(), options);
          golden.check(name + "_in_order", digest_of(tree.index, tree.points, tree.split_dim));
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
