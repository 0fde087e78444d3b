// An index of an exported tree answers as an index of the points that the tree was made from, byte for byte, whatever
// the layout, and refuses trees that are wrong.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/sanitized.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

namespace kith::test {
namespace {

using apps::InOrderTree;
using apps::NodeTable;

apps::TreeExportOptions random_tree(std::mt19937_64& random) {
  apps::TreeExportOptions options;
  options.split = random() % 2 == 0 ? SplitRule::widest : SplitRule::cycle;
  options.middle = random() % 2 == 0 ? apps::Middle::right : apps::Middle::left;
  options.unique = random() % 4 == 0;
  options.skip_nonfinite = true;
  return options;
}

/// Few queries are announced, so that every tree is taken over.
Index tree_index(PointView points, const apps::TreeExportOptions& tree, bool as_table, BuildOptions options) {
  if (options.expected_queries == 0) options.expected_queries = 1;
  if (as_table) return Index::from_tree(apps::export_node_table(points, tree), points, options);
  return Index::from_tree(apps::export_in_order(points, tree), options);
}

void set_nan(PointSet& points, std::uint64_t row) {
  const std::uint64_t place = row * points.dims();
  if (points.dtype() == DType::f32) {
    points.values<float>()[place] = std::numeric_limits<float>::quiet_NaN();
  } else {
    points.values<double>()[place] = std::numeric_limits<double>::quiet_NaN();
  }
}

/// The points with NaN in the rows that a unique tree leaves out.
PointSet first_of_equal(const PointSet& points) {
  PointSet kept = points.clone();
  const InOrderTree tree = apps::export_in_order(points.view(), {.unique = true, .skip_nonfinite = true});
  std::vector<bool> is_kept(points.rows(), false);
  for (const std::uint32_t row : tree.index) is_kept[row] = true;
  for (std::uint64_t row = 0; row < points.rows(); ++row) {
    if (!is_kept[row]) set_nan(kept, row);
  }
  return kept;
}

Engine random_engine(std::mt19937_64& random, const SearchCase& c) {
  const bool is_for_trees = knows_metric({Engine::kd_tree, Device::cpu()}, c.metric);
  constexpr std::array kEngines = {Engine::kd_tree, Engine::automatic, Engine::brute_force};
  const Engine engine = kEngines[random() % kEngines.size()];
  return engine == Engine::kd_tree && !is_for_trees ? Engine::automatic : engine;
}

TEST(IndexFromTree, EqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 40000; seed < 42000; ++seed) {
    SearchCase c = random_case(seed);
    std::mt19937_64 random(seed);
    apps::TreeExportOptions tree = random_tree(random);
    tree.unique = false;
    const BuildOptions build = c.build_options(random_engine(random, c), Device::cpu());
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const Index index = tree_index(c.points.view(), tree, random() % 2 == 0, build);
    c.options.max_distance = c.max_distance;
    expect_same(oracle_knn(c.request(), c.k),
                c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
    c.options.max_distance = std::numeric_limits<double>::infinity();
    c.options.max_neighbors = c.most;
    expect_same(
        oracle_radius(c.request(), c.radius, c.most),
        c.is_self ? index.radius_self(c.radius, c.options) : index.radius(c.queries.view(), c.radius, c.options));
    if (HasFailure()) return;
  }
}

TEST(IndexFromTree, KeepsTheNumbersWhereRowsAreLeftOut) {
  for (std::uint64_t seed = 43000; seed < 44500; ++seed) {
    SearchCase c = random_case(seed);
    if (c.points.rows() == 0) continue;
    std::mt19937_64 random(seed);
    const apps::TreeExportOptions tree = random_tree(random);
    for (std::uint64_t times = random() % 4; times > 0; --times) set_nan(c.points, random() % c.points.rows());
    BuildOptions build = c.build_options(random_engine(random, c), Device::cpu());
    build.skip_nonfinite = true;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const PointSet kept = tree.unique ? first_of_equal(c.points) : c.points.clone();
    const Index expected = Index::build(kept.view(), build);
    const Index index = tree_index(c.points.view(), tree, random() % 2 == 0, build);
    EXPECT_EQ(index.size(), expected.size());
    EXPECT_EQ(index.skipped(), expected.skipped());
    expect_same(c.is_self ? expected.knn_self(c.k, c.options) : expected.knn(c.queries.view(), c.k, c.options),
                c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
    EXPECT_EQ(
        c.is_self ? expected.count_self(c.radius, c.options) : expected.count(c.queries.view(), c.radius, c.options),
        c.is_self ? index.count_self(c.radius, c.options) : index.count(c.queries.view(), c.radius, c.options));
    if (index.engine() == expected.engine()) {
      EXPECT_EQ(index.to_bytes(), expected.to_bytes());
    }
    if (HasFailure()) return;
  }
}

/// Large enough for many subtrees, threads and groups of queries; with ties, and in dims that `auto` measures.
TEST(IndexFromTree, LargeTreesAnswerAlike) {
  std::mt19937_64 random(8);
  const std::uint64_t rows = KITH_TEST_SANITIZED ? 7'000 : 20'000;
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::clusters, NastyShape::all_equal}) {
    for (const std::uint32_t dims : {1u, 2u, 3u, 5u, 8u, 9u, 12u}) {
      const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
      const PointSet points = nasty_points(shape, dtype, rows + random() % 1000, dims, random);
      const PointSet queries = nasty_points(shape, dtype, 300, dims, random);
      const Index expected = Index::build(points.view(), {.device = Device::cpu()});
      const Neighbors neighbors = expected.knn(queries.view(), 9);
      SCOPED_TRACE(testing::Message() << points.rows() << " points of " << dims << " dims, shape "
                                      << static_cast<int>(shape));
      for (const bool as_table : {false, true}) {
        const apps::TreeExportOptions tree{.split = random() % 2 == 0 ? SplitRule::widest : SplitRule::cycle,
                                           .middle = as_table ? apps::Middle::left : apps::Middle::right};
        for (const Engine engine : {Engine::automatic, Engine::kd_tree, Engine::cover_tree}) {
          const int threads = static_cast<int>(1 + random() % 3);
          const Index index = tree_index(points.view(), tree, as_table,
                                         {.engine = engine, .device = Device::cpu(), .threads = threads});
          expect_same(neighbors, index.knn(queries.view(), 9));
          const PointSet back = index.points();
          EXPECT_EQ(std::memcmp(back.view().data(), points.view().data(), points.bytes()), 0);
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// What depends on the tree is taken from the usual one: files, and what eps and a budget find.
TEST(IndexFromTree, FilesAndApproximateAnswersAreThoseOfTheUsualTree) {
  std::mt19937_64 random(9);
  for (const std::uint32_t dims : {2u, 3u, 9u}) {
    const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 5000, dims, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 50, dims, random);
    const BuildOptions build{.engine = Engine::kd_tree, .device = Device::cpu(), .expected_queries = 1};
    const Index expected = Index::build(points.view(), build);
    const Index index = Index::from_tree(apps::export_in_order(points.view(), {.split = SplitRule::cycle}), build);
    SearchOptions options;
    options.max_leaves = 2;
    expect_same(expected.knn(queries.view(), 5, options), index.knn(queries.view(), 5, options));
    options.max_leaves = 0;
    options.eps = 1.5;
    expect_same(expected.knn(queries.view(), 5, options), index.knn(queries.view(), 5, options));
    EXPECT_EQ(index.to_bytes(), expected.to_bytes());
  }
}

/// For many queries a tree that splits the dims in turn gives way to one that splits the widest side.
TEST(IndexFromTree, MayBuildABetterTree) {
  std::mt19937_64 random(14);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 5000, 3, random);
  const auto explained = [&](SplitRule rule, const BuildOptions& build) {
    return Index::from_tree(apps::export_in_order(points.view(), {.split = rule}), build).explain();
  };
  const std::string taken = "in the order of another";
  const BuildOptions many{.device = Device::cpu()}, few{.device = Device::cpu(), .expected_queries = 500};
  EXPECT_PRED2(holds, explained(SplitRule::widest, many), taken);
  EXPECT_PRED2(holds, explained(SplitRule::cycle, few), taken);
  EXPECT_PRED2(holds, explained(SplitRule::cycle, {.device = Device::cpu(), .split = SplitRule::cycle}), taken);
  EXPECT_FALSE(holds(explained(SplitRule::cycle, many), taken));
}

/// Few queries take the tree, too: nothing has to be built.
TEST(IndexFromTree, TakesTheTreeOverForAnyNumberOfQueries) {
  std::mt19937_64 random(10);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 5000, 3, random);
  const BuildOptions build{.device = Device::cpu(), .expected_queries = 1};
  EXPECT_EQ(Index::build(points.view(), build).engine(), Engine::brute_force);
  const Index index = Index::from_tree(apps::export_in_order(points.view()), build);
  EXPECT_EQ(index.engine(), Engine::kd_tree);
  EXPECT_NE(index.explain().find("in the order of another"), std::string::npos) << index.explain();
}

TEST(IndexFromTree, BoxesAndSingleQueries) {
  std::mt19937_64 random(11);
  const PointSet points = nasty_points(NastyShape::grid, DType::f64, 3000, 3, random);
  const Index index = Index::from_tree(apps::export_in_order(points.view()), {.engine = Engine::kd_tree});
  const std::vector<double> corners = {0, 1, 1, 2, 2, 3};
  const PointView lower(corners.data(), 1, 3), upper(corners.data() + 3, 1, 3);
  expect_same(oracle_box({points.view()}, lower, upper), index.box(lower, upper));
  std::array<std::uint32_t, 4> indices{};
  std::array<double, 4> distances{};
  index.knn_one(std::span(corners).first(3), indices, distances);
  const Neighbors expected = oracle_knn({points.view(), &lower}, 4);
  for (std::uint32_t j = 0; j < 4; ++j) EXPECT_EQ(indices[j], expected.index(0, j));
}

TEST(IndexFromTree, NoPoints) {
  const std::vector<float> nan(6, std::numeric_limits<float>::quiet_NaN());
  for (const std::uint64_t rows : {0u, 3u}) {
    const PointView points(nan.data(), rows, 2);
    const std::vector<float> query = {1, 2};
    for (const Engine engine : {Engine::automatic, Engine::kd_tree}) {
      for (const bool as_table : {false, true}) {
        const Index index = tree_index(points, {.skip_nonfinite = true}, as_table, {.engine = engine});
        const Neighbors found = index.knn(PointView(query.data(), 1, 2), 2);
        EXPECT_EQ(found.index(0, 0), rows);
      }
    }
  }
}

/// Rows that are hardly ever there take no memory.
TEST(IndexFromTree, NumbersMayBeFarApart) {
  InOrderTree tree = apps::export_in_order(PointView(std::array{5.0, 1.0, 3.0}.data(), 3, 1));
  tree.facts.rows = 0xfffffffe;
  tree.index = {7, 4'000'000'000, 12};  // at 1, 3 and 5
  for (const Engine engine : {Engine::kd_tree, Engine::brute_force}) {
    const Index index = Index::from_tree(tree, {.engine = engine});
    const double query = 2.5;
    const Neighbors found = index.knn(PointView(&query, 1, 1), 4);
    EXPECT_EQ(std::vector(found.indices().begin(), found.indices().end()),
              (std::vector<std::uint32_t>{4'000'000'000, 7, 12, 0xfffffffe}));
  }
  tree.index[0] = 12;
  EXPECT_EQ(thrown_message<BadData>([&] { Index::from_tree(tree); }),
            "the tree is wrong: position 2: point 12 is also at position 0");
}

class WrongTree : public testing::Test {
 protected:
  WrongTree() {
    std::mt19937_64 random(12);
    points_ = nasty_points(NastyShape::uniform, DType::f64, 40, 3, random);
    tree_ = apps::export_in_order(points_.view());
  }
  InOrderTree tree() const { return {tree_.facts, tree_.index, tree_.points.clone(), tree_.split_dim}; }
  static void expect_refused(const InOrderTree& tree, const std::string& part) {
    const std::string message = thrown_message<BadData>([&] { Index::from_tree(tree); });
    EXPECT_NE(message.find("the tree is wrong: "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  PointSet points_;
  InOrderTree tree_;
};

TEST_F(WrongTree, IsRefusedByName) {
  InOrderTree wrong = tree();
  wrong.index[5] = 40;
  expect_refused(wrong, "position 5: there is no point 40, the data has 40");
  wrong = tree();
  wrong.index[5] = wrong.index[3];
  expect_refused(wrong, "is also at position 3");
  wrong = tree();
  wrong.points.values<double>()[3 * 7] = std::numeric_limits<double>::infinity();
  expect_refused(wrong, "position 7: point " + std::to_string(wrong.index[7]) + " holds NaN or infinity");
  wrong = tree();
  wrong.points.values<double>()[0] = 100;
  expect_refused(wrong, "position 20 (point ");
  wrong = tree();
  wrong.split_dim[20] = 3;
  expect_refused(wrong, "splits dimension 3, but the points have 3");
  wrong = tree();
  wrong.split_dim.pop_back();
  expect_refused(wrong, "differ in length");
  wrong = tree();
  wrong.facts.dims = 2;
  expect_refused(wrong, "should be f64 with 2");
  wrong = tree();
  wrong.facts.rows = 0xffffffffffu;
  expect_refused(wrong, "numbers for");
}

TEST_F(WrongTree, TablesAreCheckedAgainstTheirPoints) {
  NodeTable table = apps::export_node_table(points_.view());
  EXPECT_THROW(Index::from_tree(table, points_.view().slice(0, 39)), UsageError);
  table.greater[table.root] = table.root;
  const std::string message = thrown_message<BadData>([&] { Index::from_tree(table, points_.view()); });
  EXPECT_NE(message.find("is reached twice; it is the root"), std::string::npos) << message;
}

/// Whatever a number is changed to: refused, or the same answers.
TEST_F(WrongTree, ChangedNumbersDoNoHarm) {
  const Neighbors expected = Index::build(points_.view()).knn_self(3);
  const auto try_tree = [&](const InOrderTree& changed) {
    try {
      const Index index = Index::from_tree(changed, {.engine = Engine::kd_tree});
      ADD_FAILURE() << "a wrong tree passed";
    } catch (const BadData&) {
    }
  };
  for (std::size_t i = 0; i < 40; ++i) {
    for (const std::uint32_t value : {0u, 1u, 2u, 39u, 40u, 0xfffffffeu, 0xffffffffu}) {
      InOrderTree changed = tree();
      if (changed.split_dim[i] != value) {
        changed.split_dim[i] = value;
        try_tree(changed);
      }
      changed = tree();
      if (changed.index[i] != value) {
        changed.index[i] = value;
        try_tree(changed);
      }
    }
  }
  expect_same(expected, Index::from_tree(tree_).knn_self(3));
}

/// Rows and options that an index refuses are named in the numbers of the caller.
TEST_F(WrongTree, RowsThatAnIndexRefuses) {
  for (std::uint32_t d = 0; d < 3; ++d) points_.values<double>()[3 * 17 + d] = 0;
  set_nan(points_, 2);
  const InOrderTree zero = apps::export_in_order(points_.view(), {.skip_nonfinite = true});
  const std::string message = thrown_message<BadRow>([&] { Index::from_tree(zero, {.metric = Metric::cosine()}); });
  EXPECT_NE(message.find("points: row 17 "), std::string::npos) << message;
  points_.values<double>()[3 * 30 + 1] = 5;
  const InOrderTree far = apps::export_in_order(points_.view(), {.skip_nonfinite = true});
  for (const Engine engine : {Engine::kd_tree, Engine::brute_force}) {
    const std::string outside = thrown_message<BadData>([&] {
      Index::from_tree(far, {.engine = engine, .period = {2, 2, 2}});
    });
    EXPECT_NE(outside.find("row 30"), std::string::npos) << outside;
  }
  EXPECT_THROW(Index::from_tree(far, {.threads = -1}), UsageError);
  EXPECT_THROW(Index::from_tree(far, {.progress = [](const Progress&) { return false; }}), Interrupted);
}

}  // namespace
}  // namespace kith::test
