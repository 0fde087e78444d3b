// A space of the cover tree against a distance function that is slow and obvious.
#pragma once

#include "cpu/cover_tree/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {

/// The rows [first, first + count) of `order` from a query: what is up to the limit must be right, all else above it.
template <typename S, typename Expected>
void expect_measured(const typename S::Rows& rows, typename S::Query& query, std::uint32_t first, std::uint32_t count,
                     typename S::Value limit, const Expected& expected) {
  using Value = typename S::Value;
  constexpr Value kUntouched = -77;
  std::vector<Value> values(count + 2, kUntouched);
  rows.measure(query, first, count, limit, values.data() + 1);
  ASSERT_EQ(values.front(), kUntouched) << "first " << first << " count " << count;
  ASSERT_EQ(values.back(), kUntouched) << "first " << first << " count " << count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Value right = expected(first + i);
    if (right <= limit) {
      ASSERT_EQ(values[i + 1], right) << "first " << first << " count " << count << " i " << i << " limit " << limit;
    } else {
      ASSERT_GT(values[i + 1], limit) << "first " << first << " count " << count << " i " << i << " value " << right;
    }
  }
}

/// `value(a, b)` is the value of two objects, `value_outside(i, b)` that of outside[i] and an object.
template <typename S, typename Outside, typename Value, typename ValueOutside>
void check_space(const S& space, const std::vector<Outside>& outside, std::mt19937_64& random, const Value& value,
                 const ValueOutside& value_outside) {
  using V = typename S::Value;
  typename S::Query query;
  std::vector<std::uint32_t> order(space.size());
  for (std::uint32_t i = 0; i < space.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  if (!order.empty() && random() % 2 == 0) order[0] = order.back();  // twice the same is no problem
  const auto rows = space.arrange(order, static_cast<int>(1 + random() % 2));
  const auto n = static_cast<std::uint32_t>(order.size());
  for (int round = 0; round < 16 && n > 0; ++round) {
    const bool is_outside = !outside.empty() && random() % 2 == 0;
    const auto asked = static_cast<std::uint32_t>(random() % (is_outside ? outside.size() : n));
    if (is_outside) {
      space.ask_outside(query, outside[asked]);
    } else {
      space.ask(query, asked);
    }
    std::vector<V> right(n);
    for (std::uint32_t i = 0; i < n; ++i)
      right[i] = is_outside ? value_outside(asked, order[i]) : value(asked, order[i]);
    const auto expected = [&](std::uint32_t position) { return right[position]; };
    const auto first = static_cast<std::uint32_t>(random() % n);
    const std::uint32_t below = std::min(random() % 3 == 0 ? n + 1 : 9, n - first + 1);
    const auto count = static_cast<std::uint32_t>(random() % below);
    const V some = right[random() % n];
    const V limits[] = {std::numeric_limits<V>::infinity(), some, std::nextafter(some, V(0)), some / 2, V(0), V(-1)};
    for (const V limit : limits) {
      expect_measured<S>(rows, query, first, count, limit, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_measured<S>(rows, query, 0, n, limits[round % 6], expected);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace kith::test
