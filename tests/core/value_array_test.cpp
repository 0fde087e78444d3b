// Arrays of results: as many values as they were made with, copied as values and moved as memory.
#include <kith/value_array.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

TEST(ValueArray, TakesValuesOfVectorsSpansAndLists) {
  const std::vector<std::uint32_t> three{7, 8, 9};
  const ValueArray<std::uint32_t> of_vector(three), of_span(std::span<const std::uint32_t>(three).last(2)),
      of_list{7, 8, 9};
  EXPECT_EQ(of_vector, of_list);
  EXPECT_EQ(of_span.size(), 2u);
  EXPECT_EQ(of_span[1], 9u);
  EXPECT_FALSE(of_span == of_list);
  EXPECT_EQ(ValueArray<float>().size(), 0u);
  EXPECT_EQ(ValueArray<float>(), ValueArray<float>(0));
}

TEST(ValueArray, CopiesAreOthersAndMovesTheSame) {
  ValueArray<double> first(1000);
  const std::span<double> values = first;
  std::iota(values.begin(), values.end(), 0.5);
  const ValueArray<double> copy = first;
  EXPECT_NE(copy.data(), first.data());
  EXPECT_EQ(copy, first);
  ValueArray<double> moved = std::move(first);
  EXPECT_EQ(moved.data(), values.data());
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): that is promised
  first = copy;
  EXPECT_EQ(first, moved);
  moved = ValueArray<double>{1};
  EXPECT_EQ(moved.size(), 1u);
  first = std::move(moved);
  EXPECT_EQ(first[0], 1);
}

}  // namespace
}  // namespace kith::test
