// Cover trees over the spaces that are searched, against the definition.
#include "cpu/cover_tree/edit_space.hpp"
#include "cpu/cover_tree/jaccard_space.hpp"
#include "cpu/cover_tree/vector_space.hpp"
#include "support/cover_build_check.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace kith::test {
namespace {

/// Rows in blocks, values above a limit that are not exact.
TEST(CoverTreeBuildOverSpaces, VectorsAsDefined) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t dims = seed % 2 == 0 ? 5 : 70;
    const auto shape = static_cast<Shape>(seed % 3);
    const Metric metric = seed % 4 == 0 ? Metric::l1() : seed % 4 == 1 ? Metric::linf() : Metric::l2();
    const std::vector<float> floats = random_rows<float>(shape, 900, dims, random);
    ASSERT_NO_FATAL_FAILURE(check_space(cpu::VectorSpace<float>(floats.data(), 900, dims, metric), 8));
    const std::vector<double> doubles = random_rows<double>(shape, 500, dims, random);
    ASSERT_NO_FATAL_FAILURE(check_space(cpu::VectorSpace<double>(doubles.data(), 500, dims, metric), 8));
  }
}

/// Long rows are measured where they lie, and owners tell which of them need not be. Enough objects that they do.
TEST(CoverTreeBuildOverSpaces, LongVectorsAsDefined) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto shape = static_cast<Shape>(seed);
    const Metric metric = seed == 2 ? Metric::l1() : seed == 4 ? Metric::linf() : Metric::l2();
    const std::vector<float> floats = random_rows<float>(shape, 900, 50, random);
    ASSERT_TRUE(cpu::VectorSpace<float>(floats.data(), 900, 50, metric).prefers_few());
    ASSERT_NO_FATAL_FAILURE(check_space(cpu::VectorSpace<float>(floats.data(), 900, 50, metric), 8));
    const std::vector<double> doubles = random_rows<double>(shape, 900, 25, random);
    ASSERT_NO_FATAL_FAILURE(check_space(cpu::VectorSpace<double>(doubles.data(), 900, 25, metric), 8));
  }
}

TEST(CoverTreeBuildOverSpaces, SequencesAsDefined) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> items;
    std::vector<std::uint64_t> offsets = {0};
    for (int i = 0; i < 1500; ++i) {
      std::uint32_t item = 0;
      for (std::uint64_t length = random() % 9; length-- > 0;) {
        item = seed % 2 == 0 ? static_cast<std::uint32_t>(random() % 4)
                             : item + 1 + static_cast<std::uint32_t>(random() % 4);
        items.push_back(item);
      }
      offsets.push_back(items.size());
    }
    const engine::SequenceRows sequences = {items.data(), offsets.data(), offsets.size() - 1};
    if (seed % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(check_space(cpu::EditSpace(sequences), 4));
    } else {
      ASSERT_NO_FATAL_FAILURE(check_space(cpu::JaccardSpace(sequences), 4));
    }
  }
}

}  // namespace
}  // namespace kith::test
