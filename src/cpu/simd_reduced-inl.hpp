// The chains of the contract on vectors, for code that Highway compiles once per instruction set. A lane is a pair.
//
// Per-target guard: included once for each instruction set.
#if defined(KITH_CPU_SIMD_REDUCED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_REDUCED_INL
#undef KITH_CPU_SIMD_REDUCED_INL
#else
#define KITH_CPU_SIMD_REDUCED_INL
#endif

#include "core/dispatch.hpp"
#include "core/metric/reduced_distance.hpp"
#include "cpu/simd_power-inl.hpp"

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a * b + c rounded once, also where the instruction set has no such instruction.
template <class V>
HWY_INLINE V fused(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const hn::DFromV<V> lanes;
  using T = hn::TFromD<decltype(lanes)>;
  HWY_ALIGN T x[HWY_MAX_BYTES / sizeof(T)], y[HWY_MAX_BYTES / sizeof(T)], z[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(a, lanes, x);
  hn::Store(b, lanes, y);
  hn::Store(c, lanes, z);
  for (std::size_t i = 0; i < hn::Lanes(lanes); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(lanes, z);
#endif
}

/// As core::visit_dims, but where software has to compute fused multiply-adds constant dims gain nothing: one copy will
/// do.
template <typename F>
HWY_INLINE decltype(auto) visit_simd_dims(std::uint32_t dims, F&& f) {
#if HWY_NATIVE_FMA
  return core::visit_dims(dims, std::forward<F>(f));
#else
  (void)dims;
  return std::forward<F>(f)(std::integral_constant<std::uint32_t, core::kRuntimeDims>{});
#endif
}

/// core::formula::OnNumbers on vectors.
template <class M, class V>
struct OnVectors {
  const M& metric;
  V sum, x, y;

  HWY_INLINE V operator()(core::formula::Sum) const { return sum; }
  HWY_INLINE V operator()(core::formula::X) const { return x; }
  HWY_INLINE V operator()(core::formula::Y) const { return y; }
  HWY_INLINE V operator()(core::formula::Zero) const { return hn::Zero(hn::DFromV<V>()); }
  template <class A, class B>
  HWY_INLINE V operator()(core::formula::Plus<A, B>) const {
    return hn::Add((*this)(A{}), (*this)(B{}));
  }
  template <class A, class B>
  HWY_INLINE V operator()(core::formula::Minus<A, B>) const {
    return hn::Sub((*this)(A{}), (*this)(B{}));
  }
  template <class A, class B>
  HWY_INLINE V operator()(core::formula::Larger<A, B>) const {
    return hn::Max((*this)(A{}), (*this)(B{}));
  }
  template <class A>
  HWY_INLINE V operator()(core::formula::Absolute<A>) const {
    return hn::Abs((*this)(A{}));
  }
  template <class A, class B, class C>
  HWY_INLINE V operator()(core::formula::Fused<A, B, C>) const {
    return fused((*this)(A{}), (*this)(B{}), (*this)(C{}));
  }
  template <class A, class B>
  HWY_INLINE V operator()(core::formula::RelativeDifference<A, B>) const {
    const hn::DFromV<V> lanes;
    const V a = (*this)(A{}), b = (*this)(B{});
    V apart = hn::Abs(hn::Sub(a, b)), both = hn::Add(hn::Abs(a), hn::Abs(b));
    const auto is_too_large = hn::Gt(both, hn::Set(lanes, hwy::HighestValue<hn::TFromD<hn::DFromV<V>>>()));
    if (HWY_UNLIKELY(!hn::AllFalse(lanes, is_too_large))) {
      const V half = hn::Set(lanes, hn::TFromD<hn::DFromV<V>>(0.5)), x2 = hn::Mul(a, half), y2 = hn::Mul(b, half);
      apart = hn::IfThenElse(is_too_large, hn::Abs(hn::Sub(x2, y2)), apart);
      both = hn::IfThenElse(is_too_large, hn::Add(hn::Abs(x2), hn::Abs(y2)), both);
    }
    return hn::IfThenElseZero(hn::Gt(both, hn::Zero(lanes)), hn::Div(apart, both));
  }
  template <class A>
  HWY_INLINE V operator()(core::formula::Power<A>) const {
    const hn::DFromV<V> lanes;
    using T = hn::TFromD<decltype(lanes)>;
    V power[] = {(*this)(A{})};
    if (HWY_LIKELY(metric.p.whole() != 0)) {
      multiply_out(lanes, metric.p, power);
      return power[0];
    }
    HWY_ALIGN T values[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(power[0], lanes, values);
    powers_of(values, hn::Lanes(lanes), metric.p);
    return hn::Load(lanes, values);
  }
};

/// What a step `sum + power(…)` takes powers of: many at once are faster than one by one.
template <class Step>
struct PowerTerm {
  static constexpr bool kIsThere = false;
};
template <class A>
struct PowerTerm<core::formula::Plus<core::formula::Sum, core::formula::Power<A>>> {
  static constexpr bool kIsThere = true;
  using Base = A;
};
template <class M>
using PowerTermOf = PowerTerm<std::remove_const_t<decltype(M::kStep)>>;

/// core::step_of_pair on vectors, axes aside.
template <class M, class V>
HWY_INLINE V step_of_values(const M& metric, V sum, V query, V point) {
  return OnVectors<M, V>{metric, sum, query, point}(std::remove_const_t<decltype(M::kStep)>{});
}

/// core::step_of_gap on vectors.
template <class M, class V>
HWY_INLINE V gap_step(const M& metric, V sum, V gap) {
  static_assert(M::kIsOfDifferences);
  return step_of_values(metric, sum, gap, hn::Zero(hn::DFromV<V>()));
}

/// core::finish_sum on vectors.
template <class M, class V>
HWY_INLINE V reduced_end(const M& metric, V sum) {
  return OnVectors<M, V>{metric, sum, sum, sum}(std::remove_const_t<decltype(M::kEnd)>{});
}

/// The second sum of a metric that is a quotient, and core::quotient, on vectors.
template <class M, class V>
HWY_INLINE V second_step_of_values(const M& metric, V sum, V query, V point) {
  return OnVectors<M, V>{metric, sum, query, point}(std::remove_const_t<decltype(M::kSecondStep)>{});
}
template <class V>
HWY_INLINE V quotient(V a, V b) {
  const hn::DFromV<V> lanes;
  const V ratio = hn::IfThenElse(hn::Eq(a, b), hn::Set(lanes, hn::TFromD<decltype(lanes)>(1)), hn::Div(a, b));
  return hn::IfThenZeroElse(hn::Eq(a, hn::Zero(lanes)), ratio);
}

/// core::shorter_way on vectors. Written as a selection: what a vector minimum makes of NaN differs between machines.
template <class V>
HWY_INLINE V shorter_way(V difference, V length) {
  const auto straight = hn::Abs(difference);
  const auto around = hn::Sub(length, straight);
  return hn::IfThenElse(hn::Lt(around, straight), around, straight);
}

/// What the step of a metric of differences gets on plain axes: towards a point, and the least towards any point of an
/// interval.
template <typename T>
struct PlainAxes {
  explicit PlainAxes(const T*) {}

  template <class D>
  HWY_INLINE hn::Vec<D> apart(D, std::uint32_t, hn::Vec<D> query, hn::Vec<D> point) const {
    return hn::Sub(query, point);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> apart(D lanes, std::uint32_t, hn::Vec<D> query, hn::Vec<D> lower, hn::Vec<D> upper) const {
    return hn::Max(hn::Max(hn::Sub(lower, query), hn::Sub(query, upper)), hn::Zero(lanes));
  }
  /// Between two intervals, as plain numbers.
  HWY_INLINE T between(std::uint32_t, T lower, T upper, T other_lower, T other_upper) const {
    return core::larger(core::larger(other_lower - upper, lower - other_upper), T(0));
  }
};

/// And on periodic ones.
template <typename T>
struct PeriodicAxes {
  const T* lengths;

  explicit PeriodicAxes(const T* axis_lengths) : lengths(axis_lengths) {}

  template <class D>
  HWY_INLINE hn::Vec<D> apart(D lanes, std::uint32_t d, hn::Vec<D> query, hn::Vec<D> point) const {
    return shorter_way(hn::Sub(query, point), hn::Set(lanes, lengths[d]));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> apart(D lanes, std::uint32_t d, hn::Vec<D> query, hn::Vec<D> lower, hn::Vec<D> upper) const {
    const auto nearest = hn::Max(hn::Max(hn::Sub(lower, query), hn::Sub(query, upper)), hn::Zero(lanes));
    const auto farthest = hn::Max(hn::Sub(upper, query), hn::Sub(query, lower));
    const auto around = hn::Sub(hn::Set(lanes, lengths[d]), farthest);
    return hn::IfThenElse(hn::Lt(around, nearest), around, nearest);
  }
  HWY_INLINE T between(std::uint32_t d, T lower, T upper, T other_lower, T other_upper) const {
    const T nearest = core::larger(core::larger(other_lower - upper, lower - other_upper), T(0));
    const T around = lengths[d] - core::larger(other_upper - lower, upper - other_lower);
    return around < nearest ? around : nearest;
  }
};

/// core::step_of_pair on vectors: the sum after dimension d.
template <class M, class Axes, class V>
HWY_INLINE V step_of_pair(const M& metric, const Axes& axes, std::uint32_t d, V sum, V query, V point) {
  if constexpr (M::kIsOfDifferences) {
    return gap_step(metric, sum, axes.apart(hn::DFromV<V>(), d, query, point));
  } else {
    return step_of_values(metric, sum, query, point);
  }
}

/// What such a step of a metric of differences takes the power of.
template <class M, class Axes, class V>
HWY_INLINE V base_of_power(const M& metric, const Axes& axes, std::uint32_t d, V query, V point) {
  const hn::DFromV<V> lanes;
  const V zero = hn::Zero(lanes), apart = axes.apart(lanes, d, query, point);
  return OnVectors<M, V>{metric, zero, apart, zero}(typename PowerTermOf<M>::Base{});
}

/// core::step_to_interval on vectors.
template <class M, class Axes, class V>
HWY_INLINE V step_to_interval(const M& metric, const Axes& axes, std::uint32_t d, V sum, V query, V lower, V upper) {
  if constexpr (M::kIsOfDifferences) {
    return gap_step(metric, sum, axes.apart(hn::DFromV<V>(), d, query, lower, upper));
  } else {
    return step_of_values(metric, sum, query, hn::Min(hn::Max(query, lower), upper));
  }
}

/// core::step_between_intervals on axes, for plain numbers.
template <class M, class Axes, typename T>
HWY_INLINE T step_between(const M& metric, const Axes& axes, std::uint32_t d, T sum, T low, T high, T lower, T upper) {
  if constexpr (M::kIsOfDifferences) {
    return core::step_of_gap(metric, sum, axes.between(d, low, high, lower, upper));
  } else {
    return core::step_between_intervals(metric, sum, low, high, lower, upper);
  }
}

/// One bit per lane, the first lane in the lowest bit.
template <class D>
HWY_INLINE std::uint64_t bits_of(D lanes, hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(lanes, mask, bytes);
  return std::uint64_t{bytes[0]} | std::uint64_t{bytes[1]} << 8;  // at most 16 lanes
}

/// The same for a few masks in a row, at most 64 lanes in all.
template <class D, std::size_t kMasks>
HWY_INLINE std::uint64_t bits_of(D lanes, const hn::Mask<D> (&masks)[kMasks]) {
  std::uint64_t bits = 0;
#if HWY_TARGET == HWY_NEON
  if constexpr (kMasks % 4 == 0 && sizeof(hn::TFromD<D>) == 4) {  // 16 lanes at once instead of four times four
    for (std::size_t i = 0; i < kMasks; i += 4) {
      const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(masks[i].raw), vreinterpretq_u16_u32(masks[i + 1].raw));
      const uint16x8_t high =
          vuzp1q_u16(vreinterpretq_u16_u32(masks[i + 2].raw), vreinterpretq_u16_u32(masks[i + 3].raw));
      const uint8x16_t bytes = vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
      const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
      uint8x16_t sums = vandq_u8(bytes, weights);
      for (int round = 0; round < 3; ++round) sums = vpaddq_u8(sums, sums);
      bits |= std::uint64_t{vgetq_lane_u16(vreinterpretq_u16_u8(sums), 0)} << (4 * i);
    }
    return bits;
  }
#endif
  for (std::size_t i = 0; i < kMasks; ++i) bits |= bits_of(lanes, masks[i]) << (i * hn::MaxLanes(lanes));
  return bits;
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
