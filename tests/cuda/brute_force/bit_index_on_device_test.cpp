// Searches by the Hamming distance on the GPU give the bytes that the CPU gives.
#include "cuda/on_device.hpp"
#include "support/bit_oracle.hpp"
#include "support/expect_same.hpp"

#include <kith/bit_index.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace kith::test {
namespace {

class BitIndexOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using SmallBitIndexOnDevice = BitIndexOnDevice;

/// The same rows on both devices.
struct Both {
  BitIndex cpu, gpu;
  explicit Both(BitView rows) : cpu(BitIndex::build(rows)), gpu(BitIndex::build(rows, {.device = Device::cuda()})) {}
};

void expect_equal(const Both& both, const BitView* queries, std::uint32_t k, double radius,
                  const SearchOptions& options) {
  SearchOptions within = options;
  within.max_distance = std::numeric_limits<double>::infinity();
  if (queries == nullptr) {
    expect_same(both.cpu.knn_self(k, options), both.gpu.knn_self(k, options));
    expect_same(both.cpu.radius_self(radius, within), both.gpu.radius_self(radius, within));
    EXPECT_EQ(both.cpu.count_self(radius, within), both.gpu.count_self(radius, within));
    within.max_neighbors = 4;
    expect_same(both.cpu.radius_self(radius, within), both.gpu.radius_self(radius, within));
  } else {
    expect_same(both.cpu.knn(*queries, k, options), both.gpu.knn(*queries, k, options));
    expect_same(both.cpu.radius(*queries, radius, within), both.gpu.radius(*queries, radius, within));
    EXPECT_EQ(both.cpu.count(*queries, radius, within), both.gpu.count(*queries, radius, within));
    within.max_neighbors = 4;
    expect_same(both.cpu.radius(*queries, radius, within), both.gpu.radius(*queries, radius, within));
  }
}

void expect_equal_on_cases(std::uint64_t first_seed, std::uint64_t end_seed, std::uint64_t most_rows) {
  for (std::uint64_t seed = first_seed; seed < end_seed; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with BitCase(" << seed << ", " << most_rows << ")");
    const BitCase c(seed, most_rows);
    const BitView queries = c.queries.view();
    expect_equal(Both(c.points.view()), c.is_self ? nullptr : &queries, c.k, c.radius, c.options);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(SmallBitIndexOnDevice, EqualsTheCpuOnSmallRandomCases) { expect_equal_on_cases(0, 12, 600); }

TEST_F(BitIndexOnDevice, EqualsTheCpuOnRandomCases) {
  expect_equal_on_cases(100, 220, 300);
  expect_equal_on_cases(300, 340, 20000);
}

TEST_F(BitIndexOnDevice, EqualsTheCpuForUsualLengthsAndManyRows) {
  std::mt19937_64 random(5);
  for (const std::uint32_t bits : {32u, 64u, 96u, 128u, 256u, 300u, 512u, 1024u, 4096u}) {
    const std::uint64_t rows = bits > 1000 ? 20000 : 100000;
    const BitSet points = random_bits(rows, bits, 0, random);
    const Both both(points.view());
    for (const std::uint64_t count : {1, 7, 32, 33, 500, 3000}) {
      SCOPED_TRACE(testing::Message() << bits << " bits, " << count << " queries");
      const BitSet queries = random_bits(count, bits, 0, random);
      const BitView info = queries.view();
      for (const std::uint32_t k : {1u, 10u, 100u, 700u}) {
        expect_same(both.cpu.knn(info, k), both.gpu.knn(info, k));
        if (HasFailure()) FAIL() << "k " << k;
      }
      expect_equal(both, &info, 3, bits / 3, {});
    }
  }
}

TEST_F(BitIndexOnDevice, EqualRowsAndTheLongestRows) {
  const std::vector<std::uint8_t> same(200000, 0x3c);
  const Both equal(BitView(same.data(), same.size(), 8));
  const BitView few(same.data(), 300, 8);
  expect_equal(equal, &few, 12, 0, {});
  std::mt19937_64 random(6);
  const BitSet longest = random_bits(300, BitIndex::kMostBits, 0, random);
  expect_equal(Both(longest.view()), nullptr, 5, BitIndex::kMostBits / 2, {.exclude_self = true});
}

TEST_F(SmallBitIndexOnDevice, SeveralThreadsMayAskAtOnce) {
  std::mt19937_64 random(8);
  const BitSet points = random_bits(500, 100, 0, random);
  const Both both(points.view());
  const Neighbors expected = both.cpu.knn_self(4);
  std::vector<Neighbors> found(4);
  std::vector<std::thread> threads;
  for (Neighbors& answer : found) threads.emplace_back([&] { answer = both.gpu.knn_self(4); });
  for (std::thread& thread : threads) thread.join();
  for (const Neighbors& answer : found) expect_same(expected, answer);
}

}  // namespace
}  // namespace kith::test
