// Brute force on the GPU: the oracle's bytes on random cases, the CPU's on larger and nastier ones.
#include "cuda/engines.hpp"
#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/on_device.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include <kith/device_search.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/tuning.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace kith::test {
namespace {

BuildOptions brute_on(Device device, Metric metric = {}) {
  return {.engine = Engine::brute_force, .device = device, .metric = metric};
}

/// Both indexes over the same points.
struct OnBoth {
  Index cpu, gpu;

  explicit OnBoth(PointView points, Metric metric = {})
      : cpu(Index::build(points, brute_on(Device::cpu(), metric))),
        gpu(Index::build(points, brute_on(Device::cuda(), metric))) {}
};

class BruteForceOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using SmallBruteForceOnDevice = BruteForceOnDevice;

void expect_oracle(std::uint64_t first_seed, std::uint64_t end_seed) {
  for (std::uint64_t seed = first_seed; seed < end_seed; ++seed) {
    SearchCase c = random_case(seed);
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const Index index = Index::build(c.points.view(), c.build_options(Engine::brute_force, Device::cuda()));
    c.options.max_neighbors = c.most;
    expect_same(
        oracle_radius(c.request(), c.radius, c.most),
        c.is_self ? index.radius_self(c.radius, c.options) : index.radius(c.queries.view(), c.radius, c.options));
    c.options.max_neighbors = 0;
    EXPECT_EQ(oracle_count(c.request(), c.radius),
              c.is_self ? index.count_self(c.radius, c.options) : index.count(c.queries.view(), c.radius, c.options));
    c.options.max_distance = c.max_distance;
    expect_same(oracle_knn(c.request(), c.k),
                c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(SmallBruteForceOnDevice, EqualsTheOracle) { expect_oracle(0, 60); }
TEST_F(BruteForceOnDevice, EqualsTheOracleOnRandomCases) { expect_oracle(100, 1500); }

/// Enough points for several rounds, few enough for compute-sanitizer.
TEST_F(SmallBruteForceOnDevice, RoundsAndTheFilterEqualTheCpu) {
  std::mt19937_64 random(5);
  for (const std::uint32_t dims : {3u, 20u, 130u}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const PointSet points = nasty_points(NastyShape::uniform, dtype, 2500, dims, random);
      const PointSet queries = nasty_points(NastyShape::uniform, dtype, 150, dims, random);
      const OnBoth both(points.view());
      expect_same(both.cpu.knn(queries.view(), 9), both.gpu.knn(queries.view(), 9));
      expect_same(both.cpu.knn(queries.view().slice(0, 2), 9), both.gpu.knn(queries.view().slice(0, 2), 9));
    }
  }
}

TEST_F(BruteForceOnDevice, EveryShapeInManyDimsEqualsTheCpu) {
  std::mt19937_64 random(17);
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 8u, 15u, 16u, 17u, 33u, 50u, 128u, 130u, 784u}) {
    for (int s = 0; s < static_cast<int>(NastyShape::count_of_shapes); ++s) {
      const auto shape = static_cast<NastyShape>(s);
      const DType dtype = random() % 3 == 0 ? DType::f64 : DType::f32;
      const std::uint64_t rows = 2000 + random() % 3000;
      SCOPED_TRACE(testing::Message() << dims << " dims, shape " << s << ", " << name_of(dtype) << ", " << rows);
      const PointSet points = nasty_points(shape, dtype, rows, dims, random);
      const PointSet queries = nasty_points(shape, dtype, 100 + random() % 200, dims, random);
      const Metric metric = s % 3 == 0 ? Metric::l2() : s % 3 == 1 ? Metric::l1() : Metric::linf();
      const OnBoth both(points.view(), random() % 2 == 0 ? Metric::l2() : metric);
      const auto k = static_cast<std::uint32_t>(1 + random() % 40);
      expect_same(both.cpu.knn(queries.view(), k), both.gpu.knn(queries.view(), k));
      expect_same(both.cpu.knn(queries.view().slice(0, 3), k), both.gpu.knn(queries.view().slice(0, 3), k));
      if (HasFailure()) return;
    }
  }
}

/// As many pairs as sums in halves are used for, and quick enough for compute-sanitizer.
TEST_F(SmallBruteForceOnDevice, ManyPairsOfFewDimsEqualTheCpu) {
  constexpr std::uint64_t kPoints = 1 << 14;
  std::mt19937_64 random(7);
  for (const std::uint32_t dims : {9u, 20u}) {
    if (rounds(2) < 2 && dims == 9) continue;
    const PointSet points = nasty_points(NastyShape::uniform, DType::f32, kPoints, dims, random);
    const PointSet queries =
        nasty_points(NastyShape::uniform, DType::f32, Tuning{}.gpu_half_sum_pairs / kPoints, dims, random);
    const OnBoth both(points.view());
    WorkTimes times;
    expect_same(both.cpu.knn(queries.view(), 9), both.gpu.knn(queries.view(), 9, {.times = &times}));
    EXPECT_EQ(times.asked_again, 0u);
  }
}

TEST_F(BruteForceOnDevice, ManyPairsOfEveryShapeEqualTheCpu) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 2 * static_cast<int>(NastyShape::count_of_shapes); ++i) {
    const auto shape = static_cast<NastyShape>(i / 2);
    const std::uint32_t dims =
        i % 2 == 0 ? 5 + static_cast<std::uint32_t>(random() % 12) : 17 + static_cast<std::uint32_t>(random() % 16);
    SCOPED_TRACE(testing::Message() << dims << " dims, shape " << i / 2);
    const PointSet points = nasty_points(shape, DType::f32, 24000, dims, random);
    const OnBoth both(points.view());
    const auto k = static_cast<std::uint32_t>(1 + random() % 20);
    const SearchOptions options{.exclude_self = i % 4 == 0, .earlier_only = i % 4 == 1};
    expect_same(both.cpu.knn_self(k, options), both.gpu.knn_self(k, options));
    if (HasFailure()) return;
  }
}

/// Queries far from all points, points far from most others: what sums in halves leave to others.
TEST_F(BruteForceOnDevice, FarAmongManyPairsEqualsTheCpu) {
  std::mt19937_64 random(37);
  std::normal_distribution<float> normal;
  for (const std::uint32_t dims : {6u, 16u, 31u}) {
    PointSet points(DType::f32, 24000, dims), queries(DType::f32, 24000, dims);
    for (PointSet* set : {&points, &queries}) {
      for (std::uint64_t row = 0; row < set->rows(); ++row) {
        const float far = row % 50 == 0 ? std::exp2(static_cast<float>(random() % 16)) : 1.0f;
        for (std::uint32_t d = 0; d < dims; ++d) set->values<float>()[row * dims + d] = far * normal(random);
      }
    }
    const OnBoth both(points.view());
    WorkTimes times;
    const Neighbors found = both.gpu.knn(queries.view(), 10, {.times = &times});
    expect_same(both.cpu.knn(queries.view(), 10), found);
    EXPECT_GT(times.asked_again, 0u);
    EXPECT_LT(times.asked_again, 24000u / 20);
  }
}

TEST_F(SmallBruteForceOnDevice, InnerProductsEqualTheOracle) {
  for (std::uint64_t seed = 0; seed < rounds(40); ++seed) {
    const SearchCase c = inner_product_case(seed);
    SCOPED_TRACE(testing::Message() << "replay with inner_product_case(" << seed << "): " << c.text);
    const Index index = Index::build(c.points.view(), c.build_options(Engine::brute_force, Device::cuda()));
    expect_same(oracle_knn(c.request(), c.k),
                c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
    if (HasFailure()) return;
  }
}

TEST_F(BruteForceOnDevice, InnerProductsOfEveryShapeEqualTheCpu) {
  std::mt19937_64 random(19);
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 33u, 130u, 784u}) {
    for (int s = 0; s < static_cast<int>(NastyShape::count_of_shapes); ++s) {
      const auto shape = static_cast<NastyShape>(s);
      const DType dtype = random() % 3 == 0 ? DType::f64 : DType::f32;
      const std::uint64_t rows = 2000 + random() % 3000;
      SCOPED_TRACE(testing::Message() << dims << " dims, shape " << s << ", " << name_of(dtype) << ", " << rows);
      const PointSet points = nasty_points(shape, dtype, rows, dims, random);
      const PointSet queries = nasty_points(shape, dtype, 100 + random() % 200, dims, random);
      const OnBoth both(points.view(), Metric::inner_product());
      const auto k = static_cast<std::uint32_t>(1 + random() % 40);
      for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{3}, queries.rows()}) {
        const PointView some = queries.view().slice(0, count);
        expect_same(both.cpu.knn(some, k), both.gpu.knn(some, k));
      }
      if (dims <= 33) {
        expect_same(both.cpu.knn_self(k, {.exclude_self = true}), both.gpu.knn_self(k, {.exclude_self = true}));
      }
      if (HasFailure()) return;
    }
  }
}

/// Products that grow in the order of the scan: every list overflows.
TEST_F(BruteForceOnDevice, InnerProductsInTheWorstOrderAreFound) {
  constexpr std::uint64_t kPoints = 40000;
  const std::uint64_t tiles = cuda::tiles_of(kPoints);
  const cuda::TileOrder order = cuda::spread_order(tiles);
  PointSet points(DType::f32, kPoints, 3);
  for (std::uint64_t i = 0; i < tiles; ++i) {
    const std::uint64_t first = order.at(i) * cuda::kTilePoints;
    for (std::uint64_t p = first; p < std::min(first + cuda::kTilePoints, kPoints); ++p) {
      std::fill_n(points.values<float>().data() + p * 3, 3, static_cast<float>(i) - 9);
    }
  }
  const OnBoth both(points.view(), Metric::inner_product());
  PointSet queries(DType::f32, 130, 3);
  for (std::uint64_t i = 0; i < queries.values<float>().size(); ++i) {
    queries.values<float>()[i] = static_cast<float>(1 + i % 5);
  }
  WorkTimes times;
  const Neighbors found = both.gpu.knn(queries.view(), 20, {.times = &times});
  EXPECT_GT(times.asked_again, 0u);
  expect_same(both.cpu.knn(queries.view(), 20), found);
}

TEST_F(BruteForceOnDevice, AsManyDimsAsThereMayBe) {
  std::mt19937_64 random(7);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const NastyShape shape : {NastyShape::uniform, NastyShape::huge_offset, NastyShape::clusters}) {
      const PointSet points = nasty_points(shape, dtype, 1100, 4096, random);
      const OnBoth both(points.view());
      const PointView queries = points.view().slice(200, 70);
      expect_same(both.cpu.knn(queries, 12), both.gpu.knn(queries, 12));
    }
  }
}

TEST_F(BruteForceOnDevice, AnyKEqualsTheCpu) {
  std::mt19937_64 random(23);
  const PointSet points = nasty_points(NastyShape::grid, DType::f32, 5000, 3, random);
  const OnBoth both(points.view());
  const PointView queries = points.view().slice(100, 40);
  for (const std::uint32_t k : {1u, 2u, 31u, 32u, 33u, 100u, 256u, 257u, 1000u, 2500u, 4999u, 5000u, 6000u}) {
    SCOPED_TRACE(testing::Message() << "k " << k);
    expect_same(both.cpu.knn(queries, k), both.gpu.knn(queries, k));
  }
}

TEST_F(BruteForceOnDevice, EveryWayToSelectGivesTheSameBytes) {
  std::mt19937_64 random(29);
  const PointSet points = nasty_points(NastyShape::clusters, DType::f32, 4000, 4, random);
  const OnBoth both(points.view());
  const PointView queries = points.view().slice(0, 130);
  for (const std::uint32_t k : {1u, 8u, 40u, 300u}) {
    const Neighbors expected = both.cpu.knn(queries, k);
    using engine::SelectMethod;
    for (const SelectMethod method : {SelectMethod::insertion, SelectMethod::warp, SelectMethod::radix,
                                      SelectMethod::bitonic, SelectMethod::min_reduce, SelectMethod::automatic}) {
      SCOPED_TRACE(testing::Message() << "k " << k << ", " << name_of(method));
      engine::forced_select = method;  // automatic at last
      expect_same(expected, both.gpu.knn(queries, k));
    }
  }
}

/// Uniform points need no second look.
TEST_F(BruteForceOnDevice, HardlyAnyQueryIsAskedAgain) {
  std::mt19937_64 random(31);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 60000, 64, random);
  const OnBoth both(points.view());
  const PointView queries = points.view().slice(0, 2000);
  WorkTimes times;
  const Neighbors found = both.gpu.knn(queries, 10, {.times = &times});
  EXPECT_EQ(times.asked_again, 0u);
  expect_same(both.cpu.knn(queries, 10), found);
}

/// Clusters far apart whose points are closer together than the filter's error: it cannot dismiss anything of a
/// query's own cluster.
TEST_F(BruteForceOnDevice, WhatTheFilterCannotProveIsAskedAgain) {
  constexpr std::uint32_t kDims = 32;
  std::mt19937_64 random(37);
  std::uniform_real_distribution<float> tiny(0, 1e-3f);
  PointSet points(DType::f32, 20000, kDims);
  float* values = points.values<float>().data();
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < kDims; ++d) values[i * kDims + d] = (i % 2 == 0 ? 1000.0f : -1000.0f) + tiny(random);
  }
  const OnBoth both(points.view());
  const PointView queries = points.view().slice(50, 300);
  WorkTimes times;
  const Neighbors found = both.gpu.knn(queries, 10, {.times = &times});
  EXPECT_GT(times.asked_again, 0u);
  expect_same(both.cpu.knn(queries, 10), found);
}

/// Points that come the nearer the later they are scanned: every list overflows, whatever is scanned.
TEST_F(BruteForceOnDevice, PointsInTheWorstOrderAreFound) {
  for (const std::uint32_t dims : {2u, 24u}) {
    constexpr std::uint64_t kPoints = 40000;
    const std::uint64_t tiles = cuda::tiles_of(kPoints);
    const cuda::TileOrder order = cuda::spread_order(tiles);
    PointSet points(DType::f32, kPoints, dims);
    float* values = points.values<float>().data();
    for (std::uint64_t i = 0; i < tiles; ++i) {
      const std::uint64_t first = order.at(i) * cuda::kTilePoints;
      for (std::uint64_t p = first; p < std::min(first + cuda::kTilePoints, kPoints); ++p) {
        const auto distance = static_cast<float>((tiles - i) * cuda::kTilePoints - (p - first));
        for (std::uint32_t d = 0; d < dims; ++d) values[p * dims + d] = distance * (d == 0 ? 1.0f : 1e-3f);
      }
    }
    const OnBoth both(points.view());
    PointSet queries(DType::f32, 130, dims);
    for (std::uint64_t q = 0; q < queries.rows(); ++q) {
      std::fill_n(queries.values<float>().data() + q * dims, dims, static_cast<float>(q) * 0.01f);
    }
    WorkTimes times;
    const Neighbors found = both.gpu.knn(queries.view(), 20, {.times = &times});
    EXPECT_GT(times.asked_again, 0u);
    expect_same(both.cpu.knn(queries.view(), 20), found);
  }
}

/// As if the GPU had memory for a few points only.
TEST_F(SmallBruteForceOnDevice, PointsInPartsAreFoundAsAllAtOnce) {
  std::mt19937_64 random(61);
  for (const std::uint32_t dims : {3u, 20u}) {
    const PointSet points = nasty_points(NastyShape::grid, DType::f32, 1500, dims, random);
    engine::BuildRequest<float> request;
    request.engine = Engine::brute_force;
    request.rows = points.values<float>().data();
    request.row_stride = request.dims = dims;
    request.count = points.rows();
    request.device = Device::cuda();
    const auto parts = cuda::build_brute_force_in_parts(request, 400);
    engine::BuildRequest<float> on_cpu = request;
    on_cpu.device = Device::cpu();
    const auto whole = engine::cpu_backend().build(on_cpu);
    engine::QueryBatch<float> self;
    self.count = points.rows();
    self.filter.exclude_self = true;
    constexpr std::uint32_t kNearest = 12;
    std::vector<std::uint32_t> expected(self.count * kNearest), indices(self.count * kNearest);
    std::vector<float> expected_reduced(self.count * kNearest), reduced(self.count * kNearest);
    whole->knn(self, kNearest, {}, {}, expected.data(), expected_reduced.data(), nullptr);
    parts->knn(self, kNearest, {}, {}, indices.data(), reduced.data(), nullptr);
    EXPECT_EQ(indices, expected);
    EXPECT_EQ(reduced, expected_reduced);
    std::vector<std::uint32_t> expected_counts(self.count), counts(self.count);
    whole->count(self, 0.25f, {}, expected_counts.data());
    parts->count(self, 0.25f, {}, counts.data());
    EXPECT_EQ(counts, expected_counts);
  }
}

TEST_F(BruteForceOnDevice, FilesAreThoseOfTheCpuAndLoadOnBoth) {
  std::mt19937_64 random(41);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet points = nasty_points(NastyShape::signed_zeros, dtype, 700, 20, random);
    for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::inner_product()}) {
      const OnBoth both(points.view(), metric);
      const std::vector<std::byte> bytes = both.gpu.to_bytes();
      EXPECT_EQ(both.cpu.to_bytes(), bytes);
      const Index loaded = Index::from_bytes(bytes, {.device = Device::cuda()});
      EXPECT_EQ(loaded.engine(), Engine::brute_force);
      EXPECT_EQ(loaded.device(), Device::cuda());
      expect_same(both.cpu.knn_self(5), loaded.knn_self(5));
      EXPECT_EQ(both.cpu.to_bytes(), loaded.to_bytes());
    }
  }
}

TEST_F(SmallBruteForceOnDevice, ArraysOnTheGpuAreSearchedThere) {
  std::mt19937_64 random(43);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 900, 18, random);
  const RowsOnDevice<float> rows(points.view(), 21);
  for (const Metric metric : {Metric::l2(), Metric::inner_product()}) {
    const Index index = Index::build(rows.view(), brute_on(Device::cuda(), metric));
    const Index cpu = Index::build(points.view(), brute_on(Device::cpu(), metric));
    const DeviceSearch search(index);
    constexpr std::uint32_t kNearest = 7;
    const Neighbors expected = cpu.knn(points.view(), kNearest);
    const DeviceArray<std::uint32_t> indices(std::vector<std::uint32_t>(expected.indices().size(), 1));
    const DeviceArray<float> distances(std::vector<float>(expected.indices().size(), 1.0f));
    search.knn(rows.view(), kNearest, indices.data(), distances.data());
    require_success(cudaDeviceSynchronize());
    expect_same(expected, Neighbors(expected.queries(), kNearest, expected.missing(), indices.values(),
                                    Distances(distances.values())));
  }
}

TEST_F(SmallBruteForceOnDevice, BoxesEqualTheCpu) {
  std::mt19937_64 random(47);
  const PointSet points = nasty_points(NastyShape::grid, DType::f64, 1000, 3, random);
  const PointSet lower = nasty_points(NastyShape::grid, DType::f64, 60, 3, random);
  PointSet upper = nasty_points(NastyShape::grid, DType::f64, 60, 3, random);
  const OnBoth both(points.view());
  expect_same(both.cpu.box(lower.view(), upper.view()), both.gpu.box(lower.view(), upper.view()));
  EXPECT_EQ(both.cpu.box_count(lower.view(), upper.view()), both.gpu.box_count(lower.view(), upper.view()));
}

TEST_F(BruteForceOnDevice, NaNIsRefusedAsOnTheCpu) {
  std::mt19937_64 random(53);
  PointSet points = nasty_points(NastyShape::uniform, DType::f32, 300, 5, random);
  points.values<float>()[777] = std::nanf("");
  EXPECT_THROW(Index::build(points.view(), brute_on(Device::cuda())), BadData);
  BuildOptions skipping = brute_on(Device::cuda());
  skipping.skip_nonfinite = true;
  const Index index = Index::build(points.view(), skipping);
  EXPECT_EQ(index.skipped(), 1u);
  skipping.device = Device::cpu();
  expect_same(Index::build(points.view(), skipping).knn_self(4), index.knn_self(4));
}

}  // namespace
}  // namespace kith::test
