// The cover tree that is built against the one of the definition, node by node and byte by byte.
#include "cpu/cover_tree/build.hpp"

#include "support/cover_build_check.hpp"
#include "support/plain_space.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace kith::test {
namespace {

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
    const PlainSpace<float> space = random_words_space(1500, random);
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
  for (int i = 0; i < 40; ++i) rows[static_cast<std::size_t>(i) * (rows.size() / 40)] = static_cast<float>(i);
  ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 1), 8));
}

TEST(CoverTreeBuild, ManyThreadsOnManyObjects) {
  std::mt19937_64 random(5);
  const std::vector<float> rows = random_rows<float>(Shape::clusters, 4000, 4, random);
  ASSERT_NO_FATAL_FAILURE(check_space(vectors(rows, 4), 8, false));
}

}  // namespace
}  // namespace kith::test
