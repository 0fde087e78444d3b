// The cover tree built by lists: what it promises, and what it does not.
#include "cpu/cover_tree/build_by_lists.hpp"

#include "engine/cover_tree/check_invariants.hpp"
#include "support/cover_build_check.hpp"
#include "support/plain_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename V>
std::optional<std::string> first_violation(const PlainSpace<V>& space, engine::CoverTree tree,
                                           engine::CoverSeparation separation) {
  tree.separation = separation;
  return engine::check_cover_invariants(tree, space.size(), space.rounding(), [&](std::uint32_t a, std::uint32_t b) {
    typename PlainSpace<V>::Query query;
    space.ask(query, a);
    V value;
    space.arrange(std::vector<std::uint32_t>{b}, 1).measure(query, 0, 1, 0, &value);
    return space.metric(value);
  });
}

/// Builds with 1 to 4 threads and checks all that is promised. Returns whether separation happens to be global.
template <typename V>
bool check_lists(const PlainSpace<V>& space, std::uint32_t leaf_size) {
  engine::CoverTree first;
  std::uint64_t first_evaluations = 0;
  for (int threads = 1; threads <= 4; ++threads) {
    std::uint64_t evaluations = 0;
    const engine::CoverTree tree = cpu::build_cover_tree_by_lists(
        space, {.leaf_size = leaf_size, .run = {.threads = threads}, .evaluations = &evaluations});
    if (threads == 1) {
      first = tree;
      first_evaluations = evaluations;
    }
    EXPECT_TRUE(same_bytes(first.nodes, tree.nodes)) << threads << " threads";
    EXPECT_TRUE(same_bytes(first.order, tree.order)) << threads << " threads";
    EXPECT_TRUE(same_bytes(first.distances, tree.distances)) << threads << " threads";
    EXPECT_EQ(first_evaluations, evaluations) << threads << " threads";
  }
  EXPECT_EQ(engine::CoverSeparation::siblings, first.separation);
  EXPECT_EQ(std::nullopt, first_violation(space, first, engine::CoverSeparation::siblings));
  return !first_violation(space, first, engine::CoverSeparation::global).has_value();
}

template <typename T>
std::vector<T> random_rows(std::uint32_t shape, std::uint32_t count, std::uint32_t dims, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double scale = shape == 1 ? std::exp2(-static_cast<double>(random() % 60)) : shape == 2 ? 0x1p62 : 1;
    for (std::uint32_t d = 0; d < dims; ++d) {
      rows.push_back(static_cast<T>(shape == 3 ? static_cast<double>(random() % 4) : scale * uniform(random)));
    }
  }
  return rows;
}

TEST(CoverTreeByLists, KeepsWhatItPromisesOnRandomVectors) {
  int not_global = 0;
  for (std::uint64_t seed = 0; seed < 48; ++seed) {
    std::mt19937_64 random(seed);
    const auto count = static_cast<std::uint32_t>(random() % (seed % 3 == 0 ? 20 : 400));
    const auto dims = static_cast<std::uint32_t>(1 + random() % 4);
    const auto leaf_size = static_cast<std::uint32_t>(1 + random() % 8);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << count << " x " << dims << ", leaf size "
                                    << leaf_size);
    const std::vector<float> floats = random_rows<float>(seed % 4, count, dims, random);
    not_global += !check_lists(vectors(floats, dims), leaf_size);
    const std::vector<double> doubles = random_rows<double>(seed % 4, count, dims, random);
    check_lists(vectors(doubles, dims), leaf_size);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(not_global, 0);
}

TEST(CoverTreeByLists, KeepsWhatItPromisesOnWholeNumbers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const PlainSpace<float> space = random_words_space(300, random);
    check_lists(space, static_cast<std::uint32_t>(1 + random() % 6));
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

// Lists do not know of each other, so centres of two of them may be too close for a level of the other tree.
TEST(CoverTreeByLists, SeparatesSiblingsOnly) {
  std::mt19937_64 random(1);
  const std::vector<float> rows = random_rows<float>(0, 2000, 2, random);
  const PlainSpace<float> space = vectors(rows, 2);
  const engine::CoverTree tree = cpu::build_cover_tree_by_lists(space, {.leaf_size = 4, .run = {.threads = 1}});
  EXPECT_EQ(std::nullopt, first_violation(space, tree, engine::CoverSeparation::siblings));
  const auto violation = first_violation(space, tree, engine::CoverSeparation::global);
  ASSERT_TRUE(violation.has_value());
  EXPECT_NE(std::string::npos, violation->find("separation: two centres of level")) << *violation;
}

// Long enough for several threads to measure one list.
TEST(CoverTreeByLists, LongListsAreTheSameForAllThreads) {
  std::mt19937_64 random(2);
  const std::vector<float> rows = random_rows<float>(0, 20000, 2, random);
  const PlainSpace<float> space = vectors(rows, 2);
  const engine::CoverTree one = cpu::build_cover_tree_by_lists(space, {.leaf_size = 32, .run = {.threads = 1}});
  const engine::CoverTree four = cpu::build_cover_tree_by_lists(space, {.leaf_size = 32, .run = {.threads = 4}});
  EXPECT_GT(one.nodes.size(), 100u);
  EXPECT_TRUE(same_bytes(one.nodes, four.nodes));
  EXPECT_TRUE(same_bytes(one.order, four.order));
  EXPECT_TRUE(same_bytes(one.distances, four.distances));
}

TEST(CoverTreeByLists, PowersOfTwoOnALine) {
  std::vector<float> rows;
  for (int i = -30; i <= 30; ++i) {
    for (int copy = 0; copy < 20; ++copy) rows.push_back(static_cast<float>(std::ldexp(1.0, i)));
  }
  for (const std::uint32_t leaf_size : {1u, 2u, 8u}) check_lists(vectors(rows, 1), leaf_size);
}

TEST(CoverTreeByLists, NoneOneTwoAndInfinitelyFar) {
  for (std::uint32_t count = 0; count <= 2; ++count) {
    const std::vector<float> rows(count, 3.0f);
    check_lists(vectors(rows, 1), 1);
  }
  const std::vector<float> far = {1.0f, 3e38f, -3e38f};
  const PlainSpace<float> space = vectors(far, 1);
  const engine::CoverTree tree = cpu::build_cover_tree_by_lists(space, {.leaf_size = 1, .run = {.threads = 1}});
  EXPECT_EQ(1u, tree.nodes.size());
}

TEST(CoverTreeByLists, AHundredThousandDuplicates) {
  std::vector<float> rows(100000, 7.0f);
  for (int i = 0; i < 40; ++i) rows[static_cast<std::size_t>(i) * 2500] = static_cast<float>(i);
  check_lists(vectors(rows, 1), 8);
}

}  // namespace
}  // namespace kith::test
