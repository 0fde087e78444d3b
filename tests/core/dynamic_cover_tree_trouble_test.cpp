// The cover tree of any objects when the metric is none, when it throws, and when a tree is wrong.
#include "support/thrown_message.hpp"

#include <kith/cover_tree.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kith {
namespace {

using test::holds;
using test::thrown_message;

using AnyMetric = std::function<double(double, double)>;

double on_line(double a, double b) { return std::abs(a - b); }

TEST(DynamicCoverTreeTrouble, NotANumberIsNoDistance) {
  CoverTree<double, AnyMetric> tree(on_line);
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { tree.insert(std::nan("")); }), "NaN for objects 0 and 0");
  tree.insert(0);
  tree.insert(4);
  const auto inserted = thrown_message<BadData>([&] { tree.insert(std::nan("")); });
  EXPECT_PRED2(holds, inserted, "NaN for objects 2 and 0");
  const auto asked = thrown_message<BadData>([&] { tree.knn(std::nan(""), 1); });
  EXPECT_PRED2(holds, asked, "NaN for the query and object 0");
  EXPECT_THROW(tree.radius(std::nan(""), 1), BadData);
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_EQ(tree.insert(1), 2u);
  EXPECT_EQ(tree.check(), "");
}

TEST(DynamicCoverTreeTrouble, DistancesAreNotNegativeNorHuge) {
  CoverTree<double, AnyMetric> tree([](double a, double b) { return a - b; });
  tree.insert(5);
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { tree.insert(3); }), "-2.000000 for objects 1 and 0");
  const auto huge = [](double a, double b) { return a == b ? std::uint64_t{0} : std::uint64_t{1} << 60; };
  CoverTree<double, decltype(huge)> far(huge);
  far.insert(1);
  EXPECT_THROW(far.insert(2), BadData);
}

TEST(DynamicCoverTreeTrouble, AMetricIsSymmetric) {
  CoverTree<double, AnyMetric> tree([](double a, double b) { return b > a ? 2 * (b - a) : a - b; });
  tree.insert(0);
  const auto text = thrown_message<BadData>([&] { tree.insert(3); });
  EXPECT_PRED2(holds, text, "not symmetric: 3 for objects 1 and 0, 6 the other way round");
  EXPECT_EQ(tree.size(), 1u);
}

TEST(DynamicCoverTreeTrouble, CheckFindsWhatInsertDidNotSee) {
  auto step = std::make_shared<double>(0.0);
  CoverTree<double, AnyMetric> tree([step](double a, double b) { return std::abs(a - b) + (a < b ? *step : 0); });
  for (int i = 0; i < 10; ++i) tree.insert(i);
  EXPECT_EQ(tree.check(), "");
  *step = 0.25;
  EXPECT_NE(tree.check(), "");
  *step = std::numeric_limits<double>::quiet_NaN();
  EXPECT_PRED2(holds, tree.check(), "NaN");
  EXPECT_THROW(tree.remove(0), BadData);

  // Squares of distances break the triangle inequality.
  CoverTree<double, AnyMetric> squares([](double a, double b) { return (a - b) * (a - b); });
  for (int i = 0; i < 10; ++i) squares.insert(i);
  EXPECT_PRED2(holds, squares.check(), "the triangle inequality fails for objects");
}

TEST(DynamicCoverTreeTrouble, CallsThatMakeNoSense) {
  CoverTree<double, AnyMetric> tree(on_line);
  EXPECT_THROW(tree.knn(0, 1, -0.5), UsageError);
  EXPECT_THROW(tree.knn(0, 1, std::nan("")), UsageError);
  EXPECT_THROW(tree.radius(0, -1), UsageError);
  EXPECT_THROW(tree.count(0, std::nan("")), UsageError);
  EXPECT_THROW(tree.position(0), UsageError);
  EXPECT_THROW((CoverTree<double, AnyMetric>(on_line, {-1, 0})), UsageError);
  EXPECT_THROW((CoverTree<double, AnyMetric>(on_line, {0, std::nan("")})), UsageError);
}

// Every call of the metric fails once, in insert and in remove; the tree stays what it was.
TEST(DynamicCoverTreeTrouble, WhatThrowsChangesNothing) {
  auto left = std::make_shared<int>(-1);
  const auto by_arc_cosine = [left](double a, double b) {
    if (*left > 0 && --*left == 0) throw std::runtime_error("enough");
    return std::acos(std::min(1.0, std::cos(a) * std::cos(b) + std::sin(a) * std::sin(b)));
  };
  std::mt19937_64 random(3);
  CoverTree<double, AnyMetric> tree(by_arc_cosine, {0x1p-40, 1e-7});
  for (int i = 0; i < 60; ++i) {
    const double coarse = static_cast<double>(random() % 40) / 7;
    tree.insert(coarse + 3e-9 * static_cast<double>(random() % 4));
  }
  std::size_t thrown = 0;
  while (!tree.empty()) {
    const auto ids = tree.ids();
    const auto before = tree.knn(1.25, 100);
    const bool removes = random() % 4 != 0;
    const std::uint64_t id = random() % 3 == 0 ? ids[0] : ids[random() % ids.size()];
    for (int calls = 1;; ++calls) {
      *left = calls;
      try {
        if (removes) {
          tree.remove(id);
        } else {
          tree.insert(static_cast<double>(random() % 30) / 5);
        }
        *left = -1;
        break;
      } catch (const std::runtime_error&) {
        ++thrown;
        *left = -1;
        ASSERT_EQ(tree.ids(), ids);
        ASSERT_EQ(tree.knn(1.25, 100), before);
        ASSERT_EQ(tree.check(), "");
      }
    }
    ASSERT_EQ(tree.check(), "");
  }
  EXPECT_GT(thrown, 200u);
}

/// A tree of numbers made by hand: an object, its level, its parent.
class HandMade {
 public:
  explicit HandMade(double root, int level) {
    store.root = store.add(root, 0);
    store[store.root].level = level;
    store.root_reach = 1000;
  }
  cover_tree::Child& child(cover_tree::Slot parent, double object, int level) {
    const cover_tree::Slot slot = store.add(object, store.size());
    store.adopt(parent, {on_line(object, store.object(parent)), 1000, 0, slot, level});
    return store[parent].children.back();
  }
  std::string check() const {
    const cover_tree::Meter<double, AnyMetric> meter(on_line, {0, 0});
    return cover_tree::Checker<double, AnyMetric>(store, meter).first_violation();
  }
  cover_tree::Store<double> store;
};

TEST(DynamicCoverTreeTrouble, EveryViolationIsNamed) {
  HandMade right(0, 3);
  right.child(right.child(0, 8, 2).slot, 5, 1);
  EXPECT_EQ(right.check(), "");

  HandMade uncovered(0, 3);
  uncovered.child(0, 8, 1);
  EXPECT_EQ(uncovered.check(), "covering: object 1 (level 1) is 8 from its parent, object 0 (level 3), more than 2^2");

  HandMade above(0, 3);
  above.child(0, 9, 3);
  EXPECT_PRED2(holds, above.check(), "which is not higher");

  HandMade close(0, 3);
  close.child(0, 8, 2);
  close.child(0, 4.5, 2);
  EXPECT_EQ(close.check(), "separation: object 1 (level 2) and object 2 (level 2) are 3.5 apart, not more than 2^2");

  HandMade changed(0, 3);
  changed.child(0, 8, 2).to_parent = 7;
  EXPECT_PRED2(holds, changed.check(), "but was 7");

  HandMade reach(0, 3);
  reach.child(0, 8, 2).reach = 2;
  reach.child(1, 5, 1);
  EXPECT_EQ(reach.check(), "bounds: object 2 is 3 from object 1 (level 2) above it, which reaches 2");

  HandMade lowest(0, 3);
  lowest.child(0, 8, 2).lowest = 5;
  EXPECT_PRED2(holds, lowest.check(), "bounds: object 1");

  HandMade lost(0, 3);
  lost.store.add(3, 1);
  EXPECT_EQ(lost.check(), "links: 2 objects, but the root leads to 1");

  HandMade twins(0, 3);
  twins.store.add_twin(0, twins.store.add(1, 1), cover_tree::Role::same);
  EXPECT_EQ(twins.check(), "twins: object 1 is 1 from its twin, object 0");
}

}  // namespace
}  // namespace kith
