// Coordinates taken as zero change no distance under L2, and searches over them give the answers of brute force.
#include "cpu/kd_tree/tiny_coordinates.hpp"

#include "core/metric/reduced_distance.hpp"
#include "support/expect_same.hpp"

#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::cpu {
namespace {

template <typename T>
class TinyCoordinates : public testing::Test {
 protected:
  /// Of either sign, between 2^low and 2^(high + 1), with powers of two among them.
  T draw(int low, int high) {
    const int exponent = low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
    const auto fraction = random_() % 4 == 0 ? 0.0 : static_cast<double>(random_() >> 11) * 0x1p-53;
    const double sign = random_() % 2 == 0 ? 1 : -1;
    return static_cast<T>(std::ldexp(sign * (1 + fraction), exponent));
  }
  PointSet points(std::uint64_t rows, std::uint32_t dims, const std::vector<int>& exponents) {
    PointSet points(sizeof(T) == 4 ? DType::f32 : DType::f64, rows, dims);
    for (T& value : points.template values<T>()) {
      const int exponent = exponents[random_() % exponents.size()];
      value = random_() % 8 == 0 ? T(0) : draw(exponent, exponent);
    }
    return points;
  }

  static constexpr int kTinyExponent = sizeof(T) == 4 ? -101 : -593;
  static constexpr int kLowest = sizeof(T) == 4 ? -149 : -1074;
  static constexpr int kSquareOfHalfTheLowest = sizeof(T) == 4 ? -75 : -538;
  std::mt19937_64 random_{7};
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TinyCoordinates, Types);

TYPED_TEST(TinyCoordinates, AddNothingToAnyDistance) {
  using T = TypeParam;
  const int edge = this->kSquareOfHalfTheLowest;
  for (int round = 0; round < 60000; ++round) {
    const T tiny =
        round % 64 == 0 ? std::nextafter(kTiny<T>, T(0)) : this->draw(this->kLowest, this->kTinyExponent - 1);
    ASSERT_EQ(without_tiny(tiny), T(0));
    // Of some the square is next to halfway between two numbers, so that the least difference shows.
    const auto halves = static_cast<T>(1 + 2 * (this->random_() % 64));
    const T halfway =
        std::ldexp(std::sqrt(halves / 2 * (sizeof(T) == 4 ? T(2) : T(1))), edge + (sizeof(T) == 4 ? 0 : 1));
    const T other = round % 3 == 0   ? this->draw(edge - 4, edge + 4)
                    : round % 3 == 1 ? (round % 2 == 0 ? halfway : std::nextafter(halfway, T(0)))
                                     : this->draw(this->kLowest, 20);
    const T sum = round % 5 == 0 ? T(0) : std::abs(this->draw(this->kLowest, this->kLowest + 40));
    const core::L2 metric;
    ASSERT_EQ(core::step_of_pair(metric, sum, other, tiny), core::step_of_pair(metric, sum, other, T(0)))
        << "round " << round << ", " << other << ", " << tiny << ", " << sum;
  }
  EXPECT_EQ(without_tiny(kTiny<T>), kTiny<T>);
  EXPECT_EQ(without_tiny(-kTiny<T>), -kTiny<T>);
}

TYPED_TEST(TinyCoordinates, SearchAsByBruteForce) {
  const int edge = this->kSquareOfHalfTheLowest, tiny = this->kTinyExponent;
  const std::vector<std::vector<int>> shapes = {
      {this->kLowest, this->kLowest + 4}, {tiny - 1, tiny - 2},   {tiny - 1, tiny},
      {edge - 1, edge, tiny - 1},         {this->kLowest + 9, 0}, {edge + 3, edge + 5, tiny - 4}};
  for (const std::vector<int>& exponents : shapes) {
    for (const std::uint32_t dims : {1u, 3u, 40u}) {
      const PointSet points = this->points(dims == 40 ? 150 : 500, dims, exponents);
      const PointSet queries = this->points(40, dims, exponents);
      for (const Metric metric : {Metric::l2(), Metric::l1()}) {
        SCOPED_TRACE(testing::Message() << metric.name() << ", " << dims << " dims, 2^" << exponents[0]);
        const Index tree = Index::build(points.view(), {.engine = Engine::kd_tree, .metric = metric});
        const Index plain = Index::build(points.view(), {.engine = Engine::brute_force, .metric = metric});
        for (const std::uint32_t k : {1u, 8u, 40u}) {
          test::expect_same(plain.knn(queries.view(), k), tree.knn(queries.view(), k));
          test::expect_same(plain.knn_self(k), tree.knn_self(k));
          test::expect_same(plain.knn(queries.view().slice(0, 1), k), tree.knn(queries.view().slice(0, 1), k));
        }
        const double radius = std::ldexp(1.5, exponents[0]);
        test::expect_same(plain.radius(queries.view(), radius), tree.radius(queries.view(), radius));
        EXPECT_EQ(plain.count(queries.view(), radius), tree.count(queries.view(), radius));
        const bool are_tiny = std::all_of(exponents.begin(), exponents.end(), [&](int e) { return e < tiny; });
        const bool is_l2 = metric.kind() == Metric::Kind::l2;
        if (are_tiny || !is_l2) {
          EXPECT_EQ(tree.explain_knn(8).find("as zero") != std::string::npos, is_l2);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::cpu
