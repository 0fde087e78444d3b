// The cover tree that is built against the one of the definition, node by node and byte by byte.
#include "cpu/cover_tree/build.hpp"

#include "engine/cover_tree/check_invariants.hpp"
#include "support/cover_oracle.hpp"
#include "support/plain_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

void expect_same_tree(const engine::CoverTree& expected, const engine::CoverTree& tree) {
  ASSERT_EQ(expected.nodes.size(), tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const engine::CoverNode &a = expected.nodes[i], &b = tree.nodes[i];
    ASSERT_TRUE(std::memcmp(&a, &b, sizeof(a)) == 0)
        << "node " << i << ": centre " << a.centre << ", " << b.centre << "; parent " << a.parent << ", " << b.parent
        << "; level " << a.level << ", " << b.level << "; objects " << a.first << "+" << a.count << ", " << b.first
        << "+" << b.count << "; reach " << a.reach << ", " << b.reach << "; children " << a.children << ", "
        << b.children;
  }
  EXPECT_TRUE(same_bytes(expected.order, tree.order));
  EXPECT_TRUE(same_bytes(expected.distances, tree.distances));
}

/// Builds by the definition (where there are not too many objects) and by the builder with 1 to 4 threads.
template <typename V>
void check_space(const PlainSpace<V>& space, std::uint32_t leaf_size, bool by_definition = true) {
  const auto metric = [&](std::uint32_t a, std::uint32_t b) {
    typename PlainSpace<V>::Query query;
    space.ask(query, a);
    V value;
    space.arrange(std::vector<std::uint32_t>{b}, 1).measure(query, 0, 1, 0, &value);
    return space.metric(value);
  };
  engine::CoverTree expected;
  std::uint64_t first_evaluations = 0;
  for (int threads = 1; threads <= 4; ++threads) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    std::uint64_t evaluations = 0;
    const engine::CoverTree tree = cpu::build_cover_tree(
        space, {.leaf_size = leaf_size, .run = {.threads = threads}, .evaluations = &evaluations});
    if (threads == 1) {
      const double most = std::is_same_v<V, float> ? 0x1p62 : 0x1p510;
      expected = by_definition ? CoverOracle(space.size(), leaf_size, space.rounding(), most, metric).build() : tree;
      first_evaluations = evaluations;
      const auto violation = engine::check_cover_invariants(tree, space.size(), space.rounding(), metric);
      ASSERT_FALSE(violation.has_value()) << *violation;
    }
    ASSERT_NO_FATAL_FAILURE(expect_same_tree(expected, tree));
    EXPECT_EQ(first_evaluations, evaluations);
  }
}

/// Rows with the chain of L2.
template <typename T>
PlainSpace<T> vectors(const std::vector<T>& rows, std::uint32_t dims) {
  return PlainSpace<T>(
      static_cast<std::uint32_t>(rows.size() / dims),
      [&rows, dims](std::uint32_t a, std::uint32_t b) {
        T sum = 0;
        for (std::uint32_t d = 0; d < dims; ++d) {
          const T e = rows[a * dims + d] - rows[b * dims + d];
          sum = std::fma(e, e, sum);
        }
        return sum;
      },
      core::chain_rounding<T>(dims), true);
}

enum class Shape { uniform, clusters, grid, line, duplicates, tiny, huge, spread };

template <typename T>
std::vector<T> random_rows(Shape shape, std::uint32_t count, std::uint32_t dims, std::mt19937_64& random) {
  std::vector<T> rows(std::size_t{count} * dims);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal;
  std::vector<double> centres(std::size_t{8} * dims);
  for (double& x : centres) x = uniform(random);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t cluster = random() % 8;
    const double scale = std::exp2(-static_cast<double>(random() % 100));
    for (std::uint32_t d = 0; d < dims; ++d) {
      double x = uniform(random);
      switch (shape) {
        case Shape::uniform:
          break;
        case Shape::clusters:
          x = centres[cluster * dims + d] + 0.02 * normal(random);
          break;
        case Shape::grid:
          x = static_cast<double>(random() % 5);
          break;
        case Shape::line:
          x = d == 0 ? static_cast<double>(i) : 0;
          break;
        case Shape::duplicates:
          x = centres[cluster * dims + d];
          break;
        case Shape::tiny:
          x *= std::is_same_v<T, float> ? 0x1p-70 : 0x1p-530;
          break;
        case Shape::huge:
          x *= std::is_same_v<T, float> ? 0x1p62 : 0x1p510;
          break;
        case Shape::spread:
          x *= scale;
          break;
      }
      rows[std::size_t{i} * dims + d] = static_cast<T>(x);
    }
  }
  return rows;
}

template <typename T>
void check_random_vectors(std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<Shape>(seed % 8);
    const auto count = static_cast<std::uint32_t>(random() % (seed % 3 == 0 ? 60 : 1000));
    const auto dims = static_cast<std::uint32_t>(1 + random() % (seed % 2 == 0 ? 3 : 20));
    const auto leaf_size = static_cast<std::uint32_t>(1 + random() % 12);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": shape " << static_cast<int>(shape) << ", " << count
                                    << " x " << dims << ", leaf size " << leaf_size);
    const std::vector<T> rows = random_rows<T>(shape, count, dims, random);
    ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, dims), leaf_size));
  }
}

TEST(CoverTreeBuild, VectorsOfFloatsAsDefined) { check_random_vectors<float>(64); }
TEST(CoverTreeBuild, VectorsOfDoublesAsDefined) { check_random_vectors<double>(40); }

TEST(CoverTreeBuild, WholeNumbersWithManyTies) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> words(1 + random() % 1500);
    const std::uint64_t mask = (std::uint64_t{1} << (2 + random() % 14)) - 1;
    for (auto& word : words) word = random() & mask;
    const PlainSpace<float> space(
        static_cast<std::uint32_t>(words.size()),
        [&](std::uint32_t a, std::uint32_t b) { return static_cast<float>(__builtin_popcountll(words[a] ^ words[b])); },
        {}, false);
    ASSERT_NO_FATAL_FAILURE(check_space(space, static_cast<std::uint32_t>(1 + random() % 6)));
  }
}

/// Enough new centres on a level for objects to be sorted again while they are chosen.
TEST(CoverTreeBuild, ManyCentresOfOneLevel) {
  std::mt19937_64 random(3);
  const std::vector<float> rows = random_rows<float>(Shape::uniform, 2000, 6, random);
  ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 6), 4));
  for (const int width : {32, 48}) {
    std::vector<std::uint64_t> words(4000);
    for (auto& word : words) word = random() & (width == 32 ? random() : ~0ull) & ((1ull << width) - 1);
    const PlainSpace<float> bits(
        static_cast<std::uint32_t>(words.size()),
        [&](std::uint32_t a, std::uint32_t b) { return static_cast<float>(__builtin_popcountll(words[a] ^ words[b])); },
        {}, false);
    ASSERT_NO_FATAL_FAILURE(check_space(bits, 4));
  }
}

TEST(CoverTreeBuild, PowersOfTwoOnALine) {
  std::vector<float> rows;
  for (int i = -30; i <= 30; ++i) rows.insert(rows.end(), 20, static_cast<float>(std::ldexp(1.0, i)));
  for (const std::uint32_t leaf_size : {1u, 2u, 8u}) {
    ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 1), leaf_size));
  }
}

TEST(CoverTreeBuild, NoneOneAndTwo) {
  for (std::uint32_t count = 0; count <= 2; ++count) {
    const std::vector<float> rows(count, 3.0f), others = {1.0f, 2.0f};
    ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 1), 1));
    ASSERT_NO_FATAL_FAILURE(check_space(vectors(others, 1), 1));
  }
}

TEST(CoverTreeBuild, AHundredThousandDuplicates) {
  std::vector<float> rows(100000, 7.0f);
  ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 1), 32));  // one leaf
  for (int i = 0; i < 40; ++i) rows[static_cast<std::size_t>(i) * 2500] = static_cast<float>(i);
  ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 1), 8));
}

TEST(CoverTreeBuild, ManyThreadsOnManyObjects) {
  std::mt19937_64 random(5);
  const std::vector<float> rows = random_rows<float>(Shape::clusters, 4000, 4, random);
  ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 4), 8, false));
}

}  // namespace
}  // namespace kith::test
