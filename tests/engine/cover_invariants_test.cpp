// Each thing that can be wrong with a cover tree is found, and named with the pair that shows it.
#include "engine/cover_tree/check_invariants.hpp"
#include "support/cover_oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// A tree over points of a line whose arrays can be spoiled.
class CoverInvariants : public testing::Test {
 protected:
  CoverInvariants() {
    for (int i = 0; i < 1000; ++i) points_.push_back(i * 0.25 + (i % 10 == 0 ? 0.125 : 0));
    const engine::CoverTree tree = CoverOracle(size(), 4, {}, 0x1p62, metric()).build();
    nodes_.assign(tree.nodes.begin(), tree.nodes.end());
    order_.assign(tree.order.begin(), tree.order.end());
    distances_.assign(tree.distances.begin(), tree.distances.end());
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(points_.size()); }
  std::function<double(std::uint32_t, std::uint32_t)> metric() const {
    return [this](std::uint32_t a, std::uint32_t b) { return std::abs(points_[a] - points_[b]); };
  }
  std::string violation() const {
    engine::CoverTree tree;
    tree.leaf_size = 4;
    tree.nodes = nodes_;
    tree.order = order_;
    tree.distances = distances_;
    return engine::check_cover_invariants(tree, size(), {}, metric()).value_or("none");
  }
  void expect_violation(const std::string& part) const {
    const std::string found = violation();
    EXPECT_NE(found.find(part), std::string::npos) << found;
  }
  /// A node with a sibling before it, whose centre is not its parent's.
  std::uint32_t some_child() const {
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      if (nodes_[i].to_parent > 0 && nodes_[nodes_[i].parent].children > 2) return i;
    }
    return 0;
  }

  std::vector<double> points_;
  std::vector<engine::CoverNode> nodes_;
  std::vector<std::uint32_t> order_;
  std::vector<double> distances_;
};

TEST_F(CoverInvariants, HoldOfATreeAsDefined) {
  EXPECT_EQ(violation(), "none");
  EXPECT_GT(nodes_.size(), 20u);
}

TEST_F(CoverInvariants, WrongDistanceOfAnObject) {
  distances_.back() *= 2;
  expect_violation("at distance");
}

TEST_F(CoverInvariants, WrongReach) {
  nodes_[0].reach *= 1.0000001;
  expect_violation("node 0 is said to reach");
}

TEST_F(CoverInvariants, WrongDistanceFromTheParent) {
  nodes_[some_child()].to_parent *= 1.5;
  expect_violation("from its parent");
}

TEST_F(CoverInvariants, WrongLowest) {
  nodes_[0].lowest = 1;
  expect_violation("lowest number");
}

TEST_F(CoverInvariants, TwiceTheSameObject) {
  order_[0] = order_[1];
  expect_violation("two leaves");
}

TEST_F(CoverInvariants, ObjectsThatAreNotThere) {
  order_[7] = size();
  expect_violation("does not exist");
}

TEST_F(CoverInvariants, LinksOutOfTheTree) {
  nodes_[0].first_child = static_cast<std::uint32_t>(nodes_.size());
  expect_violation("children of node 0");
}

TEST_F(CoverInvariants, FirstChildWithAnotherCentre) {
  std::swap(nodes_[nodes_[0].first_child].centre, nodes_[nodes_[0].first_child + 1].centre);
  expect_violation("nesting");
}

/// Levels that are one too low make everything reach too far.
TEST_F(CoverInvariants, LevelsTooLow) {
  for (engine::CoverNode& node : nodes_) node.level -= 1;
  expect_violation("covering");
}

/// Levels that are one too high make centres too near to each other.
TEST_F(CoverInvariants, LevelsTooHigh) {
  for (engine::CoverNode& node : nodes_) node.level += 1;
  expect_violation("separation");
  expect_violation("at distance");
}

/// Centres of different parents are checked too: only these come near here.
TEST_F(CoverInvariants, SeparationOfCousins) {
  // Levels: 1 for the children of the root, 0 below. 0 | 4: children of the root; 1.5 below the one, 2.25 below the
  // other.
  points_ = {0, 1.5, 4, 2.25};
  const auto node = [](double reach, double to_parent, std::uint32_t centre, std::uint32_t parent) {
    return engine::CoverNode{.reach = reach, .to_parent = to_parent, .centre = centre, .parent = parent};
  };
  nodes_ = {node(4, 0, 0, 0),   node(1.5, 0, 0, 0), node(1.75, 4, 2, 0), node(0, 0, 0, 1),
            node(0, 1.5, 1, 1), node(0, 0, 2, 2),   node(0, 1.75, 3, 2)};
  const std::uint32_t first[] = {0, 0, 2, 0, 1, 2, 3}, count[] = {4, 2, 2, 1, 1, 1, 1};
  const std::uint32_t lowest[] = {0, 0, 2, 0, 1, 2, 3}, children[] = {1, 3, 5};
  const int level[] = {2, 1, 1, 0, 0, 0, 0};
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].first = first[i];
    nodes_[i].count = count[i];
    nodes_[i].lowest = lowest[i];
    nodes_[i].level = level[i];
    if (i < 3) nodes_[i].first_child = children[i];
    if (i < 3) nodes_[i].children = 2;
  }
  order_ = {0, 1, 2, 3};
  distances_ = {0, 0, 0, 0};
  expect_violation(
      "separation: two centres of level 0 are not farther apart than 1: objects 3 and 1, at distance 0.75");
}

}  // namespace
}  // namespace kith::test
