// Conditions on columns, and rows at random.
#include <kith/apps/select_rows.hpp>

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kith::apps {
namespace {

using Rows = std::vector<std::uint32_t>;

io::Table some_rows() {
  const std::vector<double> x = {0, 1, 2, std::nan(""), -4};
  const std::vector<std::uint8_t> red = {0, 10, 200, 255, 7};
  io::TextValues names;
  for (const char* name : {"car", "man", "car", "", "bus stop"}) names.push_back(name);
  io::Table table;
  table.named = true;
  table.columns.emplace_back("x", std::span<const double>(x));
  table.columns.emplace_back("red", std::span<const std::uint8_t>(red));
  table.columns.emplace_back("label", std::move(names));
  table.columns.emplace_back("mean distance", std::span<const double>(x));
  return table;
}

std::string fault_of(const std::string& condition) {
  try {
    rows_where(some_rows(), condition);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown: " << condition;
  return "";
}

TEST(RowsWhere, ComparesComputesAndJoins) {
  const io::Table table = some_rows();
  const std::vector<std::pair<std::string, Rows>> cases = {
      {"x < 1.5", {0, 1, 4}},
      {"x >= 1", {1, 2}},
      {"x == 2", {2}},
      {"x != 2", {0, 1, 3, 4}},  // NaN differs from everything
      {"not x < 1.5", {2, 3}},
      {"isnan(x)", {3}},
      {"isfinite(x) and x > 0", {1, 2}},
      {"abs(x) > 1", {2, 4}},
      {"x * 2 + 1 > 2", {1, 2}},
      {"2 - 1 - 1 == x", {0}},
      {"x / 2 == 1", {2}},
      {"-x > 3", {4}},
      {"- -x == 1", {1}},
      {"max(x, red) > 100", {2}},  // NaN stays NaN
      {"max(red, x) > 100", {2}},
      {"min(x, 0) < 0 or red == 10", {1, 4}},
      {"x == 1 or x == 2 and red < 100", {1}},  // and binds more tightly
      {"(x == 1 or x == 2) and red > 100", {2}},
      {"label == 'car'", {0, 2}},
      {"label != \"car\" and x < 2", {1, 4}},
      {"label == ''", {3}},
      {"'bus stop' == label", {4}},
      {"row >= 3", {3, 4}},
      {"RED == 255", {3}},
      {"`mean distance` == 1", {1}},
      {"sqrt(x) > 1.4", {2}},
      {"floor(red / 100) == 2", {2, 3}},
      {"x<1.5 and red>5", {1, 4}},
      {"1e0 == x", {1}},
  };
  for (const auto& [condition, rows] : cases) EXPECT_EQ(rows_where(table, condition), rows) << condition;
}

TEST(RowsWhere, FaultsPointIntoTheCondition) {
  EXPECT_NE(fault_of("x < 1 and speed > 2")
                .find("at character 11, \"speed > 2\": there is no column \"speed\"; there are "
                      "x, red, label, mean distance"),
            std::string::npos);
  EXPECT_NE(fault_of("x = 1").find("write == to compare"), std::string::npos);
  EXPECT_NE(fault_of("x < 1 && x > 0").find("write and, or, not"), std::string::npos);
  EXPECT_NE(fault_of("x <").find("ends too early"), std::string::npos);
  EXPECT_NE(fault_of("").find("ends too early"), std::string::npos);
  EXPECT_NE(fault_of("(x < 1").find("the bracket opened at character 1 is not closed"), std::string::npos);
  EXPECT_NE(fault_of("x < 1)").find("at character 6"), std::string::npos);
  EXPECT_NE(fault_of("label < 'a'").find("by == and != only"), std::string::npos);
  EXPECT_NE(fault_of("label == 3").find("the column label is text, a number is a number"), std::string::npos);
  EXPECT_NE(fault_of("x == 'car'").find("cannot be compared"), std::string::npos);
  EXPECT_NE(fault_of("label + 1 > 0").find("the column label is text, a number is needed"), std::string::npos);
  EXPECT_NE(fault_of("x").find("neither true nor false"), std::string::npos);
  EXPECT_NE(fault_of("x and 1 < 2").find("neither true nor false"), std::string::npos);
  EXPECT_NE(fault_of("(x < 1) + 1 > 0").find("true or false, a number is needed"), std::string::npos);
  EXPECT_NE(fault_of("sin(x) > 0").find("functions are abs"), std::string::npos);
  EXPECT_NE(fault_of("abs(x, 1) > 0").find("abs takes 1"), std::string::npos);
  EXPECT_NE(fault_of("label == 'car").find("the text has no end"), std::string::npos);
  EXPECT_NE(fault_of("x < 1.2.3").find("not a number"), std::string::npos);
  EXPECT_NE(fault_of("x ? 1").find("means nothing here"), std::string::npos);
  EXPECT_NE(fault_of(std::string(100000, '(')).find("too many brackets"), std::string::npos);
  EXPECT_NE(fault_of(std::string(100000, '-') + "1 > 0").find("too many brackets"), std::string::npos);
}

TEST(RandomRows, AreTheSameOnEveryMachine) {
  EXPECT_EQ(random_rows(10, 4, 1), random_rows(10, 4, 1));
  EXPECT_EQ(random_rows(3, 5, 1), (Rows{0, 1, 2}));
  EXPECT_EQ(random_rows(0, 5, 1), Rows{});
  EXPECT_EQ(random_rows(5, 0, 1), Rows{});
  const Rows some = random_rows(100000, 5000, 42);
  ASSERT_EQ(some.size(), 5000u);
  EXPECT_TRUE(std::ranges::is_sorted(some));
  EXPECT_EQ(std::ranges::adjacent_find(some), some.end());
  EXPECT_NE(some, random_rows(100000, 5000, 43));
  const auto low = std::ranges::count_if(some, [](std::uint32_t row) { return row < 50000; });
  EXPECT_NEAR(static_cast<double>(low), 2500, 200);
}

}  // namespace
}  // namespace kith::apps
