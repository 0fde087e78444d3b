// Trees in index files that are forged with every checksum right: what is wrong with them is found and named.
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/forged_index.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using namespace forged;

/// Changes that keep every checksum right and name what is wrong with the tree.
class ForgedTree : public testing::Test {
 protected:
  std::uint64_t place(SectionId id, std::uint64_t byte) const { return section_of(front_, id).offset + byte; }
  template <typename U>
  U value(std::uint64_t place) const {
    U out;
    std::memcpy(&out, bytes_.data() + place, sizeof out);
    return out;
  }

  Bytes bytes_ = sample(Engine::kd_tree, DType::f64);  // 69 points of 2 dims in 8 leaves of 8 or 9 points
  FrontMatter front_ = front_of(bytes_);
};

TEST_F(ForgedTree, FirstLeaf) {
  const std::uint64_t numbers = place(SectionId::blocks, 8 * 2 * sizeof(double));  // behind 8 points of 2 dims
  expect_refused(with_value(bytes_, place(SectionId::blocks, 0), std::numeric_limits<double>::quiet_NaN()),
                 "not finite");
  expect_refused(with_value(bytes_, place(SectionId::blocks, 0), std::numeric_limits<double>::infinity()),
                 "not finite");
  expect_refused(with_value(bytes_, place(SectionId::blocks, 0), 1e9), "not the tight one");
  expect_refused(with_value(bytes_, numbers, 69u), "there are only 69");
  expect_refused(with_value(bytes_, numbers + 4, value<std::uint32_t>(numbers)), "comes after");
  expect_refused(with_value(bytes_, numbers + 8 * 4, 1u), "the padding is not zero");
}

TEST_F(ForgedTree, Permutation) {
  // Raise the last number of a leaf to one that another leaf has: ascending and in range, but there twice.
  const std::uint64_t last = place(SectionId::blocks, 8 * 2 * sizeof(double) + 7 * 4);
  const auto number = value<std::uint32_t>(last);
  for (std::uint32_t other = number + 1; other < 69; ++other) {
    expect_refused(with_value(bytes_, last, other), "point " + std::to_string(number) + " lies in no leaf");
  }
}

TEST_F(ForgedTree, Nodes) {
  const std::uint64_t box = 4 * sizeof(double);
  for (std::uint64_t node = 0; node < 15; ++node) {
    const std::string part = node < 7 ? "node " + std::to_string(node) + ":" : "leaf " + std::to_string(node - 7) + ":";
    for (std::uint64_t side = 0; side < 4; ++side) {
      const std::uint64_t at = place(SectionId::boxes, node * box + side * sizeof(double));
      expect_refused(with_value(bytes_, at, side < 2 ? -1e300 : 1e300), part);  // larger is not tight either
      expect_refused(with_value(bytes_, at, -value<double>(at)), part);
      expect_refused(with_value(bytes_, at, std::numeric_limits<double>::quiet_NaN()), part);
    }
    const std::uint64_t smallest = place(SectionId::smallest, node * 4);
    expect_refused(with_value(bytes_, smallest, value<std::uint32_t>(smallest) + 1), part);
  }
}

TEST_F(ForgedTree, Splits) {
  for (std::uint64_t node = 0; node < 7; ++node) {
    const std::string part = "node " + std::to_string(node) + ":";
    const std::uint64_t dim = place(SectionId::split_dims, node * 2);
    expect_refused(with_value(bytes_, dim, static_cast<std::uint16_t>(value<std::uint16_t>(dim) ^ 1)),
                   part + " " + std::to_string(value<std::uint16_t>(dim) ^ 1) + " is not the dimension to split");
    expect_refused(with_value(bytes_, dim, std::uint16_t{0xffff}), part + " 65535 is not the dimension to split");
    const std::uint64_t at = place(SectionId::split_values, node * sizeof(double));
    const double split = value<double>(at);
    for (const double other : {std::nextafter(split, 1e9), std::nextafter(split, -1e9), -split,
                               std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      expect_refused(with_value(bytes_, at, other), "node ");
    }
  }
}

TEST_F(ForgedTree, Parameters) {
  const std::uint64_t leaf_size = offsetof(HeaderRecord, parameters);
  expect_refused(with_value(bytes_, leaf_size, 0u), "a leaf size of 0");
  expect_refused(with_value(bytes_, leaf_size, 1025u), "a leaf size of 1025");
  expect_refused(with_value(bytes_, leaf_size, 5u), "are needed");
  expect_refused(with_value(bytes_, leaf_size + 4, 2u), "no split rule with the number 2");
  expect_refused(with_value(bytes_, leaf_size + 4, 1u), "is not the dimension to split");
}

/// Among equal points the numbers alone say which side of a split a point belongs to.
TEST(ForgedTreeOfEqualPoints, SwappedNumbers) {
  const std::vector<float> rows(2 * 32, 1.5f);
  const Bytes bytes = Index::build(PointView(rows.data(), 32, 2), {.engine = Engine::kd_tree}).to_bytes();
  const FrontMatter front = front_of(bytes);
  const std::uint64_t first_leaf = section_of(front, SectionId::blocks).offset;
  const std::uint64_t last_of_left = first_leaf + 16 * 2 * 4 + 15 * 4;  // two leaves of 16 points
  const std::uint64_t first_of_right = first_leaf + 16 * 12 + 16 * 2 * 4;
  Bytes forged = with_value(bytes, last_of_left, 16u);
  expect_refused(forged, "point 15 lies in no leaf");
  forged = with_value(forged, first_of_right, 15u);
  expect_refused(forged, "leaf 1: 16 is not its smallest point");
  forged = with_value(forged, section_of(front, SectionId::smallest).offset + 2 * 4, 15u);
  expect_refused(forged, "node 0: a point lies on the wrong side");
}

/// Changes of a cover tree that keep every checksum right.
class ForgedCoverTree : public testing::Test {
 protected:
  using Node = engine::CoverNode;

  std::uint64_t place(SectionId id, std::uint64_t byte) const { return section_of(front_, id).offset + byte; }
  Node node(std::uint64_t i) const {
    Node node;
    std::memcpy(&node, bytes_.data() + place(SectionId::cover_nodes, i * sizeof node), sizeof node);
    return node;
  }
  /// The file with another node i.
  template <typename Change>
  Bytes changed(std::uint64_t i, Change&& change) const {
    Node node = this->node(i);
    change(node);
    return with_value(bytes_, place(SectionId::cover_nodes, i * sizeof node), node);
  }

  Bytes bytes_ = sample(Engine::cover_tree, DType::f64);
  FrontMatter front_ = front_of(bytes_);
  std::uint64_t nodes_ = section_of(front_, SectionId::cover_nodes).count;
};

TEST_F(ForgedCoverTree, Nodes) {
  ASSERT_GT(nodes_, 5u) << "this tree has nothing to forge";
  for (std::uint64_t i = 0; i < nodes_; ++i) {
    SCOPED_TRACE(testing::Message() << "node " << i << " of " << nodes_);
    const std::string who = "node ";
    expect_refused(changed(i, [](Node& n) { n.reach *= 0.75, n.reach -= 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.reach += 0.5; }), who);
    expect_refused(changed(i, [](Node& n) { n.reach = std::nan(""); }), who);
    expect_refused(changed(i, [](Node& n) { n.to_parent += 0.5; }), who);
    expect_refused(changed(i, [](Node& n) { n.to_parent = std::nan(""); }), who);
    expect_refused(changed(i, [](Node& n) { n.centre = (n.centre + 1) % 69; }), who);
    expect_refused(changed(i, [](Node& n) { n.centre = 69; }), who);
    expect_refused(changed(i, [](Node& n) { n.parent += 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.first += 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.count -= 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.count = 0; }), who);
    expect_refused(changed(i, [](Node& n) { n.lowest += 1; }), who);
    expect_refused(changed(i, [&](Node& n) { n.first_child = static_cast<std::uint32_t>(nodes_); }), who);
    expect_refused(changed(i, [](Node& n) { n.children ^= 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.children = ~0u; }), who);
    if (i > 0) expect_refused(changed(i, [](Node& n) { n.level += 1000; }), who);
  }
}

/// Reaches and distances that are a little off prune what should be found: all of them are measured again.
TEST_F(ForgedCoverTree, Distances) {
  for (std::uint64_t i = 0; i < 69; ++i) {
    double distance = 0;
    const std::uint64_t at = place(SectionId::cover_distances, i * 8);
    std::memcpy(&distance, bytes_.data() + at, 8);
    for (const double other : {std::nextafter(distance, 9.0), -distance - 1, std::nan(""), 1e300}) {
      expect_refused(with_value(bytes_, at, other), "node ");
    }
  }
  for (std::uint64_t i = 0; i < nodes_; ++i) {
    expect_refused(changed(i, [](Node& n) { n.reach = std::nextafter(n.reach, 1e9); }), "node ");
    expect_refused(changed(i, [](Node& n) { n.to_parent = std::nextafter(n.to_parent, 1e9); }), "node ");
  }
}

TEST_F(ForgedCoverTree, Order) {
  std::uint32_t first = 0;
  std::memcpy(&first, bytes_.data() + place(SectionId::cover_order, 0), 4);
  expect_refused(with_value(bytes_, place(SectionId::cover_order, 0), 69u), "there are only 69");
  expect_refused(with_value(bytes_, place(SectionId::cover_order, 4), first), "lies in two leaves");
}

/// What no search relies on is accepted, and told when it is asked for.
TEST_F(ForgedCoverTree, LevelsAreForTheCheck) {
  EXPECT_EQ(Index::from_bytes(bytes_, kOneThread).first_violation(), "");
  EXPECT_TRUE(refused_or_genuine(changed(0, [](Node& n) { n.level += 1; })));
  Bytes shifted = bytes_;
  for (std::uint64_t i = 0; i < nodes_; ++i) {
    Node node = this->node(i);
    node.level -= 3;
    std::memcpy(shifted.data() + place(SectionId::cover_nodes, i * sizeof node), &node, sizeof node);
  }
  sign_index(shifted);
  const std::string violation = Index::from_bytes(shifted, kOneThread).first_violation();
  EXPECT_NE(violation.find("covering"), std::string::npos) << violation;
  EXPECT_NE(violation.find("at distance"), std::string::npos) << violation;
}

TEST_F(ForgedCoverTree, Parameters) {
  const std::uint64_t leaf_size = offsetof(HeaderRecord, parameters);
  expect_refused(with_value(bytes_, leaf_size, 0u), "a leaf size of 0");
  expect_refused(with_value(bytes_, leaf_size, 1025u), "a leaf size of 1025");
  expect_refused(with_value(bytes_, leaf_size + 4, 2u), "no separation with the number 2");
  expect_refused(with_value(bytes_, leaf_size + 8, 1u), "engine parameter 2");
}

}  // namespace
}  // namespace kith::test
