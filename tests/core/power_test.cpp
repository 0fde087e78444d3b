// The power function: its error against long double, that it never falls, and its ends.
#include "core/metric/power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace kith::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// From 1e-300 to 1e300 or from 1e-9 to 1e9.
double random_number(std::mt19937_64& random, int widest) {
  const double fraction = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
  const int exponent = static_cast<int>(random() % (2 * static_cast<unsigned>(widest))) - widest;
  return std::ldexp(fraction, exponent);
}

double random_exponent(std::mt19937_64& random) {
  const double p = 1 + static_cast<double>(random() >> 11) * 0x1p-53 * 12;
  return random() % 3 == 0 ? 1 / p : p;
}

TEST(AnyPower, IsWithinTheBoundOfItsError) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double x = random_number(random, i % 2 == 0 ? 30 : 80), p = random_exponent(random);
    const double found = any_power(x, p);
    const long double expected = std::pow(static_cast<long double>(x), static_cast<long double>(p));
    const long double bound = (p + 1.4 * std::fabs(std::log2(found)) + 3) * 0x1p-53;
    const long double least = std::numeric_limits<double>::denorm_min();
    ASSERT_LE(std::fabs(found - expected), bound * expected + least) << x << "^" << p;
  }
}

TEST(AnyPower, NeverFalls) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    const double x = random_number(random, 1000), p = random_exponent(random);
    ASSERT_LE(any_power(x, p), any_power(std::nextafter(x, kInfinity), p)) << x << "^" << p;
  }
  for (const double p : {1.7, 0.3, 3.33, 0.001, 77.7}) {  // where one piece of the logarithm meets the next
    for (int exponent = -1074; exponent < 1024; ++exponent) {
      for (int piece = 0; piece < 128; ++piece) {
        const double x = std::ldexp(1 + piece / 128.0, exponent);
        ASSERT_LE(any_power(std::nextafter(x, 0.0), p), any_power(x, p)) << x << "^" << p;
        ASSERT_LE(any_power(x, p), any_power(std::nextafter(x, kInfinity), p)) << x << "^" << p;
      }
    }
  }
  for (int i = -1080 * 128; i < 1024 * 128; ++i) {  // and of the power
    const double t = i / 128.0;
    ASSERT_LE(binary_power(std::nextafter(t, -kInfinity)), binary_power(t)) << t;
    ASSERT_LE(binary_power(t), binary_power(std::nextafter(t, kInfinity))) << t;
  }
}

TEST(AnyPower, NoPieceOfTheLogarithmEndsAboveTheNext) {
  for (int piece = 1; piece <= 128; ++piece) {
    const double c = 1 + piece / 128.0;
    EXPECT_LE(binary_logarithm(std::nextafter(c, 0.0)), binary_logarithm(c)) << c;
  }
}

TEST(Exponent, KnowsWherePowersAreNormal) {
  for (const double p : {0.01, 0.7, 1.01, 2.7, 33.3, 999.9, 5000.0}) {
    const Exponent exponent(p);
    const double least = std::nextafter(exponent.least_plain(), kInfinity);
    const double most = std::nextafter(exponent.most_plain(), 0.0);
    EXPECT_GE(any_power(least, p), std::numeric_limits<double>::min()) << p;
    EXPECT_LE(any_power(most, p), std::numeric_limits<double>::max()) << p;
    EXPECT_LT(least, 1.5);
    EXPECT_GT(most, 0.5);
  }
}

TEST(AnyPower, HasTheEndsOfItsRange) {
  for (const double p : {0.3, 1.7, 33.3}) {
    EXPECT_EQ(any_power(0, p), 0);
    EXPECT_EQ(any_power(1, p), 1);
    EXPECT_EQ(any_power(kInfinity, p), kInfinity);
  }
  EXPECT_EQ(any_power(1e300, 1.7), kInfinity);
  EXPECT_EQ(any_power(1e-300, 1.7), 0);
  EXPECT_EQ(any_power(8, 1.0 / 3), 2);
  EXPECT_EQ(binary_power(-1074), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(binary_power(1023), 0x1p1023);
  EXPECT_EQ(binary_logarithm(std::numeric_limits<double>::denorm_min()), -1074);
}

template <typename T>
void check_multiplied(double p, double units) {
  std::mt19937_64 random(3);
  const Exponent exponent(p);
  for (int i = 0; i < 5000; ++i) {
    const T x = static_cast<T>(random_number(random, 1)), found = exponent.of(x);
    const long double expected = std::pow(static_cast<long double>(x), static_cast<long double>(p));
    EXPECT_LE(std::fabs(found - expected), units / 2 * std::numeric_limits<T>::epsilon() * expected) << x << "^" << p;
    EXPECT_LE(found, exponent.of(std::nextafter(x, std::numeric_limits<T>::infinity())));
  }
  EXPECT_EQ(exponent.of(T(0)), T(0));
  EXPECT_EQ(exponent.of(std::numeric_limits<T>::infinity()), std::numeric_limits<T>::infinity());
}

TEST(Exponent, WholeAndHalfOnesAreMultipliedOut) {
  for (const double p : {1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 13.5, 31.0, 64.0}) {
    EXPECT_NE(Exponent(p).whole(), 0u) << p;
    check_multiplied<float>(p, p + 1);
    check_multiplied<double>(p, p + 1);
  }
  EXPECT_EQ(Exponent(3).of(5.0), 125);
  EXPECT_EQ(Exponent(1.5).of(4.0f), 8);
}

TEST(Exponent, FloatsArePowersOfDoublesRoundedOnce) {
  std::mt19937_64 random(4);
  for (const double p : {1.7, 2.25, 65.0}) {
    EXPECT_EQ(Exponent(p).whole(), 0u) << p;
    for (int i = 0; i < 5000; ++i) {
      const float x = static_cast<float>(random_number(random, 3));
      EXPECT_EQ(Exponent(p).of(x), static_cast<float>(any_power(x, p)));
    }
  }
}

}  // namespace
}  // namespace kith::core
