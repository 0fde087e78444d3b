// Random requests to a cover tree that the GPU's kernels search, run on the host, with all filters and bounds; plain
// sorting knows the answers.
#pragma once

#include "cuda/cover_tree/emulated_cover.hpp"
#include "engine/cover_tree/one_leaf.hpp"
#include "support/cover_oracle.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {

/// Objects and queries as rows of words, and what lies between them.
template <typename Space>
struct CoverCase {
  using T = typename Space::Value;

  Space space;
  std::vector<std::uint32_t> objects;
  std::uint32_t object_count = 0;
  std::vector<std::uint32_t> queries;
  std::uint32_t query_stride = 0;
  std::uint64_t query_count = 0;
  std::function<T(std::uint32_t, std::uint32_t)> between;       ///< objects
  std::function<T(std::uint64_t, std::uint32_t)> from_outside;  ///< a query and an object

  engine::CoverTree tree(std::uint32_t leaf_size) const {
    return CoverOracle(object_count, leaf_size, space.rounding(), sizeof(T) == 4 ? 0x1p62 : 0x1p510,
                       [&](std::uint32_t a, std::uint32_t b) { return space.metric(between(a, b)); })
        .build();
  }
};

template <typename Space>
void expect_right_answers(const CoverCase<Space>& c, std::mt19937_64& random, bool is_one_leaf,
                          std::uint32_t leaf_size) {
  using T = typename Space::Value;
  const engine::CoverTree tree = is_one_leaf ? engine::one_leaf_tree(c.object_count) : c.tree(leaf_size);
  const EmulatedCover cover(tree, c.objects, c.space.stride(), !is_one_leaf, cuda::HeadedSpace<Space>);
  const bool is_self = random() % 2 == 0;
  CoverRequest<Space> request{.space = c.space, .cover = cover, .count = is_self ? c.object_count : c.query_count};
  if (!is_self) {
    request.query_rows = c.queries;
    request.query_stride = c.query_stride;
  }
  const auto value = [&](std::uint64_t q, std::uint32_t i) {
    return is_self ? c.between(static_cast<std::uint32_t>(q), i) : c.from_outside(q, i);
  };
  const PlainCover<T> plain(request.count, c.object_count, value);

  std::vector<std::uint32_t> below;
  std::vector<std::uint64_t> allowed;
  if (is_self) {
    request.filter.exclude_self = random() % 2 == 0;
    request.filter.earlier_only = random() % 4 == 0;
  } else if (random() % 4 == 0) {
    for (std::uint64_t q = 0; q < request.count; ++q) {
      below.push_back(static_cast<std::uint32_t>(random() % (c.object_count + 2)));
    }
    request.filter.below = below.data();
  }
  if (random() % 4 == 0) {
    allowed.resize(c.object_count / 64 + 1);
    for (std::uint64_t& word : allowed) word = random() & random();
    request.filter.allowed = allowed.data();
  }
  const auto some_value = [&] {
    const std::uint64_t query = random() % request.count;
    return value(query, static_cast<std::uint32_t>(random() % c.object_count));
  };
  std::vector<T> bounds;
  if (random() % 3 == 0) {
    for (std::uint64_t q = 0; q < request.count; ++q) bounds.push_back(random() % 8 == 0 ? T(-1) : some_value() / 2);
    request.bounds = bounds.data();
  }

  constexpr std::uint32_t kSizes[] = {1, 3, 5, 10, 32, 33, 100, 700};
  const std::uint32_t k = kSizes[random() % std::size(kSizes)];
  const T bound = random() % 3 == 0 ? some_value() : std::numeric_limits<T>::infinity();
  SCOPED_TRACE(testing::Message() << (is_self ? "own queries, k " : "other queries, k ") << k << ", bound " << bound);
  const CoverAnswers<T> found = emulated_knn(request, k, bound);
  EXPECT_EQ(found, plain.knn(request.filter, k, bound, request.bounds));
  EXPECT_EQ(found.exact, std::vector<std::uint8_t>(request.count, 1));
  EXPECT_LE(request.evaluations, request.count * (2 * c.object_count + 2 * tree.nodes.size()));

  const T radius = random() % 2 == 0 ? some_value() : some_value() / 3;
  EXPECT_EQ(emulated_radius(request, radius), plain.radius(request.filter, radius, request.bounds));
}

template <typename Space>
void expect_right_answers(const CoverCase<Space>& c, std::mt19937_64& random) {
  const std::uint64_t largest_leaf = random() % 2 == 0 ? 4 : 40;
  const auto leaf_size = static_cast<std::uint32_t>(1 + random() % largest_leaf);
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(testing::Message() << "leaves of " << leaf_size << ", request " << i);
    expect_right_answers(c, random, i == 2, leaf_size);
  }
}

}  // namespace kith::test
