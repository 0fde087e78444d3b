// Powers of vectors are those of numbers, bit for bit, on the instruction set in use.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd_power_test.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/instruction_set.hpp"
#include "cpu/simd_reduced-inl.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

/// All at once and vector by vector; `values` are a whole number of the longest vectors.
template <typename T>
void powers_both_ways(double p, const std::vector<T>& values, std::vector<T>& at_once, std::vector<T>& by_steps) {
  at_once = by_steps = values;
  powers_of(at_once.data(), at_once.size(), core::Exponent(p));
  const hn::ScalableTag<T> lanes;
  for (std::size_t i = 0; i < values.size(); i += hn::Lanes(lanes)) {
    const auto gap = hn::LoadU(lanes, values.data() + i);
    hn::StoreU(gap_step(core::Lp(p), hn::Zero(lanes), gap), lanes, by_steps.data() + i);
  }
}

void powers_f32(double p, const std::vector<float>& values, std::vector<float>& at_once, std::vector<float>& by_steps) {
  powers_both_ways(p, values, at_once, by_steps);
}
void powers_f64(double p, const std::vector<double>& values, std::vector<double>& at_once,
                std::vector<double>& by_steps) {
  powers_both_ways(p, values, at_once, by_steps);
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {
namespace {

HWY_EXPORT(powers_f32);
HWY_EXPORT(powers_f64);

constexpr std::size_t kWhole = 64;  // of the longest vectors: so many numbers are some of them

template <typename T>
void expect_powers_of_numbers(double p, const std::vector<T>& values) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> at_once, by_steps;
  if constexpr (sizeof(T) == 4) HWY_DYNAMIC_DISPATCH(powers_f32)(p, values, at_once, by_steps);
  if constexpr (sizeof(T) == 8) HWY_DYNAMIC_DISPATCH(powers_f64)(p, values, at_once, by_steps);
  const core::Exponent exponent(p);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T expected = exponent.of(values[i]);
    ASSERT_EQ(std::bit_cast<Bits>(at_once[i]), std::bit_cast<Bits>(expected)) << values[i] << "^" << p;
    ASSERT_EQ(std::bit_cast<Bits>(by_steps[i]), std::bit_cast<Bits>(expected)) << values[i] << "^" << p;
  }
}

template <typename T>
class SimdPower : public testing::Test {
 protected:
  SimdPower() { choose_instruction_set(); }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SimdPower, Types);

TYPED_TEST(SimdPower, IsThatOfNumbers) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  std::vector<T> values(kWhole * 16);
  for (int round = 0; round < 1000; ++round) {  // a million numbers
    // Coordinates near each other; any number that there is, denormals among them; both, with zeros in between.
    for (T& value : values) {
      const std::uint64_t bits = random();
      const T near = static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-53);
      const T any = sizeof(T) == 4 ? static_cast<T>(std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 33)))
                                   : static_cast<T>(std::bit_cast<double>(bits >> 1));
      const int kind = round % 4 == 3 ? static_cast<int>(bits % 3) : round % 4;
      value = kind == 0 || std::isnan(any) ? near : kind == 1 ? any : bits % 8 == 0 ? T(0) : near * 1000;
    }
    const double p = 0.5 + static_cast<double>(random() >> 11) * 0x1p-53 * 63.5;
    expect_powers_of_numbers(round % 16 == 0 ? std::round(2 * p) / 2 : p, values);
  }
}

TYPED_TEST(SimdPower, HasTheEndsOfItsRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  for (const double p : {0.3, 1.0001, 1.7, 2.25, 6.7, 33.3, 63.9, 200.1, 4000.0}) {
    std::vector<T> values;
    for (const T value : {T(0), Limits::denorm_min(), Limits::min(), T(1), Limits::max(), Limits::infinity()}) {
      values.insert(values.end(), {std::nextafter(value, T(0)), value, std::nextafter(value, Limits::infinity())});
    }
    for (int exponent = Limits::min_exponent - Limits::digits; exponent < Limits::max_exponent; ++exponent) {
      const T value = std::ldexp(T(1), exponent);
      values.insert(values.end(), {std::nextafter(value, T(0)), value, std::nextafter(value, Limits::infinity())});
    }
    values.resize((values.size() + kWhole - 1) / kWhole * kWhole, T(3));
    expect_powers_of_numbers(p, values);
    for (const T value : values) expect_powers_of_numbers(p, std::vector<T>(kWhole, value));
  }
}

}  // namespace
}  // namespace kith::cpu
#endif  // HWY_ONCE
