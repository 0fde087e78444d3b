// Searches for bits and vectors in a cover tree by the GPU's kernels, run on the host, give what plain sorting gives;
// approximate ones are near enough, and a tree saves work.
#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/spaces/vector_space.cuh"

#include "cuda/cover_tree/cover_case.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CoverSearch, BitsByHammingDistance) {
  for (std::uint64_t seed = 200; seed < 206; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    constexpr std::uint32_t kWords = 2;
    const auto count = static_cast<std::uint32_t>(1 + random() % 150);
    const std::uint32_t mask = random() % 2 == 0 ? 0xffffffff : 0x11;
    std::vector<std::uint32_t> objects, queries;
    for (std::uint32_t i = 0; i < count * kWords; ++i) {
      const bool is_copy = i >= kWords && random() % 3 == 0;
      objects.push_back(is_copy ? objects[i - kWords] : static_cast<std::uint32_t>(random()) & mask);
    }
    for (std::uint32_t i = 0; i < 12 * kWords; ++i) queries.push_back(static_cast<std::uint32_t>(random()) & mask);
    const auto distance = [](const std::uint32_t* a, const std::uint32_t* b) {
      int differ = 0;
      for (std::uint32_t w = 0; w < kWords; ++w) differ += std::popcount(a[w] ^ b[w]);
      return static_cast<float>(differ);
    };
    const CoverCase<cuda::BitSpace> c{
        .space = cuda::BitSpace(kWords),
        .objects = objects,
        .object_count = count,
        .queries = queries,
        .query_stride = kWords,
        .query_count = 12,
        .between = [&](std::uint32_t a,
                       std::uint32_t b) { return distance(&objects[a * kWords], &objects[b * kWords]); },
        .from_outside = [&](std::uint64_t q,
                            std::uint32_t i) { return distance(&queries[q * kWords], &objects[i * kWords]); }};
    expect_right_answers(c, random);
  }
}

template <typename T>
std::vector<std::uint32_t> words_of(const std::vector<T>& values) {
  std::vector<std::uint32_t> words(values.size() * sizeof(T) / 4);
  std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
  return words;
}

enum class Shape : std::uint8_t { clusters, line_of_powers, equal, huge, count_of_shapes };

template <typename T>
std::vector<T> random_vectors(std::mt19937_64& random, Shape shape, std::uint32_t count, std::uint32_t dims) {
  std::vector<T> values;
  std::normal_distribution<double> normal;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      double value = 0;
      if (shape == Shape::clusters) {
        value = 100.0 * static_cast<double>(random() % 5);
        value += normal(random);
      }
      if (shape == Shape::line_of_powers && d == 0) value = std::ldexp(1.0, static_cast<int>(random() % 80) - 40);
      if (shape == Shape::equal) value = random() % 50 == 0 ? 1.0 : 3.0;
      if (shape == Shape::huge) {
        const int exponent = static_cast<int>(random() % 2) * (sizeof(T) == 4 ? 100 : 800);
        value = std::ldexp(normal(random), exponent);
      }
      values.push_back(static_cast<T>(value));
    }
  }
  return values;
}

template <typename T>
void expect_vectors(std::uint64_t seed, Shape shape) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", shape " << static_cast<int>(shape));
  std::mt19937_64 random(seed);
  const auto dims = static_cast<std::uint32_t>(1 + random() % 9),
             count = static_cast<std::uint32_t>(1 + random() % 150);
  constexpr Metric::Kind kKinds[] = {Metric::Kind::l2, Metric::Kind::l1, Metric::Kind::linf};
  const Metric::Kind kind = kKinds[random() % std::size(kKinds)];
  const std::vector<T> points = random_vectors<T>(random, shape, count, dims);
  const std::vector<T> others = random_vectors<T>(random, shape, 12, dims);
  const auto value = [&](const T* a, const T* b) {
    T sum = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const T e = a[d] - b[d];
      if (kind == Metric::Kind::l2) sum = std::fma(e, e, sum);
      if (kind == Metric::Kind::l1) sum += std::fabs(e);
      if (kind == Metric::Kind::linf) sum = std::max(sum, std::fabs(e));
    }
    return sum;
  };
  const CoverCase<cuda::VectorSpace<T>> c{
      .space = cuda::VectorSpace<T>(dims, kind),
      .objects = words_of(points),
      .object_count = count,
      .queries = words_of(others),
      .query_stride = dims * static_cast<std::uint32_t>(sizeof(T) / 4),
      .query_count = 12,
      .between = [&](std::uint32_t a, std::uint32_t b) { return value(&points[a * dims], &points[b * dims]); },
      .from_outside = [&](std::uint64_t q, std::uint32_t i) { return value(&others[q * dims], &points[i * dims]); }};
  expect_right_answers(c, random);
}

TEST(CoverSearch, Vectors) {
  for (std::uint64_t seed = 300; seed < 304; ++seed) {
    const auto shape = static_cast<Shape>(seed % static_cast<std::uint64_t>(Shape::count_of_shapes));
    expect_vectors<float>(seed, shape);
    expect_vectors<double>(seed + 50, shape);
  }
}

/// With leave to miss something, what is found is near enough, and what is said to be exact is.
TEST(CoverSearch, ApproximateAnswersAreNearEnough) {
  std::mt19937_64 random(5);
  constexpr std::uint32_t kDims = 3, kCount = 250, kNeighbors = 4;
  const std::vector<float> points = random_vectors<float>(random, Shape::clusters, kCount, kDims);
  const std::vector<std::uint32_t> words = words_of(points);
  const auto value = [&](std::uint64_t a, std::uint32_t b) {
    float sum = 0;
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const float e = points[a * kDims + d] - points[b * kDims + d];
      sum = std::fma(e, e, sum);
    }
    return sum;
  };
  const cuda::VectorSpace<float> space(kDims, Metric::Kind::l2);
  const engine::CoverTree tree =
      CoverOracle(kCount, 8, space.rounding(), 0x1p62, [&](std::uint32_t a, std::uint32_t b) {
        return space.metric(value(a, b));
      }).build();
  const EmulatedCover cover(tree, words, kDims, true);
  CoverRequest<cuda::VectorSpace<float>> request{.space = space, .cover = cover, .count = kCount};
  const auto exact = emulated_knn(request, kNeighbors, static_cast<float>(kInfinity));
  const std::uint64_t exact_evaluations = request.evaluations;
  request.evaluations = 0;
  constexpr float kShrink = 1 / 9.0f;  // eps 2
  const auto rough = emulated_knn(request, kNeighbors, static_cast<float>(kInfinity), kShrink);
  EXPECT_LT(request.evaluations, exact_evaluations);
  for (std::uint32_t q = 0; q < kCount; ++q) {
    for (std::uint32_t j = 0; j < kNeighbors; ++j) {
      const std::size_t at = q * kNeighbors + j;
      EXPECT_LE(rough.reduced[at] * kShrink, exact.reduced[at] * 1.001f);
      if (rough.exact[q] != 0) {
        EXPECT_EQ(rough.indices[at], exact.indices[at]);
      }
    }
  }
}

/// A tree saves work: a query does not measure most objects of other clusters.
TEST(CoverSearch, MostObjectsAreNotMeasured) {
  std::mt19937_64 random(6);
  constexpr std::uint32_t kWords = 8, kCount = 400;
  std::vector<std::uint32_t> centres(20 * kWords), objects;
  for (std::uint32_t& word : centres) word = static_cast<std::uint32_t>(random());
  for (std::uint32_t i = 0; i < kCount; ++i) {
    for (std::uint32_t w = 0; w < kWords; ++w) {
      objects.push_back(centres[i % 20 * kWords + w] ^ (1u << random() % 32 & 1u << random() % 32));
    }
  }
  const auto distance = [&](std::uint32_t a, std::uint32_t b) {
    int differ = 0;
    for (std::uint32_t w = 0; w < kWords; ++w)
      differ += std::popcount(objects[a * kWords + w] ^ objects[b * kWords + w]);
    return differ;
  };
  const engine::CoverTree tree = CoverOracle(kCount, 16, {}, 0x1p62, distance).build();
  const EmulatedCover cover(tree, objects, kWords, true);
  CoverRequest<cuda::BitSpace> request{.space = cuda::BitSpace(kWords), .cover = cover, .count = kCount};
  emulated_knn(request, 5, static_cast<float>(kInfinity));
  EXPECT_LT(request.evaluations, std::uint64_t{kCount} * 160);
}

/// A part of a self-search: the objects of some numbers ask, and answers begin at row 0.
TEST(CoverSearch, PartsOfASelfSearch) {
  std::mt19937_64 random(8);
  constexpr std::uint32_t kCount = 170, kFirst = 33, kEnd = 100, kNeighbors = 3;
  std::vector<std::uint32_t> objects(kCount);
  for (std::uint32_t& word : objects) word = static_cast<std::uint32_t>(random());
  const auto distance = [&](std::uint64_t a, std::uint32_t b) {
    return static_cast<float>(std::popcount(objects[a] ^ objects[b]));
  };
  const engine::CoverTree tree = CoverOracle(kCount, 4, {}, 0x1p62, distance).build();
  const EmulatedCover cover(tree, objects, 1, true);
  std::vector<std::uint32_t> chosen(kEnd - kFirst), indices(chosen.size() * kNeighbors);
  std::vector<float> reduced(indices.size());
  std::uint32_t chosen_count = 0;
  cuda::launch_choose_positions(cover.tree(), kFirst, kEnd, chosen.data(), &chosen_count, kCoverLaunch);
  ASSERT_EQ(chosen_count, chosen.size());
  const cuda::CoverKnnTask<cuda::BitSpace> task{
      .space = cuda::BitSpace(1),
      .tree = cover.tree(),
      .request = {.filter = {.exclude_self = true},
                  .queries = {.count = chosen.size(), .chosen = chosen.data(), .first = kFirst},
                  .k = kNeighbors,
                  .bound = static_cast<float>(kInfinity),
                  .answer = {indices.data(), reduced.data()}}};
  cuda::launch_cover_knn(task, cuda::plan_search(task, {.processors = 1}), nullptr, kCoverLaunch);
  const PlainCover<float> plain(kCount, kCount, distance);
  const auto all = plain.knn({.exclude_self = true}, kNeighbors, static_cast<float>(kInfinity), nullptr);
  for (std::uint32_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(indices[i], all.indices[kFirst * kNeighbors + i]);
    EXPECT_EQ(reduced[i], all.reduced[kFirst * kNeighbors + i]);
  }
}

}  // namespace
}  // namespace kith::test
