// Builds of cover trees, compared with the definition byte by byte, and rows to build them of.
#pragma once

#include "cpu/cover_tree/build.hpp"
#include "engine/cover_tree/check_invariants.hpp"
#include "support/cover_oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::test {

template <typename T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

inline void expect_same_tree(const engine::CoverTree& expected, const engine::CoverTree& tree) {
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
template <cpu::Space S>
void check_space(const S& space, std::uint32_t leaf_size, bool by_definition = true) {
  using Value = typename S::Value;
  std::vector<std::uint32_t> numbers(space.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  const typename S::Rows rows = space.arrange(numbers, 1);
  typename S::Query query;
  const auto metric = [&](std::uint32_t a, std::uint32_t b) {
    space.ask(query, a);
    Value value;
    rows.measure(query, b, 1, std::numeric_limits<Value>::infinity(), &value);
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
      const double most = std::is_same_v<Value, float> ? 0x1p62 : 0x1p510;
      expected = by_definition ? CoverOracle(space.size(), leaf_size, space.rounding(), most, metric).build() : tree;
      first_evaluations = evaluations;
      const auto violation = engine::check_cover_invariants(tree, space.size(), space.rounding(), metric);
      ASSERT_FALSE(violation.has_value()) << *violation;
    }
    ASSERT_NO_FATAL_FAILURE(expect_same_tree(expected, tree));
    EXPECT_EQ(first_evaluations, evaluations);
  }
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

}  // namespace kith::test
