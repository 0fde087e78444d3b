// Angles from chords: how near they are to the true ones, and that they keep the order of chords.
#include "core/metric/angle.hpp"

#include "core/metric/reported_distance.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace kith::core {
namespace {

long double true_angle(double square) {
  const long double quarter = static_cast<long double>(square) / 4;
  return quarter <= 0.5L ? 2 * std::asin(std::sqrt(quarter)) : std::acos(-1.0L) - 2 * std::asin(std::sqrt(1 - quarter));
}

/// Squares of all sizes, most of them between 0.001 and 4.
double random_square(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  switch (random() % 4) {
    case 0:
      return 4 * uniform(random);
    case 1:
      return 4 - 4 * std::exp2(-52 * uniform(random));
    case 2: {
      const double size = std::exp2(-50 * uniform(random));
      return 2 + size * (uniform(random) - 0.5);
    }
    default:
      return 4 * std::exp2(-300 * uniform(random));
  }
}

TEST(Angle, IsOffByLessThanAQuadrillionth) {
  std::mt19937_64 random(1);
  long double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double square = random_square(random);
    const long double expected = true_angle(square);
    if (expected == 0) continue;
    worst = std::max(worst, std::abs(angle_of_chord(square) - expected) / expected);
  }
  EXPECT_LT(worst, 1e-15L);
}

TEST(Angle, NeverFallsAsTheChordRises) {
  const auto expect_rising_from = [](double square) {
    double angle = angle_of_chord(square);
    for (int step = 0; step < 16; ++step) {
      square = std::nextafter(square, 5.0);
      const double next = angle_of_chord(square);
      ASSERT_LE(angle, next) << "at " << square;
      angle = next;
    }
  };
  std::mt19937_64 random(2);
  for (int i = 0; i < 30000; ++i) expect_rising_from(random_square(random));
  double before_middle = 2, before_end = 4;
  for (int i = 0; i < 8; ++i) {
    before_middle = std::nextafter(before_middle, 0.0);
    before_end = std::nextafter(before_end, 0.0);
  }
  expect_rising_from(before_middle);
  expect_rising_from(before_end);
  expect_rising_from(0.0);
  expect_rising_from(std::numeric_limits<double>::min());
}

TEST(Angle, HasTheEndsThatItShould) {
  EXPECT_EQ(0.0, angle_of_chord(0.0));
  EXPECT_EQ(std::acos(-1.0), angle_of_chord(4.0));
  EXPECT_EQ(std::acos(-1.0), angle_of_chord(4.0000001));
  EXPECT_NEAR(std::acos(-1.0) / 2, angle_of_chord(2.0), 1e-15);
  EXPECT_NEAR(std::acos(-1.0) / 3, angle_of_chord(1.0), 1e-15);
}

template <typename T>
void expect_exact_bounds() {
  const Metric metric = Metric::angular();
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const T reduced = static_cast<T>(random_square(random));
    const double at = static_cast<double>(reported_distance(metric, false, reduced));
    for (const double radius : {at, std::nextafter(at, 0.0), std::nextafter(at, 4.0)}) {
      const T bound = reduced_bound_of_radius<T>(metric, radius);
      ASSERT_LE(static_cast<double>(reported_distance(metric, false, std::min(bound, T(4)))), radius);
      const T next = std::nextafter(bound, std::numeric_limits<T>::infinity());
      if (bound < T(4)) {
        ASSERT_GT(static_cast<double>(reported_distance(metric, false, next)), radius);
      }
    }
  }
  EXPECT_EQ(T(0), reduced_bound_of_radius<T>(metric, 0.0));
  EXPECT_EQ(0u, std::bit_cast<std::uint32_t>(static_cast<float>(reduced_bound_of_radius<T>(metric, -0.0))));
  EXPECT_EQ(std::numeric_limits<T>::infinity(), reduced_bound_of_radius<T>(metric, 4.0));
  EXPECT_EQ(std::numeric_limits<T>::infinity(),
            reduced_bound_of_radius<T>(metric, std::numeric_limits<double>::infinity()));
  EXPECT_EQ(std::numeric_limits<T>::infinity(),
            reported_distance(metric, false, std::numeric_limits<T>::infinity()));  // no neighbour
}

TEST(Angle, RadiiBecomeTheLastChordWithin) {
  expect_exact_bounds<float>();
  expect_exact_bounds<double>();
}

}  // namespace
}  // namespace kith::core
