// Every way to break an exported tree against its checker.
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>

#include "support/random_case.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

/// A small right table to break.
class BrokenTable : public testing::Test {
 protected:
  BrokenTable() {
    std::mt19937_64 random(9);
    points_ = test::nasty_points(test::NastyShape::uniform, DType::f64, 20, 3, random);
    table_ = export_node_table(points_.view());
    ordered_ = export_in_order(points_.view(), {.split = SplitRule::cycle});
  }

  void expect_violation(const NodeTable& table, const std::string& part) const {
    const std::string found = verify_tree(table, points_.view()).first_violation;
    EXPECT_NE(found.find(part), std::string::npos) << "found: " << found << "\nwanted: " << part;
  }
  void expect_violation(const InOrderTree& tree, const std::string& part) const {
    const std::string found = verify_tree(tree, points_.view()).first_violation;
    EXPECT_NE(found.find(part), std::string::npos) << "found: " << found << "\nwanted: " << part;
  }
  InOrderTree copy_of_ordered() const {
    return {ordered_.facts, ordered_.index, ordered_.points.clone(), ordered_.split_dim};
  }

  PointSet points_;
  NodeTable table_;
  InOrderTree ordered_;
};

TEST_F(BrokenTable, PointsThatAreMissingOrTwice) {
  NodeTable table = table_;
  table.point[4] = table.point[7];
  expect_violation(table, "node 7: point " + std::to_string(table.point[7]) + " is also at node 4");
  table = table_;
  table.point[4] = 20;
  expect_violation(table, "node 4: there is no point 20, the data has 20");
  table = export_node_table(points_.view().slice(0, 19));
  table.facts.rows = 20;
  expect_violation(table, "point 19 is nowhere in the tree");
  table = table_;
  table.less.pop_back();
  expect_violation(table, "differ in length");
}

TEST_F(BrokenTable, NodesThatAreMissingOrTwice) {
  ASSERT_EQ(table_.root, 10u);
  NodeTable table = table_;
  table.root = 20;
  expect_violation(table, "the root 20 is not a node");
  table.root = kNoNode;
  expect_violation(table, "the root 4294967295 is not a node");
  table = table_;
  table.less[10] = 10;
  expect_violation(table, "node 10 (point " + std::to_string(table.point[10]) +
                              "): its less-than child 10 is reached twice; it is the root");
  table = table_;
  table.greater[10] = table.less[10];
  expect_violation(table, "is reached twice; node 10 leads to it too");
  table = table_;
  table.less[5] = 99;
  expect_violation(table, "node 5 (point " + std::to_string(table.point[5]) +
                              "): its less-than child 99 is not a node; there are 20");
  table = table_;
  table.less[5] = kNoNode;
  expect_violation(table, "has no less-than child, but a balanced tree has 5 nodes there");
  table = table_;
  table.less[0] = 3;
  expect_violation(table, "node 0 (point " + std::to_string(table.point[0]) +
                              "): has the less-than child 3, but a balanced tree has no nodes there");
}

TEST_F(BrokenTable, SplitDimensions) {
  NodeTable table = table_;
  const std::uint32_t right = table.split_dim[10];
  table.split_dim[10] = 3;
  expect_violation(table, "splits dimension 3, but the points have 3");
  table.split_dim[10] = (right + 1) % 3;
  expect_violation(table, "but dimension " + std::to_string(right) + " is the widest: ");
  InOrderTree tree = copy_of_ordered();
  tree.split_dim[5] = 2;
  expect_violation(tree, "position 5 (point " + std::to_string(tree.index[5]) +
                             "): splits dimension 2, but by cycle level 1 splits dimension 1");
  tree = copy_of_ordered();
  tree.facts.split = SplitRule::widest;
  EXPECT_NE(verify_tree(tree, points_.view()).first_violation, "");
}

TEST_F(BrokenTable, PointsOnTheWrongSide) {
  // Swap the extreme points of the two sides of the root.
  NodeTable table = table_;
  std::swap(table.point[0], table.point[19]);
  expect_violation(table, "node 10 (point " + std::to_string(table.point[10]) + "): node 0 (point " +
                              std::to_string(table.point[0]) + ") is in its less-than subtree, but follows it");
  InOrderTree tree = copy_of_ordered();
  std::swap(tree.index[2], tree.index[17]);
  expect_violation(tree, "position 2: dimension 0 is ");
  for (std::uint32_t d = 0; d < 3; ++d) {
    std::swap(tree.points.values<double>()[2 * 3 + d], tree.points.values<double>()[17 * 3 + d]);
  }
  expect_violation(tree, "subtree, but ");
}

TEST_F(BrokenTable, DuplicatesThatWereToBeRemoved) {
  const std::vector<double> values = {1, 2, 1, 3};
  const PointView points(values.data(), 4, 1);
  NodeTable table = export_node_table(points);
  table.facts.unique = true;
  EXPECT_EQ(verify_tree(table, points).first_violation,
            "node 1: point 2 equals point 0, and duplicates were to be removed");
  table = export_node_table(points, {.unique = true});
  table.facts.unique = false;
  EXPECT_EQ(verify_tree(table, points).first_violation, "point 2 is nowhere in the tree");
}

TEST_F(BrokenTable, OtherPointsAreRefused) {
  EXPECT_THROW(verify_tree(table_, points_.view().slice(0, 19)), UsageError);
  NodeTable table = table_;
  table.facts.dims = 2;
  EXPECT_THROW(verify_tree(table, points_.view()), UsageError);
  InOrderTree tree = copy_of_ordered();
  tree.facts.dtype = DType::f32;
  EXPECT_THROW(verify_tree(tree, points_.view()), UsageError);
  tree = copy_of_ordered();
  tree.points = PointSet(DType::f64, 20, 2);
  expect_violation(tree, "the coordinates are f64 with 2 dims");
}

TEST_F(BrokenTable, EveryChangedNumberIsFound) {
  // Any other number in any place breaks some promise; whatever stands there, the check ends.
  const auto columns = {&NodeTable::point, &NodeTable::split_dim, &NodeTable::less, &NodeTable::greater};
  for (const auto column : columns) {
    for (std::size_t i = 0; i < 20; ++i) {
      for (const std::uint32_t value : {0u, 1u, 5u, 10u, 19u, 20u, 0x7fffffffu, 0xfffffffeu, 0xffffffffu}) {
        NodeTable table = table_;
        if ((table.*column)[i] == value) continue;
        (table.*column)[i] = value;
        EXPECT_NE(verify_tree(table, points_.view()).first_violation, "") << "place " << i << ", value " << value;
      }
    }
  }
}

TEST_F(BrokenTable, NumbersOfNodesAreFree) {
  std::mt19937_64 random(3);
  std::vector<std::uint32_t> number(20);
  std::iota(number.begin(), number.end(), 0u);
  std::shuffle(number.begin(), number.end(), random);
  const auto renumbered = [&](std::uint32_t node) { return node == kNoNode ? kNoNode : number[node]; };
  NodeTable table = table_;
  table.root = number[table_.root];
  for (std::size_t i = 0; i < 20; ++i) {
    table.point[number[i]] = table_.point[i];
    table.split_dim[number[i]] = table_.split_dim[i];
    table.less[number[i]] = renumbered(table_.less[i]);
    table.greater[number[i]] = renumbered(table_.greater[i]);
  }
  EXPECT_EQ(verify_tree(table, points_.view()).first_violation, "");
}

}  // namespace
}  // namespace kith::apps
