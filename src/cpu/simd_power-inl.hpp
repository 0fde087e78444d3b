// Powers on vectors, by the operations of core/metric/power.hpp in the same order, for code that Highway compiles once
// per instruction set.
//
// Per-target guard: included once for each instruction set.
#if defined(KITH_CPU_SIMD_POWER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_POWER_INL
#undef KITH_CPU_SIMD_POWER_INL
#else
#define KITH_CPU_SIMD_POWER_INL
#endif

#include "core/metric/power.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// core::Exponent::of by multiplications, in place.
template <class D, std::size_t kVectors>
HWY_INLINE void multiply_out(D lanes, const core::Exponent& p, hn::Vec<D> (&x)[kVectors]) {
  hn::Vec<D> squares[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    squares[v] = x[v];
    x[v] = p.has_root() ? hn::Sqrt(x[v]) : hn::Set(lanes, 1);
  }
  for (std::uint32_t rest = p.whole();;) {
    if ((rest & 1) != 0) {
      for (std::size_t v = 0; v < kVectors; ++v) x[v] = hn::Mul(x[v], squares[v]);
    }
    rest >>= 1;
    if (rest == 0) return;
    for (auto& square : squares) square = hn::Mul(square, square);
  }
}

/// For each lane table[i] and table[i + 1], where i are the seven bits of a word from bit kShift on. Both lie in one
/// load, so that gathers are no faster.
template <int kShift, class D, class Words>
HWY_INLINE void look_up(D lanes, const double* table, Words words, hn::Vec<D>& value, hn::Vec<D>& next) {
#if HWY_TARGET == HWY_SCALAR
  table += hn::GetLane(words) >> kShift & 127;
  value = hn::Set(lanes, table[0]);
  next = hn::Set(lanes, table[1]);
#else
  if constexpr (hn::MaxLanes(D()) == 2) {
    const auto first = hn::LoadU(lanes, table + (hn::GetLane(words) >> kShift & 127));
    const auto second = hn::LoadU(lanes, table + (hn::ExtractLane(words, 1) >> kShift & 127));
    value = hn::InterleaveLower(lanes, first, second);
    next = hn::InterleaveUpper(lanes, first, second);
  } else {
    const hn::Half<D> half;
    const hn::Half<hn::DFromV<Words>> half_words;
    hn::Vec<decltype(half)> lower, lower_next, upper, upper_next;
    look_up<kShift>(half, table, hn::LowerHalf(half_words, words), lower, lower_next);
    look_up<kShift>(half, table, hn::UpperHalf(half_words, words), upper, upper_next);
    value = hn::Combine(lanes, upper, lower);
    next = hn::Combine(lanes, upper_next, lower_next);
  }
#endif
}

/// core::any_power in place where x and the result are normal numbers; what other lanes get has no meaning. Of several
/// vectors at once, step by step: one alone would leave most of the processor waiting.
///
/// Two things look different from there: a number i in the lower bits of a double is that of i + 1.5 * 2^52, and
/// factors that are powers of two come in where they cost nothing; they change no rounding.
template <class D, std::size_t kVectors>
HWY_INLINE void plain_powers(D lanes, double p, hn::Vec<D> (&x)[kVectors]) {
  const hn::RebindToUnsigned<D> words;
  const auto set = [&](double value) HWY_ATTR { return hn::Set(lanes, value); };
  const auto in_words = [&](std::uint64_t value) HWY_ATTR { return hn::Set(words, value); };
  const auto number = [&](auto bits) HWY_ATTR { return hn::BitCast(lanes, bits); };
  hn::Vec<decltype(words)> bits[kVectors];
  hn::Vec<D> exponents[kVectors], quotients[kVectors], values[kVectors], next[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    bits[v] = hn::BitCast(words, x[v]);
    const auto fraction = hn::Or(hn::And(bits[v], in_words(0xFFFFFFFFFFFFF)), in_words(0x3FF0000000000000));
    const auto m = number(fraction), c = number(hn::And(fraction, in_words(~0x1FFFFFFFFFFFull)));
    quotients[v] = hn::Div(hn::Sub(m, c), hn::Add(m, c));
    look_up<45>(lanes, core::power_tables().logs, bits[v], values[v], next[v]);
    const auto with_offset = number(hn::Or(hn::ShiftRight<52>(bits[v]), in_words(0x4330000000000000)));
    exponents[v] = hn::Sub(with_offset, set(0x1p52 + 1023));
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto s = quotients[v], square = hn::Mul(s, s);
    const auto tail = hn::Mul(square, hn::Add(set(core::kLog3), hn::Mul(square, set(core::kLog5))));
    const auto log = hn::Add(values[v], hn::Mul(s, hn::Add(set(core::kLog1), tail)));
    x[v] = hn::Mul(set(128 * p), hn::Add(exponents[v], log));
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto whole = hn::Floor(x[v]);
    x[v] = hn::Sub(x[v], whole);
    bits[v] = hn::BitCast(words, hn::Add(whole, set(0x1.8p52)));
    look_up<0>(lanes, core::power_tables().powers, bits[v], values[v], next[v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto r = x[v], square = hn::Mul(r, r);
    const auto first = hn::Add(set(core::kPower1), hn::Mul(set(core::kPower2), r));
    const auto second = hn::Add(set(core::kPower3), hn::Mul(set(core::kPower4), r));
    const auto third = hn::Add(set(core::kPower5), hn::Mul(set(core::kPower6), r));
    const auto sum = hn::Add(first, hn::Mul(square, hn::Add(second, hn::Mul(square, third))));
    const auto sought = hn::Add(values[v], hn::Mul(values[v], hn::Mul(r, sum)));
    const auto shift = hn::And(hn::ShiftLeft<45>(bits[v]), in_words(0xFFF0000000000000));
    x[v] = number(hn::Add(hn::BitCast(words, hn::Min(sought, next[v])), shift));
  }
}

/// Doubles as floats. Where Highway has no vectors, it makes of infinity the largest number: there the compiler does
/// it.
template <class D, class V>
HWY_INLINE hn::Vec<D> rounded(D lanes, V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  HWY_ALIGN double from[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN float to[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, hn::DFromV<V>(), from);
  for (std::size_t i = 0; i < hn::Lanes(lanes); ++i) to[i] = static_cast<float>(from[i]);
  return hn::Load(lanes, to);
#else
  return hn::DemoteTo(lanes, x);
#endif
}

/// Replaces kVectors vectors of numbers, f32 or f64, by their powers, which f64 computes and which are rounded once.
template <std::size_t kVectors, typename T>
HWY_INLINE void powers_of_vectors(T* values, const core::Exponent& p) {
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<T, decltype(doubles)> lanes;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<double>());
  const auto least = hn::Set(lanes, static_cast<T>(p.least_plain())),
             most = hn::Set(lanes, static_cast<T>(p.most_plain()));
  hn::Vec<decltype(lanes)> x[kVectors];
  hn::Vec<decltype(doubles)> powers[kVectors];
  auto is_plain = hn::Eq(least, least);
  for (std::size_t v = 0; v < kVectors; ++v) {
    x[v] = hn::LoadU(lanes, values + v * kLanes);
    is_plain = hn::And(is_plain, hn::And(hn::Gt(x[v], least), hn::Lt(x[v], most)));
    if constexpr (sizeof(T) == sizeof(double)) powers[v] = x[v];
    if constexpr (sizeof(T) != sizeof(double)) powers[v] = hn::PromoteTo(doubles, x[v]);
  }
  plain_powers(doubles, p.value(), powers);
  for (std::size_t v = 0; v < kVectors; ++v) {
    if constexpr (sizeof(T) == sizeof(double)) hn::StoreU(powers[v], lanes, values + v * kLanes);
    if constexpr (sizeof(T) != sizeof(double)) hn::StoreU(rounded(lanes, powers[v]), lanes, values + v * kLanes);
  }
  if (HWY_LIKELY(hn::AllTrue(lanes, is_plain))) return;
  for (std::size_t v = 0; v < kVectors; ++v) {
    HWY_ALIGN T numbers[kLanes];
    hn::Store(x[v], lanes, numbers);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const T number = numbers[i];
      const bool was_plain = number > static_cast<T>(p.least_plain()) && number < static_cast<T>(p.most_plain());
      if (!was_plain) values[v * kLanes + i] = number == 0 ? number : p.of(number);
    }
  }
}

/// Replaces numbers by their powers; `count` is a multiple of the lanes of a vector of T.
template <typename T>
HWY_NOINLINE void powers_of(T* values, std::size_t count, const core::Exponent& p) {
  std::size_t i = 0;
  if (p.whole() != 0) {
    const hn::ScalableTag<T> lanes;
    const auto multiply = [&](auto vectors) HWY_ATTR {
      hn::Vec<decltype(lanes)> x[vectors.value];
      const std::size_t size = hn::Lanes(lanes);
      for (; i + vectors.value * size <= count; i += vectors.value * size) {
        for (std::size_t v = 0; v < vectors.value; ++v) x[v] = hn::LoadU(lanes, values + i + v * size);
        multiply_out(lanes, p, x);
        for (std::size_t v = 0; v < vectors.value; ++v) hn::StoreU(x[v], lanes, values + i + v * size);
      }
    };
    multiply(std::integral_constant<std::size_t, 8>());
    multiply(std::integral_constant<std::size_t, 1>());
    return;
  }
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<double>()), kMost = 4;
  constexpr std::size_t kLeast = hn::MaxLanes(hn::ScalableTag<T>()) / kLanes;
  for (; i + kMost * kLanes <= count; i += kMost * kLanes) powers_of_vectors<kMost>(values + i, p);
  for (; i < count; i += kLeast * kLanes) powers_of_vectors<kLeast>(values + i, p);
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
