// Sine and cosine against long double, at the ends of their ranges and in between.
#include "core/metric/sine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kith::test {
namespace {

void expect_right(double angle, bool is_degrees) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  const long double exact = is_degrees ? static_cast<long double>(angle) * kPi / 180 : angle;
  const core::SineAndCosine found = core::sine_and_cosine(angle, is_degrees);
  EXPECT_LE(std::fabs(found.sine - std::sin(exact)), 0x1p-52L) << angle << (is_degrees ? " degrees" : " radians");
  EXPECT_LE(std::fabs(found.cosine - std::cos(exact)), 0x1p-52L) << angle << (is_degrees ? " degrees" : " radians");
}

TEST(SineAndCosine, AreOffByLessThanTheLastPlaceOfOne) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const double turn = std::uniform_real_distribution<>(-1, 1)(random);
    expect_right(turn * 360, true);
    expect_right(turn * 6.283185307179586, false);
  }
  for (int eighth = -8; eighth <= 8; ++eighth) {
    for (const double step : {-1e-9, -1e-16, 0.0, 1e-300, 1e-16, 1e-9}) {
      expect_right(eighth * 45.0 + step, true);
      expect_right(eighth * 0.78539816339744831 + step, false);
    }
  }
}

TEST(SineAndCosine, AreExactAtQuarterTurns) {
  for (int turns = -4; turns <= 4; ++turns) {
    const core::SineAndCosine found = core::sine_and_cosine(turns * 90.0, true);
    const double sines[] = {0, 1, 0, -1};
    EXPECT_EQ(found.sine, sines[turns & 3]) << turns;
    EXPECT_EQ(found.cosine, sines[(turns + 1) & 3]) << turns;
  }
}

}  // namespace
}  // namespace kith::test
