// Exported trees against one that is built by sorting every range.
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>

#include "support/random_case.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

using Rows = std::vector<std::uint32_t>;

/// The tree by its definition: sort the whole range, take the middle, go on with the two sides.
template <typename T>
struct SortedTree {
  PointView points;
  SplitRule rule;
  Middle middle_rule;
  Rows rows;
  Rows split_dim;
  Rows less;
  Rows greater;

  std::uint32_t widest(std::size_t lo, std::size_t hi) const {
    std::uint32_t best = 0;
    T best_width = -1;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      T low = std::numeric_limits<T>::infinity();
      T high = -low;
      for (std::size_t i = lo; i < hi; ++i) {
        low = std::min(low, points.row<T>(rows[i])[d]);
        high = std::max(high, points.row<T>(rows[i])[d]);
      }
      if (high - low > best_width) {
        best_width = high - low;
        best = d;
      }
    }
    return best;
  }

  /// Returns the root of [lo, hi).
  std::uint32_t build(std::size_t lo, std::size_t hi, std::uint32_t level) {
    if (lo == hi) return kNoNode;
    const std::uint32_t dims = points.dims();
    const std::uint32_t dim = rule == SplitRule::cycle ? level % dims : widest(lo, hi);
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(lo), rows.begin() + static_cast<std::ptrdiff_t>(hi),
              [&](std::uint32_t a, std::uint32_t b) {
                for (std::uint32_t step = 0; step < dims; ++step) {
                  const T x = points.row<T>(a)[(dim + step) % dims];
                  const T y = points.row<T>(b)[(dim + step) % dims];
                  if (x < y || y < x) return x < y;
                }
                return a < b;
              });
    const std::size_t middle = middle_rule == Middle::left ? (lo + hi - 1) / 2 : (lo + hi) / 2;
    split_dim[middle] = dim;
    less[middle] = build(lo, middle, level + 1);
    greater[middle] = build(middle + 1, hi, level + 1);
    return static_cast<std::uint32_t>(middle);
  }
};

Rows first_of_equal(PointView points) {
  Rows rows;
  for (std::uint32_t i = 0; i < points.rows(); ++i) {
    const bool is_new = std::none_of(rows.begin(), rows.end(), [&](std::uint32_t other) {
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        if (points.at(i, d) != points.at(other, d)) return false;
      }
      return true;
    });
    if (is_new) rows.push_back(i);
  }
  return rows;
}

template <typename T>
NodeTable sorted_table(PointView points, const TreeExportOptions& options) {
  SortedTree<T> tree{points, options.split, options.middle, {}, {}, {}, {}};
  tree.rows.resize(points.rows());
  std::iota(tree.rows.begin(), tree.rows.end(), 0u);
  if (options.unique) tree.rows = first_of_equal(points);
  const std::size_t count = tree.rows.size();
  tree.split_dim.resize(count);
  tree.less.resize(count);
  tree.greater.resize(count);
  NodeTable table;
  table.facts = {points.rows(), points.dims(), points.dtype(), options.split, options.unique, options.middle};
  table.root = tree.build(0, count, 0);
  table.point = tree.rows;
  table.split_dim = tree.split_dim;
  table.less = tree.less;
  table.greater = tree.greater;
  return table;
}

NodeTable sorted_table(PointView points, const TreeExportOptions& options) {
  return points.dtype() == DType::f32 ? sorted_table<float>(points, options) : sorted_table<double>(points, options);
}

void expect_same(const NodeTable& expected, const NodeTable& found) {
  EXPECT_EQ(expected.facts, found.facts);
  EXPECT_EQ(expected.root, found.root);
  EXPECT_EQ(expected.point, found.point);
  EXPECT_EQ(expected.split_dim, found.split_dim);
  EXPECT_EQ(expected.less, found.less);
  EXPECT_EQ(expected.greater, found.greater);
}

void expect_same(const NodeTable& expected, const InOrderTree& found, PointView points) {
  EXPECT_EQ(expected.facts, found.facts);
  EXPECT_EQ(expected.point, found.index);
  EXPECT_EQ(expected.split_dim, found.split_dim);
  ASSERT_EQ(found.points.rows(), found.index.size());
  for (std::uint64_t i = 0; i < found.index.size(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      const double here = found.points.view().at(i, d);
      const double there = points.at(found.index[i], d);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(here), std::bit_cast<std::uint64_t>(there));
    }
  }
}

TEST(TreeExport, EqualsTheSortedTreeOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    constexpr std::uint64_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 100, 256, 300};
    const auto shape =
        static_cast<test::NastyShape>(random() % static_cast<std::uint64_t>(test::NastyShape::count_of_shapes));
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const auto dims = static_cast<std::uint32_t>(1 + random() % 9);
    const PointSet points = test::nasty_points(shape, dtype, kSizes[random() % std::size(kSizes)], dims, random);
    TreeExportOptions options;
    options.split = random() % 2 == 0 ? SplitRule::widest : SplitRule::cycle;
    options.unique = random() % 2 == 0;
    options.middle = random() % 2 == 0 ? Middle::right : Middle::left;
    options.threads = std::array{1, 2, 5}[random() % 3];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << points.rows() << " points of " << dims
                                    << " dims, shape " << static_cast<int>(shape));
    const NodeTable expected = sorted_table(points.view(), options);
    const NodeTable table = export_node_table(points.view(), options);
    const InOrderTree ordered = export_in_order(points.view(), options);
    expect_same(expected, table);
    expect_same(expected, ordered, points.view());
    EXPECT_EQ(verify_tree(table, points.view()).first_violation, "");
    EXPECT_EQ(verify_tree(ordered, points.view()).first_violation, "");
  }
}

/// Both zeros, numbers next to them and the largest ones, all with ties; a side may overflow.
template <typename T>
void expect_right_trees_of_extremes(std::uint32_t dims, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  constexpr T kValues[] = {T(0), Limits::denorm_min(), Limits::min(), T(1), T(1.5), Limits::max()};
  PointSet points(std::is_same_v<T, float> ? DType::f32 : DType::f64, 1500, dims);
  for (T& value : points.values<T>()) {
    value = kValues[random() % std::size(kValues)];
    value = random() % 2 == 0 ? value : -value;
  }
  for (const SplitRule rule : {SplitRule::widest, SplitRule::cycle}) {
    for (const Middle middle : {Middle::left, Middle::right}) {
      const TreeExportOptions options{.split = rule, .middle = middle};
      const NodeTable expected = sorted_table(points.view(), options);
      expect_same(expected, export_node_table(points.view(), options));
      expect_same(expected, export_in_order(points.view(), options), points.view());
    }
  }
}

TEST(TreeExport, ExtremeCoordinatesKeepTheirOrder) {
  std::mt19937_64 random(6);
  for (const std::uint32_t dims : {1u, 2u, 3u, 8u, 12u}) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    expect_right_trees_of_extremes<float>(dims, random);
    expect_right_trees_of_extremes<double>(dims, random);
  }
}

/// Large enough for many subtrees, with many ties.
TEST(TreeExport, LargeTreesAreTheSameForEveryNumberOfThreads) {
  std::mt19937_64 random(4);
  for (const SplitRule rule : {SplitRule::widest, SplitRule::cycle}) {
    for (const bool unique : {false, true}) {
      PointSet points(DType::f32, 9000, 3);
      for (float& value : points.values<float>()) value = static_cast<float>(random() % 30);
      TreeExportOptions options{.split = rule, .unique = unique};
      const NodeTable expected = sorted_table(points.view(), options);
      for (const int threads : {1, 2, 5}) {
        options.threads = threads;
        expect_same(expected, export_node_table(points.view(), options));
        expect_same(expected, export_in_order(points.view(), options), points.view());
      }
      const TreeVerdict verdict = verify_tree(export_node_table(points.view(), options), points.view());
      EXPECT_EQ(verdict.first_violation, "");
      EXPECT_EQ(verdict.nodes, expected.point.size());
      EXPECT_EQ(verdict.levels, static_cast<std::uint64_t>(std::bit_width(expected.point.size())));
    }
  }
}

/// So many points that several threads share the first ranges.
TEST(TreeExport, ThreadsShareRangesOfManyPoints) {
  constexpr std::uint64_t kPoints = 140'000;
  std::mt19937_64 random(5);
  PointSet points(DType::f32, kPoints, 3);
  for (float& value : points.values<float>()) value = static_cast<float>(random() % 100);
  const NodeTable expected = sorted_table(points.view(), {});
  NodeTable table = export_node_table(points.view(), {.threads = 3});
  expect_same(expected, table);
  for (const int threads : {1, 3}) {
    EXPECT_EQ(verify_tree(table, points.view(), {threads, {}}).first_violation, "");
    EXPECT_EQ(
        verify_tree(export_in_order(points.view(), {.threads = threads}), points.view(), {threads, {}}).first_violation,
        "");
  }
  // The report does not depend on the number of threads.
  const auto expect_found = [&](const NodeTable& broken, const std::string& part) {
    const std::string alone = verify_tree(broken, points.view(), {1, {}}).first_violation;
    EXPECT_NE(alone.find(part), std::string::npos) << alone;
    EXPECT_EQ(verify_tree(broken, points.view(), {3, {}}).first_violation, alone);
  };
  std::swap(table.point[5], table.point[kPoints - 5]);
  expect_found(table, "subtree, but ");
  table = expected;
  table.split_dim[table.root] = (table.split_dim[table.root] + 1) % 3;
  expect_found(table, "splits dimension ");
  table = expected;
  table.point[7] = table.point[9];
  expect_found(table, "is also at node 7");
  table = expected;
  table.less[kPoints / 4] = table.greater[kPoints / 4];
  expect_found(table, "is reached twice");
}

TEST(TreeExport, ThreadsShareRangesOfManyDims) {
  std::mt19937_64 random(6);
  for (const std::uint32_t dims : {5u, 9u}) {
    PointSet points(DType::f64, 135'000, dims);
    for (double& value : points.values<double>()) value = static_cast<double>(random() % 7);
    const NodeTable table = export_node_table(points.view(), {.threads = 1});
    expect_same(table, export_node_table(points.view(), {.threads = 3}));
    EXPECT_EQ(verify_tree(table, points.view(), {3, {}}).first_violation, "");
  }
}

TEST(TreeExport, SevenPointsByHand) {
  const std::vector<double> values = {5, 1, 7, 3, 2, 6, 4};  // one dimension
  const PointView points(values.data(), 7, 1);
  const NodeTable table = export_node_table(points);
  EXPECT_EQ(table.root, 3u);
  EXPECT_EQ(table.point, (Rows{1, 4, 3, 6, 0, 5, 2}));
  EXPECT_EQ(table.less, (Rows{kNoNode, 0, kNoNode, 1, kNoNode, 4, kNoNode}));
  EXPECT_EQ(table.greater, (Rows{kNoNode, 2, kNoNode, 5, kNoNode, 6, kNoNode}));
  EXPECT_EQ(table.split_dim, Rows(7, 0));
  const InOrderTree ordered = export_in_order(points);
  EXPECT_TRUE(std::ranges::equal(ordered.points.values<double>(), std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  // Of two points the second is the root: floor((0 + 2) / 2).
  const NodeTable two = export_node_table(PointView(values.data(), 2, 1));
  EXPECT_EQ(two.root, 1u);
  EXPECT_EQ(two.less, (Rows{kNoNode, 0}));
  // Or the first: floor((0 + 2 - 1) / 2).
  NodeTable left = export_node_table(PointView(values.data(), 2, 1), {.middle = Middle::left});
  EXPECT_EQ(left.root, 0u);
  EXPECT_EQ(left.less, (Rows{kNoNode, kNoNode}));
  EXPECT_EQ(left.greater, (Rows{1, kNoNode}));
  left.facts.middle = Middle::right;
  EXPECT_NE(verify_tree(left, PointView(values.data(), 2, 1)).first_violation, "");
  EXPECT_EQ(parse_middle("left"), Middle::left);
  EXPECT_EQ(name_of(parse_middle("right")), "right");
  EXPECT_THROW(parse_middle("Left"), UsageError);
}

TEST(TreeExport, BadRowsAreNamedOrLeftOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1, 2, nan, 4, 5, 6, 5, 6};
  const PointView points(values.data(), 4, 2);
  EXPECT_THROW(export_node_table(points), BadData);
  const NodeTable table = export_node_table(points, {.skip_nonfinite = true});
  EXPECT_EQ(table.point, (Rows{0, 2, 3}));
  EXPECT_EQ(table.facts.rows, 4u);
  EXPECT_EQ(verify_tree(table, points).first_violation, "");
  const InOrderTree unique = export_in_order(points, {.unique = true, .skip_nonfinite = true});
  EXPECT_EQ(unique.index, (Rows{0, 2}));
  EXPECT_EQ(verify_tree(unique, points).first_violation, "");
  EXPECT_THROW(export_in_order(points, {.threads = -1}), UsageError);
  EXPECT_THROW(export_node_table(points, {.skip_nonfinite = true, .progress = [](const Progress&) { return false; }}),
               Interrupted);
}

}  // namespace
}  // namespace kith::apps
