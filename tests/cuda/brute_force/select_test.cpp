// The k least of rows, selected by the GPU's kernels on the host, against sorting.
#include "cuda/brute_force/select/select_steps.cuh"

#include "cuda/emulation/grid.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::cuda {
namespace {

constexpr std::uint32_t kProcessors = 2;
constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            auto... arguments) {
  ASSERT_LE(shared_bytes, 48u << 10);
  emulation::run_grid(std::min(blocks, 3u), threads, shared_bytes, emulation::Residence::one_by_one,
                      [&] { kernel(arguments...); });
};

/// How the reduced distances of a row are spread.
enum class Spread : std::uint8_t { uniform, octaves, tied, equal, with_none, infinite, negative, both_signs };
constexpr Spread kSpreads[] = {Spread::uniform,   Spread::octaves,  Spread::tied,     Spread::equal,
                               Spread::with_none, Spread::infinite, Spread::negative, Spread::both_signs};

template <typename T>
Entry<T> random_entry(std::mt19937_64& random, Spread spread, std::uint32_t number) {
  const T unit = static_cast<T>(random() % 1000003) / T(1000003);
  switch (spread) {
    case Spread::uniform:
      return {unit, number};
    case Spread::octaves:
      return {std::ldexp(unit, static_cast<int>(random() % 200) - 100), number};
    case Spread::tied:
      return {static_cast<T>(random() % 3), number};
    case Spread::equal:
      return {T(0.5), number};
    case Spread::with_none:
      return random() % 4 == 0 ? Entry<T>(unit, number) : Entry<T>::none();
    case Spread::negative:
      return {-std::ldexp(unit, static_cast<int>(random() % 40) - 20) - T(1e-9), number};
    case Spread::both_signs: {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      const T reduced[] = {-kInfinity, -unit - 1, -std::numeric_limits<T>::denorm_min(), 0, unit, kInfinity};
      return {reduced[random() % 6], number};
    }
    case Spread::infinite:
      break;
  }
  return {random() % 2 == 0 ? std::numeric_limits<T>::infinity() : T(0), number};
}

/// A row of entries with different numbers, some of them huge, in no order.
template <typename T>
std::vector<Entry<T>> random_row(std::mt19937_64& random, Spread spread, std::uint32_t length) {
  std::vector<Entry<T>> row;
  const std::uint32_t step = random() % 2 == 0 ? 1 : 0xfffffff0u / (length + 1);
  for (std::uint32_t i = 0; i < length; ++i) row.push_back(random_entry<T>(random, spread, i * step));
  std::shuffle(row.begin(), row.end(), random);
  return row;
}

/// The least `k` without none, by sorting.
template <typename T>
std::vector<Entry<T>> expected_of(std::vector<Entry<T>> row, std::uint32_t k) {
  std::erase_if(row, [](const Entry<T>& entry) { return entry.is_none(); });
  std::sort(row.begin(), row.end());
  if (row.size() > k) row.resize(k);
  return row;
}

/// Rows side by side, and all that a task needs.
template <typename T>
struct Rows {
  std::vector<std::vector<Entry<T>>> rows;
  std::uint32_t capacity = 0;
  std::vector<Entry<T>> entries;
  std::vector<std::uint32_t> counts;
  std::vector<Entry<T>> limits;

  explicit Rows(std::vector<std::vector<Entry<T>>> given) : rows(std::move(given)) {
    for (const auto& row : rows) capacity = std::max(capacity, static_cast<std::uint32_t>(row.size()));
    capacity += 3;
    entries.assign(std::size_t{capacity} * rows.size(), Entry<T>(T(0), 0));  // what is behind the end must not be seen
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy(rows[i].begin(), rows[i].end(), entries.begin() + static_cast<std::ptrdiff_t>(i * capacity));
      counts.push_back(static_cast<std::uint32_t>(rows[i].size()));
    }
    limits.assign(rows.size(), Entry<T>::none());
  }

  SelectTask<T> task(SelectGoal goal, std::uint32_t k) {
    SelectTask<T> task;
    task.goal = goal;
    task.k = k;
    task.entries = entries.data();
    task.rows = rows.size();
    task.capacity = capacity;
    task.counts = counts.data();
    task.limits = limits.data();
    return task;
  }

  std::vector<Entry<T>> front(std::size_t row) const {
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(row * capacity);
    std::vector<Entry<T>> front(begin, begin + std::min(counts[row], capacity));
    std::sort(front.begin(), front.end());
    return front;
  }
};

template <typename T>
void expect_cut(Rows<T> rows, std::uint32_t k, SelectStrategy strategy) {
  launch_select(rows.task(SelectGoal::cut, k), strategy, kProcessors, kLaunch);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const std::vector<Entry<T>> expected = expected_of(rows.rows[i], k);
    ASSERT_EQ(rows.counts[i], expected.size()) << "row " << i << " of " << rows.rows[i].size();
    ASSERT_TRUE(rows.front(i) == expected) << "row " << i << " of " << rows.rows[i].size();
    ASSERT_TRUE(rows.limits[i] == (expected.size() == k ? expected.back() : Entry<T>::none())) << "row " << i;
  }
}

template <typename T>
void expect_finish(Rows<T> rows, std::uint32_t k, SelectStrategy strategy) {
  constexpr std::uint32_t kMissing = 77;
  // Row i is answered in row 2 * i + 1; the others stay as they are.
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < rows.rows.size(); ++i) chosen.push_back(2 * i + 1);
  std::vector<std::uint32_t> indices(rows.rows.size() * 2 * k, 0xdeadbeef);
  std::vector<T> reduced(rows.rows.size() * 2 * k, T(-1));
  SelectTask<T> task = rows.task(SelectGoal::finish, k);
  task.chosen = chosen.data();
  task.answer = {indices.data(), reduced.data()};
  task.missing = kMissing;
  launch_select(task, strategy, kProcessors, kLaunch);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const std::vector<Entry<T>> expected = expected_of(rows.rows[i], k);
    for (std::uint32_t j = 0; j < k; ++j) {
      const std::size_t at = chosen[i] * k + j;
      ASSERT_EQ(indices[at - k], 0xdeadbeef);
      ASSERT_EQ(indices[at], j < expected.size() ? expected[j].number() : kMissing)
          << "place " << j << " of row " << i << " of " << rows.rows[i].size();
      ASSERT_EQ(reduced[at], j < expected.size() ? expected[j].reduced() : std::numeric_limits<T>::infinity());
    }
  }
}

class EveryStrategy : public testing::TestWithParam<SelectStrategy> {
 protected:
  /// One by one takes long here.
  static bool is_slow(std::uint32_t k) { return GetParam() == SelectStrategy::min_reduce && k > 8; }

  template <typename T>
  static void expect_all(std::uint32_t k) {
    std::mt19937_64 random(k);
    std::size_t next = k;
    std::vector<std::vector<Entry<T>>> rows;
    for (const std::uint32_t length : is_slow(k) ? std::vector<std::uint32_t>{0, 1, 130}
                                                 : std::vector<std::uint32_t>{0, 1, k - 1, k, k + 1, 500, 3000}) {
      rows.push_back(random_row<T>(random, kSpreads[next++ % std::size(kSpreads)], length));
    }
    expect_cut(Rows<T>(rows), k, GetParam());
    expect_finish(Rows<T>(rows), k, GetParam());
  }
};

TEST_P(EveryStrategy, SelectsWhatSortingSelects) {
  for (const std::uint32_t k : {1u, 2u, 7u, 8u, 31u, 32u, 33u, 64u, 100u, 256u, 257u, 1000u}) {
    SCOPED_TRACE(testing::Message() << "k " << k);
    if (k == 1000 && choose_select(GetParam(), k, 3000, 3).is_fallback) continue;
    expect_all<float>(k);
    if ((k == 1 || k == 8 || k == 33 || k >= 256) && !is_slow(k)) expect_all<double>(k);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryStrategy, ReducedOfEveryKind) {
  std::mt19937_64 random(5);
  for (const std::uint32_t k : {3u, 40u}) {
    if (is_slow(k)) continue;
    for (const Spread spread : kSpreads) {
      SCOPED_TRACE(testing::Message() << "k " << k << ", spread " << static_cast<int>(spread));
      std::vector<std::vector<Entry<float>>> rows;
      std::vector<std::vector<Entry<double>>> wide;
      for (const std::uint32_t length : {2u, 41u, 130u, 600u}) {
        rows.push_back(random_row<float>(random, spread, length));
        wide.push_back(random_row<double>(random, spread, length));
      }
      expect_cut(Rows<float>(rows), k, GetParam());
      expect_finish(Rows<double>(wide), k, GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryStrategy, OverflowedRowsAreNotedOnceAndLeftAlone) {
  constexpr std::uint32_t kK = 5;
  std::mt19937_64 random(6);
  std::vector<std::vector<Entry<float>>> given;
  for (int i = 0; i < 6; ++i) given.push_back(random_row<float>(random, Spread::uniform, 40));
  Rows<float> rows(given);
  const std::vector<Entry<float>> before = rows.entries;
  rows.counts[1] = rows.capacity + 1;
  rows.counts[4] = 0xfffffff0;
  std::vector<std::uint32_t> chosen{10, 11, 12, 13, 14, 15}, failed(6, 99);
  std::uint32_t failed_count = 0;
  std::vector<std::uint8_t> is_failed(6, 0);
  std::vector<std::uint32_t> indices(16 * kK, 0xdeadbeef);
  std::vector<float> reduced(16 * kK, -1);
  SelectTask<float> task = rows.task(SelectGoal::cut, kK);
  task.chosen = chosen.data();
  task.failed = failed.data();
  task.failed_count = &failed_count;
  task.is_failed = is_failed.data();
  task.answer = {indices.data(), reduced.data()};
  for (const SelectGoal goal : {SelectGoal::cut, SelectGoal::cut, SelectGoal::finish}) {
    task.goal = goal;
    launch_select(task, GetParam(), kProcessors, kLaunch);
  }
  std::sort(failed.begin(), failed.begin() + 2);
  EXPECT_EQ(failed, (std::vector<std::uint32_t>{11, 14, 99, 99, 99, 99}));
  EXPECT_EQ(failed_count, 2u);
  for (std::uint32_t i = 0; i < 6; ++i) {
    const bool is_left = i == 1 || i == 4;
    const std::vector<Entry<float>> expected = expected_of(given[i], kK);
    EXPECT_EQ(is_failed[i], is_left ? 1 : 0);
    EXPECT_TRUE(rows.limits[i] == (is_left ? Entry<float>::first() : expected.back()));
    EXPECT_EQ(indices[chosen[i] * kK], is_left ? 0xdeadbeef : expected[0].number());
    for (std::uint32_t j = 0; is_left && j < rows.capacity; ++j) {
      EXPECT_TRUE(rows.entries[i * rows.capacity + j] == before[i * rows.capacity + j]);
    }
  }
}

TEST_P(EveryStrategy, LimitsAreNeverRaisedAndRowsCountedOnTheDevice) {
  constexpr std::uint32_t kK = 4, kRows = 3;
  std::mt19937_64 random(7);
  std::vector<std::vector<Entry<double>>> given;
  for (std::uint32_t i = 0; i < 5; ++i) given.push_back(random_row<double>(random, Spread::uniform, 20));
  Rows<double> rows(given);
  rows.limits[1] = Entry<double>(0, 0);
  SelectTask<double> task = rows.task(SelectGoal::cut, kK);
  task.row_count = &kRows;
  task.length = 19;  // not what the counts say
  launch_select(task, GetParam(), kProcessors, kLaunch);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    given[i].pop_back();
    EXPECT_TRUE(rows.front(i) == expected_of(given[i], kK));
  }
  EXPECT_TRUE(rows.limits[1] == Entry<double>(0, 0));
  EXPECT_TRUE(rows.limits[2] == expected_of(given[2], kK).back());
  EXPECT_TRUE(rows.limits[3].is_none());
  EXPECT_EQ(rows.counts[3], 20u);
}

INSTANTIATE_TEST_SUITE_P(All, EveryStrategy,
                         testing::Values(SelectStrategy::insertion, SelectStrategy::warp, SelectStrategy::radix,
                                         SelectStrategy::bitonic, SelectStrategy::min_reduce),
                         [](const auto& test) { return std::string(name_of(test.param)); });

template <typename T>
void expect_one_row(std::uint32_t length, std::uint32_t k, Spread spread, SelectStrategy strategy) {
  SCOPED_TRACE(testing::Message() << "length " << length << ", k " << k);
  std::mt19937_64 random(length);
  const std::vector<std::vector<Entry<T>>> rows{random_row<T>(random, spread, length)};
  expect_cut(Rows<T>(rows), k, strategy);
  expect_finish(Rows<T>(rows), k, strategy);
}

TEST(Entries, OrderLikeReducedAndNumbers) {
  const auto expect_ordered = [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const T reduced[] = {
        -Limits::infinity(),  -Limits::max(), T(-3), T(-1),         -Limits::min(),    -Limits::denorm_min(), T(0),
        Limits::denorm_min(), T(1),           T(3),  Limits::max(), Limits::infinity()};
    const std::uint32_t numbers[] = {0, 1, 0xfffffffe, 0xffffffff};
    for (const T a : reduced) {
      for (const std::uint32_t i : numbers) {
        const Entry<T> first(a, i);
        EXPECT_EQ(first.reduced(), a);
        EXPECT_EQ(first.number(), i);
        EXPECT_FALSE(first.is_none());
        EXPECT_TRUE(first < Entry<T>::none());
        EXPECT_FALSE(first < Entry<T>::first());
        for (const T b : reduced) {
          for (const std::uint32_t j : numbers) {
            EXPECT_EQ(first < Entry<T>(b, j), a < b || (a == b && i < j))
                << a << ", " << i << " and " << b << ", " << j;
          }
        }
      }
    }
    EXPECT_TRUE(std::isnan(Entry<T>::none().reduced()));
  };
  expect_ordered(0.0f);
  expect_ordered(0.0);
}

TEST(Select, TeamsTakeOneLongRow) {
  expect_one_row<float>(16000, 10, Spread::uniform, SelectStrategy::automatic);
  expect_one_row<float>(20000, 100, Spread::octaves, SelectStrategy::automatic);
  expect_one_row<float>(3000, 256, Spread::tied, SelectStrategy::automatic);
  expect_one_row<double>(9000, 33, Spread::equal, SelectStrategy::automatic);
  expect_one_row<double>(9000, 256, Spread::with_none, SelectStrategy::automatic);
}

TEST(Select, LongRowsAreCutInParts) {
  ASSERT_GT(RowParts(40000, 10, 2048, 1000).count, 10u);
  std::mt19937_64 random(10);
  std::vector<std::vector<Entry<float>>> rows;
  for (const std::uint32_t length : {40000u, 0u, 5u, 2100u, 17000u, 4200u}) {
    rows.push_back(random_row<float>(random, kSpreads[rows.size() % std::size(kSpreads)], length));
  }
  for (const std::uint32_t k : {10u, 200u}) {
    expect_cut(Rows<float>(rows), k, SelectStrategy::automatic);
    expect_finish(Rows<float>(rows), k, SelectStrategy::automatic);
  }
  expect_one_row<double>(30000, 50, Spread::with_none, SelectStrategy::automatic);
  expect_one_row<float>(40000, 1000, Spread::tied, SelectStrategy::radix);
  expect_one_row<double>(33000, 300, Spread::with_none, SelectStrategy::radix);
}

TEST(Select, PartsLeaveRoomForWhatIsFound) {
  for (const std::uint32_t longest : {100u, 16385u, 100000u, 1000003u, 2000000000u}) {
    for (const std::uint32_t k : {1u, 10u, 256u}) {
      const RowParts parts(longest, k, 2048, 3000);
      EXPECT_GE(std::uint64_t{parts.count} * parts.length, longest);
      EXPECT_TRUE(parts.count == 1 || std::uint64_t{parts.count} * k <= parts.length);
    }
  }
}

TEST(Select, WarpsTakeManyLongRows) {
  std::mt19937_64 random(8);
  std::vector<std::vector<Entry<float>>> rows;
  for (std::uint32_t i = 0; i < 9; ++i) {
    rows.push_back(random_row<float>(random, kSpreads[i % std::size(kSpreads)], 1000 + 300 * i));
  }
  // In falling order every entry enters.
  std::sort(rows[0].begin(), rows[0].end(), [](const auto& a, const auto& b) { return b < a; });
  ASSERT_FALSE(teams_pay(rows.size(), 3000, kProcessors));
  for (const std::uint32_t k : {10u, 128u, 256u}) {
    expect_cut(Rows<float>(rows), k, SelectStrategy::warp);
    expect_finish(Rows<float>(rows), k, SelectStrategy::warp);
  }
}

TEST(Select, LargeKsAreSortedWhereTheyLie) {
  expect_one_row<float>(10000, 9000, Spread::octaves, SelectStrategy::radix);
  expect_one_row<double>(5000, 4500, Spread::tied, SelectStrategy::radix);
  expect_one_row<double>(5000, 1100, Spread::uniform, SelectStrategy::bitonic);
  expect_one_row<float>(9000, 700, Spread::with_none, SelectStrategy::bitonic);
}

TEST(Select, StrategiesHaveNamesAndLimits) {
  EXPECT_EQ(engine::name_of(SelectStrategy::automatic), "auto");
  EXPECT_EQ(engine::name_of(SelectStrategy::min_reduce), "min");
  EXPECT_EQ(choose_select(SelectStrategy::insertion, 32, 3000, 100).strategy, SelectStrategy::insertion);
  EXPECT_EQ(choose_select(SelectStrategy::insertion, 33, 3000, 100).strategy, SelectStrategy::radix);
  EXPECT_TRUE(choose_select(SelectStrategy::insertion, 33, 3000, 100).is_fallback);
  EXPECT_EQ(choose_select(SelectStrategy::warp, 256, 3000, 100).strategy, SelectStrategy::warp);
  EXPECT_TRUE(choose_select(SelectStrategy::warp, 257, 3000, 100).is_fallback);
  EXPECT_EQ(choose_select(SelectStrategy::automatic, 100000, 3000, 100).strategy, SelectStrategy::radix);
  EXPECT_FALSE(choose_select(SelectStrategy::automatic, 100000, 3000, 100).is_fallback);
}

}  // namespace
}  // namespace kith::cuda
