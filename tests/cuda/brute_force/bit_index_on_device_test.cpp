// Searches by the Hamming distance on the GPU give the bytes that the CPU gives.
#include "cuda/on_device.hpp"
#include "support/bit_oracle.hpp"
#include "support/expect_same.hpp"
#include "support/thrown_message.hpp"

#include <kith/bit_index.hpp>
#include <kith/device_search.hpp>

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

/// Queries, filters, radii and answers in the memory of the GPU; `queries` is null in a self-search.
void expect_arrays_equal(const BitIndex& cpu, const DeviceBitSearch& search, const BitSet* queries, std::uint32_t k,
                         const std::vector<double>& radii) {
  const std::uint64_t count = radii.size();
  const BitView view = queries == nullptr ? BitView() : queries->view();
  const DeviceArray<std::uint8_t> bytes(queries == nullptr ? std::span<const std::uint8_t>() : queries->bytes);
  const BitView there(bytes.data(), view.rows(), view.bits(), view.row_bytes());
  std::vector<std::uint64_t> allowed((cpu.size() + 63) / 64, 0xf0f7ffff7fff1fffu);
  const DeviceArray<std::uint64_t> allowed_there(allowed);
  for (const bool is_filtered : {false, true}) {
    SearchOptions host;
    DeviceSearchOptions options;
    if (is_filtered) host.allowed = allowed, options.allowed = allowed_there.data();
    const Neighbors nearest = queries == nullptr ? cpu.knn_self(k, host) : cpu.knn(view, k, host);
    const DeviceArray<std::int64_t> indices(std::vector<std::int64_t>(count * k, -1));
    const DeviceArray<float> distances(std::vector<float>(count * k, -1));
    const DeviceArray<std::uint8_t> exact(std::vector<std::uint8_t>(count, 7));
    if (queries == nullptr) {
      search.knn_self(k, indices.data(), distances.data(), options, exact.data());
    } else {
      search.knn(there, k, indices.data(), distances.data(), options, exact.data());
    }
    require_success(cudaDeviceSynchronize());
    const std::vector<std::int64_t> wide = indices.values();
    expect_same(nearest, Neighbors(count, k, nearest.missing(), std::vector<std::uint32_t>(wide.begin(), wide.end()),
                                   Distances(distances.values())));
    EXPECT_EQ(exact.values(), std::vector<std::uint8_t>(count, 1));

    const DeviceArray<double> radii_there(radii);
    const NeighborLists within = queries == nullptr ? cpu.radius_self(radii, host) : cpu.radius(view, radii, host);
    const DeviceArray<std::uint32_t> counts(std::vector<std::uint32_t>(count, 77));
    const DeviceArray<std::uint64_t> offsets(std::vector<std::uint64_t>(count + 1, 77));
    if (queries == nullptr) {
      search.count_self(radii_there.data(), counts.data(), options);
    } else {
      search.count(there, radii_there.data(), counts.data(), options);
    }
    search.offsets(counts.data(), count, offsets.data());
    const DeviceArray<std::uint32_t> listed(std::vector<std::uint32_t>(within.indices().size(), 77));
    const DeviceArray<float> listed_distances(std::vector<float>(within.indices().size(), -1));
    if (queries == nullptr) {
      search.radius_self(radii_there.data(), offsets.data(), listed.data(), listed_distances.data(), options);
    } else {
      search.radius(there, radii_there.data(), offsets.data(), listed.data(), listed_distances.data(), options);
    }
    require_success(cudaDeviceSynchronize());
    expect_same(within, NeighborLists(within.points(), offsets.values(), listed.values(),
                                      Distances(listed_distances.values())));
  }
}

TEST_F(SmallBitIndexOnDevice, ArraysThereEqualTheCpu) {
  for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
    for (const std::uint32_t bits : {1u, 8u, 12u, 33u, 64u, 100u, 256u}) {
      SCOPED_TRACE(testing::Message() << bits << " bits, engine " << name_of(engine));
      std::mt19937_64 random(bits);
      const BitSet points = random_bits(400, bits, 0, random), queries = random_bits(70, bits, 3, random);
      const BitIndex cpu = BitIndex::build(points.view());
      const DeviceBitSearch search(BitIndex::build(points.view(), {.engine = engine, .device = Device::cuda()}));
      std::vector<double> radii(400);
      for (double& radius : radii) radius = static_cast<double>(random() % (2 * bits + 1)) / 2;
      expect_arrays_equal(cpu, search, nullptr, 5, radii);
      radii.resize(70);
      expect_arrays_equal(cpu, search, &queries, 5, radii);
      if (HasFailure()) return;
    }
  }
}

TEST_F(BitIndexOnDevice, ManyArraysThereEqualTheCpu) {
  std::mt19937_64 random(9);
  const BitSet points = random_bits(20000, 192, 0, random), queries = random_bits(3000, 192, 1, random);
  const BitIndex cpu = BitIndex::build(points.view());
  const DeviceBitSearch search(BitIndex::build(points.view(), {.device = Device::cuda()}));
  for (const std::uint32_t k : {1u, 40u})
    expect_arrays_equal(cpu, search, &queries, k, std::vector<double>(3000, 70.5));
}

TEST_F(SmallBitIndexOnDevice, MistakesWithArraysAreNamed) {
  std::mt19937_64 random(10);
  const BitSet points = random_bits(50, 16, 0, random);
  const DeviceBitSearch search(BitIndex::build(points.view(), {.device = Device::cuda()}));
  const DeviceArray<std::uint32_t> numbers(std::vector<std::uint32_t>(100));
  const DeviceArray<float> distances(std::vector<float>(100));
  const DeviceArray<double> doubles(std::vector<double>(100));
  EXPECT_PRED2(holds,
               thrown_message<UsageError>([&] { search.knn(points.view(), 2, numbers.data(), distances.data()); }),
               "queries: the array is not in the memory of cuda:0");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { search.knn_self(2, numbers.data(), doubles.data()); }),
               "the points are f32");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { DeviceBitSearch(BitIndex::build(points.view())); }),
               "the index is on cpu");
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
