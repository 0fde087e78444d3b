// A whole kNN search by scans, the kernels run on the host: rounds, filter, overflowing lists and the second look at
// them give what plain sorting gives.
#include "cuda/brute_force/scan/knn_steps.cuh"
#include "cuda/brute_force/select/select_steps.cuh"
#include "cuda/emulation/grid.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            const auto&... arguments) {
  cuda::emulation::run_grid(blocks, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

/// The points of a search, packed for the filters of their dims if these are to filter.
template <typename T>
struct Scanned {
  PointSet points;
  std::vector<std::uint16_t> halves, half_sum_values, half_sum_terms;
  std::vector<float> terms, scales, centre;
  float half_sum_scale = NAN;
  cuda::ScannedPoints<T> scanned;

  Scanned(PointSet given, bool filters) : points(std::move(given)) {
    scanned.points = {points.values<T>().data(), points.rows(), points.dims()};
    scanned.order = cuda::spread_order(cuda::tiles_of(points.rows()));
    if constexpr (std::is_same_v<T, float>) {
      if (!filters) return;
      const std::uint64_t capacity = cuda::padded_product_rows(points.rows());
      halves.resize(capacity * cuda::product_padded_dims(points.dims()));
      terms.resize(capacity);
      scales.resize(capacity);
      centre.resize(points.dims());
      cuda::launch_find_centre(scanned.points, centre.data(), &half_sum_scale, kLaunch);
      cuda::launch_pack_rows(cuda::PackTask{.rows = scanned.points.rows,
                                            .row_stride = points.dims(),
                                            .count = points.rows(),
                                            .dims = points.dims(),
                                            .centre = centre.data(),
                                            .values = halves.data(),
                                            .terms = terms.data(),
                                            .scales = scales.data()},
                             kLaunch);
      scanned.product = {halves.data(), terms.data(), scales.data(), cuda::product_padded_dims(points.dims())};
      scanned.centre = centre.data();
      if (!cuda::has_half_sums(points.dims())) return;
      half_sum_values.resize(halves.size());
      half_sum_terms.resize(2 * capacity);
      cuda::launch_pack_half_sum_rows(
          {scanned.points, centre.data(), &half_sum_scale, half_sum_values.data(), half_sum_terms.data()}, kLaunch);
      scanned.half_sums = {half_sum_values.data(), half_sum_terms.data(), &half_sum_scale};
    }
  }
};

/// Searches and compares; returns how many queries were retried.
template <typename T>
std::uint32_t expect_right(const Scanned<T>& points, const PointSet& queries, std::uint32_t k, T bound,
                           Metric metric = Metric::l2()) {
  const std::uint64_t count = queries.rows(), dims = queries.dims();
  std::vector<std::uint32_t> indices(count * k, 0xdeadbeef);
  std::vector<T> reduced(count * k, T(-7));
  std::uint32_t asked_again = 0;
  const cuda::KnnRequest<T> request{.metric = cuda::SearchMetric<T>::of(metric),
                                    .queries = {.rows = queries.values<T>().data(), .row_stride = dims, .count = count},
                                    .k = k,
                                    .bound = bound,
                                    .answer = {indices.data(), reduced.data()},
                                    .asked_again = &asked_again};
  const cuda::KnnRounds rounds = cuda::plan_rounds(points.points.rows(), k, 10000);
  std::vector<std::byte> memory(
      cuda::KnnScratch<T>(count, rounds.capacity, points.scanned.product.values != nullptr, queries.dims()).bytes +
      256);
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256);
  const auto select = [](const cuda::SelectTask<T>& task) {
    cuda::launch_select(task, engine::SelectMethod::automatic, 2, kLaunch);
  };
  cuda::KnnSteps(points.scanned, request, rounds, aligned, 2, kLaunch, select).run();
  for (std::uint64_t q = 0; q < count; ++q) {
    std::vector<std::pair<T, std::uint32_t>> expected;
    for (std::uint64_t i = 0; i < points.points.rows(); ++i) {
      const T* query = queries.values<T>().data() + q * dims;
      const T* point = points.points.template values<T>().data() + i * dims;
      T distance = 0;
      for (std::uint64_t d = 0; d < dims; ++d) {
        const T difference = query[d] - point[d];
        distance = metric == Metric::l2() ? std::fma(difference, difference, distance)
                                          : std::fma(query[d], point[d], distance);
      }
      if (metric == Metric::inner_product()) distance = distance == 0 ? T(0) : -distance;
      if (distance <= bound) expected.emplace_back(distance, static_cast<std::uint32_t>(i));
    }
    std::sort(expected.begin(), expected.end());
    for (std::uint32_t j = 0; j < k; ++j) {
      const bool is_there = j < expected.size();
      EXPECT_EQ(indices[q * k + j], is_there ? expected[j].second : points.points.rows()) << q << ", rank " << j;
      EXPECT_EQ(reduced[q * k + j], is_there ? expected[j].first : std::numeric_limits<T>::infinity());
      if (testing::Test::HasFailure()) return asked_again;
    }
  }
  return asked_again;
}

TEST(EmulatedBruteForce, RoundsCoverAllTilesOnce) {
  for (const std::uint64_t points : {1ull, 127ull, 128ull, 129ull, 5000ull, 1000000ull, 4000000000ull}) {
    for (const std::uint32_t k : {1u, 10u, 100u, 5000u, 4000000000u}) {
      for (const std::uint64_t queries : {1ull, 100ull, 3000ull, 3001ull, 1000000ull, 1000001ull}) {
        const cuda::KnnRounds rounds = cuda::plan_rounds(points, k, queries, queries % 2 == 1);
        ASSERT_EQ(rounds.ends.back(), cuda::tiles_of(points));
        ASSERT_TRUE(std::is_sorted(rounds.ends.begin(), rounds.ends.end()));
        ASSERT_GE(rounds.capacity, std::min<std::uint64_t>(k, points));
        ASSERT_LE(rounds.ends.front() * cuda::kTilePoints, rounds.capacity);
      }
    }
    const cuda::TileOrder order = cuda::spread_order(cuda::tiles_of(points));
    ASSERT_EQ(std::gcd(order.stride, order.tiles), 1u);
    ASSERT_LE(order.stride, order.tiles);
  }
}

TEST(EmulatedBruteForce, FindsWhatSortingFinds) {
  std::mt19937_64 random(3);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::wide_spread}) {
    const Scanned<float> low(nasty_points(shape, DType::f32, 2500, 3, random), false);
    expect_right<float>(low, nasty_points(shape, DType::f32, 40, 3, random), 9, kInfinity);
    expect_right<float>(low, nasty_points(shape, DType::f32, 2, 3, random), 70, 0.5f);
    const Scanned<float> high(nasty_points(shape, DType::f32, 2300, 20, random), true);
    expect_right<float>(high, nasty_points(shape, DType::f32, 40, 20, random), 9, kInfinity);
    const Scanned<float> filtered(nasty_points(shape, DType::f32, 2300, 6, random), true);
    const PointSet some = nasty_points(shape, DType::f32, 40, 6, random);
    for (const float bound : {-1.0f, 0.0f, 1e-4f, 0.1f, 2.0f, 1e20f, std::numeric_limits<float>::max()}) {
      expect_right<float>(filtered, some, 9, bound);
    }
    const Scanned<double> wide(nasty_points(shape, DType::f64, 1000, 6, random), false);
    expect_right<double>(wide, nasty_points(shape, DType::f64, 20, 6, random), 5, 1e300);
  }
}

TEST(EmulatedBruteForce, FindsTheLargestInnerProducts) {
  std::mt19937_64 random(7);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Metric metric = Metric::inner_product();
  for (const NastyShape shape : {NastyShape::two_values, NastyShape::wide_spread, NastyShape::huge_values}) {
    const Scanned<float> low(nasty_points(shape, DType::f32, 2500, 3, random), false);
    expect_right<float>(low, nasty_points(shape, DType::f32, 60, 3, random), 9, kInfinity, metric);
    expect_right<float>(low, nasty_points(shape, DType::f32, 2, 3, random), 70, -0.5f, metric);
    const Scanned<float> high(nasty_points(shape, DType::f32, 2300, 20, random), false);
    expect_right<float>(high, nasty_points(shape, DType::f32, 50, 20, random), 9, kInfinity, metric);
    const Scanned<double> wide(nasty_points(shape, DType::f64, 1000, 6, random), false);
    expect_right<double>(wide, nasty_points(shape, DType::f64, 20, 6, random), 5, kInfinity, metric);
  }
}

/// Products grow with the tiles: lists overflow, and the second look finds negative reduced distances, ties among them.
TEST(EmulatedBruteForce, OverflowingListsOfInnerProductsAreMadeAgain) {
  constexpr std::uint64_t kPoints = 6000;
  const auto look = [&](auto zero) {
    using T = decltype(zero);
    PointSet points(std::is_same_v<T, float> ? DType::f32 : DType::f64, kPoints, 2);
    const cuda::TileOrder order = cuda::spread_order(cuda::tiles_of(kPoints));
    for (std::uint64_t i = 0; i < order.tiles; ++i) {
      const std::uint64_t first = order.at(i) * cuda::kTilePoints;
      for (std::uint64_t p = first; p < std::min(first + cuda::kTilePoints, kPoints); ++p) {
        points.values<T>()[2 * p] = static_cast<T>(i) - 5;
        points.values<T>()[2 * p + 1] = static_cast<T>(p % 7);
      }
    }
    const Scanned<T> scanned(std::move(points), false);
    PointSet queries(scanned.points.dtype(), 3, 2);
    std::fill_n(queries.values<T>().data(), 6, T(0));
    for (std::uint64_t q = 0; q < 3; ++q) queries.values<T>()[2 * q] = T(0.25) * static_cast<T>(q + 1);
    queries.values<T>()[3] = T(0.01);
    EXPECT_EQ(expect_right<T>(scanned, queries, 10, std::numeric_limits<T>::infinity(), Metric::inner_product()), 3u);
  };
  look(0.0f);
  look(0.0);
}

/// Points that come the nearer the later they are scanned: lists overflow, and the queries are retried.
TEST(EmulatedBruteForce, ListsThatOverflowAreMadeAgain) {
  for (const bool filters : {false, true}) {
    constexpr std::uint64_t kPoints = 6000;
    constexpr std::uint32_t kDims = 5;
    PointSet points(DType::f32, kPoints, kDims);
    const cuda::TileOrder order = cuda::spread_order(cuda::tiles_of(kPoints));
    for (std::uint64_t i = 0; i < order.tiles; ++i) {
      const std::uint64_t first = order.at(i) * cuda::kTilePoints;
      for (std::uint64_t p = first; p < std::min(first + cuda::kTilePoints, kPoints); ++p) {
        float* row = points.values<float>().data() + p * kDims;
        std::fill_n(row, kDims, static_cast<float>(order.tiles - i));
        row[0] += static_cast<float>(p % 7);
      }
    }
    const Scanned<float> scanned(std::move(points), filters);
    PointSet queries(DType::f32, 3, kDims);
    std::fill_n(queries.values<float>().data(), 3 * kDims, 0.25f);
    EXPECT_EQ(expect_right<float>(scanned, queries, 10, std::numeric_limits<float>::infinity()), 3u);
  }
}

}  // namespace
}  // namespace kith::test
