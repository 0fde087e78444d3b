// The chains, boxes, lists and radii of the contract, and the oracle itself against long double.
#include "core/metric/reduced_distance.hpp"
#include "core/order/candidate.hpp"
#include "core/dispatch.hpp"
#include "core/order/nearest_list.hpp"
#include "core/metric/reported_distance.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class ReducedDistances : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ReducedDistances, Types);

struct WrappingMetrics {
  template <typename M>
  static constexpr bool kTakes = core::EveryReduction::kTakes<M>&& M::kInfo.wraps;
};

TYPED_TEST(ReducedDistances, OracleAgreesWithLongDouble) {
  using T = TypeParam;
  std::mt19937_64 random(42);
  for (int round = 0; round < 300; ++round) {
    const auto dims = static_cast<std::uint32_t>(1 + random() % 40);
    const PointSet rows = nasty_points(NastyShape::uniform, dtype_of<T>, 2, dims, random);
    const std::vector<T> a(rows.view().row<T>(0), rows.view().row<T>(0) + dims);
    const std::vector<T> b(rows.view().row<T>(1), rows.view().row<T>(1) + dims);
    long double squares = 0, sum = 0, most = 0, dot = 0, aa = 0, bb = 0, cubes = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const long double e = static_cast<long double>(a[d]) - static_cast<long double>(b[d]);
      squares += e * e;
      sum += std::fabs(e);
      most = std::max(most, std::fabs(e));
      cubes += std::fabs(e * e * e);
      dot += static_cast<long double>(a[d]) * b[d];
      aa += static_cast<long double>(a[d]) * a[d];
      bb += static_cast<long double>(b[d]) * b[d];
    }
    const double allowed = (dims + 4) * static_cast<double>(std::numeric_limits<T>::epsilon());
    const auto near = [&](T found, long double expected, double scale) {
      EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected), allowed * scale) << "dims " << dims;
    };
    near(oracle_distance<T>(Metric::l2(), true, a, b), squares, static_cast<double>(squares));
    near(oracle_distance<T>(Metric::l2(), false, a, b), std::sqrt(squares), static_cast<double>(std::sqrt(squares)));
    near(oracle_distance<T>(Metric::l1(), false, a, b), sum, static_cast<double>(sum));
    near(oracle_distance<T>(Metric::linf(), false, a, b), most, static_cast<double>(most));
    near(oracle_distance<T>(Metric::lp(3), false, a, b), std::cbrt(cubes), static_cast<double>(std::cbrt(cubes)));
    near(oracle_distance<T>(Metric::cosine(), false, a, b), 1 - dot / std::sqrt(aa * bb), 2);
    near(oracle_distance<T>(Metric::inner_product(), false, a, b), -dot, static_cast<double>(dot));
  }
}

TYPED_TEST(ReducedDistances, InnerProductsAreNegatedAndNeverMinusZeroOrNaN) {
  using T = TypeParam;
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kMost = std::numeric_limits<T>::max();
  const auto reduced = [](std::vector<T> query, std::vector<T> point) {
    return core::reduced_distance(core::InnerProduct{}, query.data(), point.data(),
                                  static_cast<std::uint32_t>(query.size()));
  };
  EXPECT_EQ(reduced({1, 2, -3}, {4, 5, 6}), T(4));
  EXPECT_EQ(reduced({1, 2, 3}, {4, 5, 6}), T(-32));
  for (const auto& [query, point] : std::vector<std::pair<std::vector<T>, std::vector<T>>>{
           {{T(-0.0)}, {1}}, {{0, 0}, {1, -1}}, {{1, -1}, {2, 2}}, {{-std::numeric_limits<T>::min()}, {T(1e-30)}}}) {
    const T zero = reduced(query, point);
    EXPECT_EQ(zero, T(0));
    EXPECT_FALSE(std::signbit(zero));
  }
  EXPECT_EQ(reduced({2, 2}, {kMost, -kMost}), -kInfinity) << "the first overflow stays";
  EXPECT_EQ(reduced({2, 2}, {-kMost, kMost}), kInfinity);
}

/// Around all rows but the first, which is the query.
template <typename T>
std::pair<std::vector<T>, std::vector<T>> box_behind_first(PointView rows) {
  std::vector<T> lower(rows.row<T>(1), rows.row<T>(1) + rows.dims()), upper = lower;
  for (std::uint64_t i = 2; i < rows.rows(); ++i) {
    for (std::uint32_t d = 0; d < rows.dims(); ++d) {
      lower[d] = std::min(lower[d], rows.row<T>(i)[d]);
      upper[d] = std::max(upper[d], rows.row<T>(i)[d]);
    }
  }
  return {lower, upper};
}

TYPED_TEST(ReducedDistances, ABoxIsNeverFartherThanAPointInside) {
  using T = TypeParam;
  std::mt19937_64 random(43);
  for (int round = 0; round < 3000; ++round) {
    const auto dims = static_cast<std::uint32_t>(1 + random() % 9);
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const PointSet rows = nasty_points(shape, dtype_of<T>, 6, dims, random);
    const auto box = box_behind_first<T>(rows.view());
    const T* query = rows.view().row<T>(0);
    for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(1.5), Metric::lp(2.7),
                                Metric::lp(3), Metric::canberra()}) {
      core::visit_reduction<core::KdTreeReductions>(metric, [&](auto reduced) {
        const T bound = core::reduced_to_box(reduced, query, box.first.data(), box.second.data(), dims);
        for (std::uint64_t i = 1; i < 6; ++i) {
          EXPECT_LE(bound, core::reduced_distance(reduced, query, rows.view().row<T>(i), dims));
        }
      });
    }
  }
}

TYPED_TEST(ReducedDistances, OnPeriodicAxesABoxIsNeverFartherThanAPointInside) {
  using T = TypeParam;
  std::mt19937_64 random(46);
  for (int round = 0; round < 4000; ++round) {
    const auto dims = static_cast<std::uint32_t>(1 + random() % 5);
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    PointSet rows = nasty_points(shape, dtype_of<T>, 6, dims, random);
    std::vector<T> lengths(dims, std::numeric_limits<T>::infinity());
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (random() % 3 == 0) continue;
      T largest = 0;
      for (std::uint64_t i = 0; i < 6; ++i) {
        T& x = rows.values<T>()[i * dims + d];
        x = std::fabs(x);
        largest = std::max(largest, x);
      }
      lengths[d] = std::nextafter(largest, std::numeric_limits<T>::infinity());
      if (random() % 2 == 0 && std::isfinite(lengths[d] * T(1.3))) lengths[d] *= T(1.3);
    }
    const auto box = box_behind_first<T>(rows.view());
    const T* query = rows.view().row<T>(0);
    for (const Metric metric :
         {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(1.5), Metric::lp(2.7), Metric::lp(3)}) {
      core::visit_reduction<WrappingMetrics>(metric, [&](auto reduced) {
        const T bound =
            core::periodic_reduced_to_box(reduced, query, box.first.data(), box.second.data(), lengths.data(), dims);
        EXPECT_GE(bound, T(0));
        for (std::uint64_t i = 1; i < 6; ++i) {
          const T* point = rows.view().row<T>(i);
          const T found = core::periodic_reduced_distance(reduced, query, point, lengths.data(), dims);
          EXPECT_LE(bound, found);
          EXPECT_LE(found, core::reduced_distance(reduced, query, point, dims));
          EXPECT_EQ(found, core::periodic_reduced_distance(reduced, point, query, lengths.data(), dims));
        }
      });
    }
  }
}

TYPED_TEST(ReducedDistances, ARadiusBoundIsTheLastValueWithin) {
  using T = TypeParam;
  std::mt19937_64 random(44);
  std::vector<double> radii{
      0,    1e-30, 1e-23, 5e-324, 1e-45, 1,     3,     0.1,
      1e18, 1e19,  2e19,  1e38,   1e154, 2e154, 1e308, static_cast<double>(std::numeric_limits<T>::max())};
  for (int i = 0; i < 2000; ++i) radii.push_back(std::ldexp(static_cast<double>(random() >> 11), -60));
  for (const double radius : radii) {
    const T bound = core::reduced_bound_of_radius<T>(Metric::l2(), radius);
    EXPECT_LE(static_cast<double>(std::sqrt(bound)), radius);
    const T next = std::nextafter(bound, std::numeric_limits<T>::infinity());
    EXPECT_GT(static_cast<double>(std::sqrt(next)), radius) << radius;
    const T cosine = core::reduced_bound_of_radius<T>(Metric::cosine(), radius);
    if (std::isfinite(cosine)) {
      EXPECT_LE(static_cast<double>(cosine / 2), radius);
      const T after = std::nextafter(cosine, std::numeric_limits<T>::infinity());
      EXPECT_GT(static_cast<double>(after) / 2, radius);
    }
    EXPECT_LE(static_cast<double>(core::reduced_bound_of_radius<T>(Metric::l1(), radius)), radius);
  }
  EXPECT_TRUE(std::isinf(core::reduced_bound_of_radius<T>(Metric::l2(), std::numeric_limits<double>::infinity())));
}

TYPED_TEST(ReducedDistances, NearestListKeepsTheSmallestPairs) {
  using T = TypeParam;
  std::mt19937_64 random(45);
  for (int round = 0; round < 300; ++round) {
    const auto capacity = static_cast<std::uint32_t>(random() % 20);
    std::vector<core::Candidate<T>> offered, storage(capacity);
    core::NearestList<T> list(storage.data(), capacity);
    for (std::uint32_t i = 0; i < random() % 60; ++i) {
      offered.push_back({static_cast<T>(random() % 5), static_cast<std::uint32_t>(random() % 100)});
      list.offer(offered.back());
    }
    std::sort(offered.begin(), offered.end());
    ASSERT_EQ(list.size(), std::min<std::size_t>(capacity, offered.size()));
    for (std::uint32_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i], offered[i]);
  }
}

}  // namespace
}  // namespace kith::test
