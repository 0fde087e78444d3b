// Searches by the Hamming distance on every device that is there, compared with plain loops over bits.
#include "support/bit_oracle.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <ostream>

namespace kith::test {
namespace {

struct Target {
  Device device;
  Engine engine;

  friend std::ostream& operator<<(std::ostream& out, const Target& target) {
    return out << name_of(target.engine) << " on " << target.device.name();
  }
};

class BitIndexOn : public testing::TestWithParam<Target> {
 protected:
  static BitIndex build(BitView rows) {
    return BitIndex::build(rows, {.engine = GetParam().engine, .device = GetParam().device, .leaf_size = 8});
  }
};

std::vector<Target> targets() {
  std::vector<Target> all;
  const std::uint8_t bits = 0;
  for (const DeviceInfo& info : available_devices()) {
    for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
      try {
        BitIndex::build(BitView(&bits, 1, 1), {.engine = engine, .device = info.device});
        all.push_back({info.device, engine});
      } catch (const UsageError&) {  // not every device has every engine
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Available, BitIndexOn, testing::ValuesIn(targets()), [](const auto& target) {
  const Device device = target.param.device;
  return std::string(name_of(target.param.engine)) +
         (device.kind() == Device::Kind::cpu ? std::string("_cpu") : "_cuda" + std::to_string(device.ordinal()));
});

void expect_right(const BitIndex& index, const BitCase& c) {
  const BitView queries = c.queries.view();
  SearchOptions within = c.options;
  within.max_distance = std::numeric_limits<double>::infinity();
  const BitRequest near = c.request(queries, c.options.max_distance), inside = c.request(queries, c.radius);
  expect_same(oracle_knn(near, c.k), c.is_self ? index.knn_self(c.k, c.options) : index.knn(queries, c.k, c.options));
  EXPECT_EQ(oracle_count(inside),
            c.is_self ? index.count_self(c.radius, within) : index.count(queries, c.radius, within));
  for (const std::uint32_t most : {0u, 3u}) {
    within.max_neighbors = most;
    expect_same(oracle_radius(inside, most),
                c.is_self ? index.radius_self(c.radius, within) : index.radius(queries, c.radius, within));
  }
}

TEST_P(BitIndexOn, EqualsPlainLoopsOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with BitCase(" << seed << ", 120)");
    const BitCase c(seed, 120);
    const BitIndex index = build(c.points.view());
    expect_right(index, c);
    if (HasFailure()) return;
  }
}

TEST_P(BitIndexOn, EpsKeepsItsPromise) {
  std::mt19937_64 random(6);
  const BitSet points = random_bits(500, 100, 1, random), queries = random_bits(60, 100, 0, random);
  const BitIndex index = build(points.view());
  const Neighbors exact = index.knn(queries.view(), 4), loose = index.knn(queries.view(), 4, {.eps = 0.5});
  ASSERT_EQ(loose.exact().size(), 60u);
  for (std::uint64_t q = 0; q < 60; ++q) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      EXPECT_LE(loose.distance(q, j), 1.5 * exact.distance(q, j));
      EXPECT_TRUE(!loose.is_exact(q) || loose.index(q, j) == exact.index(q, j)) << q;
    }
  }
  EXPECT_THROW(index.knn_self(1, {.eps = -1}), UsageError);
}

TEST_P(BitIndexOn, EachQueryMayHaveItsOwnRadius) {
  std::mt19937_64 random(8);
  const BitSet points = random_bits(300, 64, 1, random), queries = random_bits(40, 64, 0, random);
  const BitIndex index = build(points.view());
  std::vector<double> radii(40);
  for (std::size_t q = 0; q < radii.size(); ++q) radii[q] = static_cast<double>(q) + 0.5;
  const NeighborLists lists = index.radius(queries.view(), radii);
  const std::vector<std::uint32_t> counts = index.count(queries.view(), radii);
  const NeighborLists nearest = index.radius(queries.view(), radii, {.max_neighbors = 3});
  for (std::size_t q = 0; q < radii.size(); ++q) {
    const NeighborLists alone = index.radius(queries.view(), radii[q]);
    ASSERT_EQ(lists.count(q), alone.count(q)) << q;
    EXPECT_EQ(counts[q], alone.count(q)) << q;
    EXPECT_EQ(nearest.count(q), std::min<std::uint64_t>(3, alone.count(q))) << q;
    for (std::uint64_t j = 0; j < alone.count(q); ++j) EXPECT_EQ(lists.index(q, j), alone.index(q, j)) << q;
  }
  EXPECT_THROW(index.radius(queries.view(), std::vector<double>(3, 1.0)), UsageError);
}

TEST_P(BitIndexOn, IndexBelowBoundsWhatAQueryFinds) {
  std::mt19937_64 random(9);
  const BitSet points = random_bits(200, 40, 1, random), queries = random_bits(30, 40, 0, random);
  const BitIndex index = build(points.view());
  std::vector<std::uint32_t> below(30);
  for (std::uint32_t q = 0; q < 30; ++q) below[q] = 7 * q;
  const Neighbors found = index.knn(queries.view(), 200, {.index_below = below});
  for (std::uint32_t q = 0; q < 30; ++q) {
    for (std::uint32_t j = 0; j < 200; ++j) {
      EXPECT_EQ(found.index(q, j) < found.missing(), j < below[q]) << q;
      EXPECT_TRUE(found.index(q, j) < below[q] || found.index(q, j) == found.missing()) << q;
    }
  }
}

TEST_P(BitIndexOn, OptionsOfPointsAreRefused) {
  std::mt19937_64 random(10);
  const BitSet points = random_bits(20, 40, 1, random);
  EXPECT_THROW(BitIndex::build(points.view(), {.period = {1.0}}), UsageError);
  EXPECT_NE(thrown_message<UsageError>([&] { build(points.view()).knn_self(1, {.squared = true}); }).find("hamming"),
            std::string::npos);
}

TEST_P(BitIndexOn, FindsTheSameInLongRows) {
  std::mt19937_64 random(7);
  for (const std::uint32_t bits : {2048u, 4096u, 20011u}) {
    const BitSet points = random_bits(90, bits, 1, random), queries = random_bits(11, bits, 0, random);
    const BitView asking = queries.view();
    expect_same(oracle_knn({.points = points.view(), .queries = &asking}, 7), build(points.view()).knn(asking, 7));
  }
}

/// A row of the greatest length against its opposite: all bits differ.
TEST_P(BitIndexOn, CountsAMillionBits) {
  constexpr std::uint32_t kBits = BitIndex::kMostBits;
  std::vector<std::uint8_t> bytes(kBits / 8 * 2, 0);
  std::fill(bytes.begin() + kBits / 8, bytes.end(), std::uint8_t{0xff});
  const Neighbors found = build(BitView(bytes.data(), 2, kBits)).knn_self(2);
  EXPECT_EQ(found.index(0, 1), 1u);
  EXPECT_EQ(found.distance(0, 1), kBits);
  EXPECT_EQ(found.distance(1, 1), kBits);
}

TEST_P(BitIndexOn, EqualRowsComeByTheirNumbers) {
  const std::vector<std::uint8_t> bytes(3000, 0xa5);
  const BitIndex index = build(BitView(bytes.data(), 3000, 8));
  const Neighbors found = index.knn_self(5, {.exclude_self = true});
  for (const std::uint64_t q : {0, 3, 4, 2999}) {
    for (std::uint32_t j = 0; j < 5; ++j) {
      EXPECT_EQ(found.index(q, j), q <= j ? j + 1 : j) << q;
      EXPECT_EQ(found.distance(q, j), 0) << q;
    }
  }
  EXPECT_EQ(index.count_self(0), std::vector<std::uint32_t>(3000, 3000u));
}

TEST_P(BitIndexOn, WhatLiesBehindTheLastBitDoesNotCount) {
  const std::array<std::uint8_t, 4> bytes = {0b10100000, 0b10111111, 0b01000001, 0b01011110};  // 101, 101, 010, 010
  const BitIndex index = build(BitView(bytes.data(), 4, 3));
  const Neighbors found = index.knn_self(4);
  EXPECT_EQ(std::vector<std::uint32_t>(found.indices().begin(), found.indices().begin() + 8),
            (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(found.distance(0, 1), 0);
  EXPECT_EQ(found.distance(0, 2), 3);
}

/// More rows than one round or one range of a scan takes, and few queries.
TEST_P(BitIndexOn, AFewQueriesAmongManyRows) {
  std::mt19937_64 random(11);
  const BitSet points = random_bits(9000, 70, 0, random);
  const BitIndex index = build(points.view());
  for (const std::uint64_t count : {1, 2, 33, 40}) {
    const BitSet queries = random_bits(count, 70, 1, random);
    const BitView asking = queries.view();
    for (const std::uint32_t k : {1u, 20u, 400u}) {
      expect_same(oracle_knn({.points = points.view(), .queries = &asking}, k), index.knn(asking, k));
      if (HasFailure()) FAIL() << count << " queries, k " << k;
    }
    const BitRequest inside{.points = points.view(), .queries = &asking, .farthest = 25};
    expect_same(oracle_radius(inside), index.radius(asking, 25));
    expect_same(oracle_radius(inside, 5), index.radius(asking, 25.9, {.max_neighbors = 5}));
    EXPECT_EQ(oracle_count(inside), index.count(asking, 25));
  }
}

TEST_P(BitIndexOn, TellsWhatItHolds) {
  const std::vector<std::uint8_t> bytes(30, 1);
  const BitIndex index = build(BitView(bytes.data(), 10, 24));
  EXPECT_EQ(index.size(), 10u);
  EXPECT_EQ(index.bits(), 24u);
  EXPECT_EQ(index.device(), GetParam().device);
  EXPECT_GE(index.memory_bytes(), 80u);
  EXPECT_NE(index.explain().find("10 rows"), std::string::npos) << index.explain();
  EXPECT_NE(index.explain().find("device " + GetParam().device.name()), std::string::npos) << index.explain();
}

TEST_P(BitIndexOn, NothingIsFoundWhereNothingIs) {
  const std::array<std::uint8_t, 2> bytes = {1, 2};
  const BitIndex none = build(BitView(nullptr, 0, 8));
  EXPECT_EQ(none.knn_self(3).queries(), 0u);
  const Neighbors found = none.knn(BitView(bytes.data(), 2, 8), 1);
  EXPECT_EQ(found.index(1, 0), 0u);
  EXPECT_TRUE(std::isinf(found.distance(1, 0)));
  EXPECT_EQ(none.radius(BitView(bytes.data(), 2, 8), 8).queries(), 2u);
  EXPECT_EQ(none.count(BitView(bytes.data(), 2, 8), 8), (std::vector<std::uint32_t>{0, 0}));
  const BitIndex two = build(BitView(bytes.data(), 2, 8));
  EXPECT_EQ(two.knn(BitView(), 3).queries(), 0u);
  EXPECT_EQ(two.radius(BitView(), 3).queries(), 0u);
  EXPECT_EQ(two.count(BitView(), 3).size(), 0u);
  EXPECT_EQ(two.knn_self(0).indices().size(), 0u);
}

TEST_P(BitIndexOn, ProgressIsToldAndCanStop) {
  std::mt19937_64 random(5);
  const BitSet points = random_bits(3000, 64, 0, random);
  const BitIndex index = build(points.view());
  std::atomic<int> reports = 0;
  index.knn_self(3, {.progress = [&](const Progress&) { return ++reports > 0; }});
  EXPECT_GT(reports, 0);
  EXPECT_THROW(index.knn_self(3, {.progress = [](const Progress&) { return false; }}), Interrupted);
}

TEST(BitIndex, SaysWhatIsWrong) {
  const std::array<std::uint8_t, 8> bytes = {};
  const auto told = [](const auto& call) { return thrown_message<UsageError>(call); };
  EXPECT_PRED2(holds, told([&] { BitIndex::build(BitView()); }), "points: rows of bits need at least one bit");
  EXPECT_PRED2(holds, told([&] { BitIndex::build(BitView(bytes.data(), 1, BitIndex::kMostBits + 1)); }),
               "1048577 bits per row; a row has at most 1048576");
  EXPECT_PRED2(holds, told([&] { BitIndex::build(BitView(nullptr, 1, 8)); }), "points: the data pointer is null");
  EXPECT_PRED2(holds, told([&] { BitIndex::build(BitView(bytes.data(), 2, 9, 1)); }),
               "rows of 9 bits need 2 bytes, but are 1 bytes apart");
  EXPECT_PRED2(holds, told([&] { BitIndex::build(BitView(bytes.data(), 0xffffffff, 8)); }), "an index holds at most");
  EXPECT_PRED2(holds, told([&] { BitIndex::build(BitView(bytes.data(), 1, 8), {.threads = -1}); }), "threads must be");
  const BitIndex index = BitIndex::build(BitView(bytes.data(), 8, 8));
  const BitView queries(bytes.data(), 2, 8);
  EXPECT_PRED2(holds, told([&] { index.knn(BitView(bytes.data(), 2, 16), 1); }),
               "queries: 16 bits per row, but the points have 8");
  EXPECT_PRED2(holds, told([&] { index.knn(BitView(nullptr, 2, 8), 1); }), "queries: the data pointer is null");
  EXPECT_PRED2(holds, told([&] { index.knn(queries, 1, {.exclude_self = true}); }), "exclude_self needs");
  EXPECT_PRED2(holds, told([&] { index.knn(queries, 1, {.earlier_only = true}); }), "earlier_only");
  EXPECT_PRED2(holds, told([&] { index.knn(queries, 1, {.max_neighbors = 1}); }), "max_neighbors is for radius");
  EXPECT_PRED2(holds, told([&] { index.knn(queries, 1, {.max_distance = -1}); }), "max_distance must be at least 0");
  EXPECT_PRED2(holds, told([&] { index.radius(queries, 1, {.max_distance = 2}); }), "max_distance");
  EXPECT_PRED2(holds, told([&] { index.radius(queries, -1); }), "the radius must be at least 0");
  EXPECT_PRED2(holds, told([&] { index.count(queries, std::nan("")); }), "the radius must be at least 0");
  const std::vector<std::uint64_t> allowed(3, 1);
  EXPECT_PRED2(holds, told([&] { index.knn(queries, 1, {.allowed = allowed}); }), "allowed");
  EXPECT_THROW(index.knn(queries, 1, {.threads = -1}), UsageError);
  if (available_devices().size() == 1) {
    EXPECT_THROW(BitIndex::build(queries, {.device = Device::cuda()}), DeviceError);
  }
  EXPECT_EQ(BitIndex::build(queries, {.device = Device::automatic()}).device(), Device::cpu());
}

}  // namespace
}  // namespace kith::test
