// The bound of the filter whose sums are halves, which provably loses nothing.
//
// As in product_bound.hpp, p' = fl(p - m), q' = fl(q - m), a = |q'|, b = |p'|, u = 2^-24. All rows are over one power
// of two s: P = fp16(p' / s), Q = fp16(q' / s), all |Q_d| <= 1. The tensor core begins with a term C of the point and
// adds the products, in halves:
//     acc = C + sum Q_d P_d,   C about -t_p / (2 s²)
// and a pair is dismissed if acc < theta, theta about (t_q - limit) / (2 s²), which takes half an instruction or less.
//
// Let D be the dims rounded up to 16 (at most 32), n how often a sum is rounded to a half, alpha = a / s, beta = b / s.
// Errors of acc against (q'p' - t_p / 2) / s²:
//   conversion. |Q - q'/s| <= 2^-11 alpha + t and |P - p'/s| <= 2^-11 beta + t with t = 2^-25 sqrt(D) for what is below
//     the normal range: (2^-10 + 2^-22) alpha beta + (1 + 2^-11) t (alpha + beta) + t².
//   the term. It is rounded upwards, which only lets pairs pass.
//   the tensor core. Products are aligned and cut as product_bound.hpp assumes, which costs h = (D + 17) 2^-22 of G =
//     |C| + sum max(|Q_d|, 2^-14) max(|P_d|, 2^-14), and each of n sums is rounded to a half, cut at worst: 2^-10 G +
//     2^-24. With e = n 2^-10 + h and w = 2^-14 sqrt(D), and as |C| <= (1 + 2^-10) t_p / (2 s²) + 2^-24:
//     e (1 + 2^-8) (t_p / (2 s²) + alpha beta + w (alpha + beta) + w²) + (n + 1) 2^-24.
// Twice all that times s²: 2ab <= a² + b²; alpha <= sqrt(D); with x = 1.02 (t + e w) the terms in beta are 2 x beta <=
// x (1 + beta²). So
//     a² (l)  +  b² (l + e (1 + 2^-8) + x)  +  2 s² k,      l = 2^-10 + 2^-22 + e (1 + 2^-7),
//     k = x (sqrt(D) + 1) + (n + 3) 2^-24
// where the last share also covers t² and e w². All that does not come from the products, the lengths, the centring,
// the chain and the limit, is (4 D + 64) u (a² + b²) and some denormals as there. So t_p and t_q are the computed
// squared lengths less their shares, and k is subtracted from theta, which is rounded downwards.
//
// Nothing overflows: |P_d| < 512, so sums of products are at most 2^14, and terms are raised to -2^15 if they are
// lower. A point of which a coordinate is 512 s or more is a row of zeros with the term -2^15. It may be dismissed
// then: the filter claims b² - 2ab >= 2^16 s², and b >= 512 s with a <= sqrt(32) s make it 250000 s² or more. A query
// of which a coordinate is s or more, and all queries if s is not within 2^±50, are left to another filter. Rows that
// are none have the term minus infinity. No sum is NaN.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"
#include "cuda/brute_force/filter/product_bound.hpp"

#include <bit>
#include <cstdint>

namespace kith::cuda {

/// Points are packed if their coordinates are below this many times the scale; queries, if they are below the scale.
inline constexpr float kHalfSumPointReach = 512;
inline constexpr float kLeastHalfSumTerm = -0x1p15f;

KITH_HOST_DEVICE constexpr bool is_half_sum_scale(float scale) { return scale >= 0x1p-50f && scale <= 0x1p50f; }

/// The scale of points whose coordinates deviate from the centre by so much on an average: 16 to 32 times as much.
KITH_HOST_DEVICE constexpr float half_sum_scale(float deviation) {
  const std::uint32_t biased = std::bit_cast<std::uint32_t>(deviation) >> 23;  // deviation < 2^(biased - 126)
  return biased == 0 || biased > 240 ? 0.0f : power_of_two(static_cast<std::int32_t>(biased) - 122);
}

/// The shares of errors, for rows of `dims` dims whose sums are rounded `roundings` times.
struct HalfSumBound {
  float of_queries, of_points;  ///< of the squared lengths
  float of_sums;                ///< in units of sums
  float denormals;

  KITH_HOST_DEVICE HalfSumBound(std::uint32_t dims, std::uint32_t roundings) {
    const auto padded = static_cast<float>((dims + 15) / 16 * 16), times = static_cast<float>(roundings);
    const float root = core::square_root(padded);
    const float rounding = times * 0x1p-10f + (padded + 17) * 0x1p-22f;
    const float linear = 1.02f * (0x1p-25f * root + rounding * 0x1p-14f * root);
    const float exact = (4 * padded + 64) * 0x1p-24f;
    of_queries = 0x1p-10f + 0x1p-22f + rounding * (1 + 0x1p-7f) + exact;
    of_points = of_queries + rounding * (1 + 0x1p-8f) + linear;
    of_sums = linear * (root + 1) + (times + 3) * 0x1p-24f;
    denormals = product_denormals(dims);
  }

  /// The term of a point, not yet a half.
  KITH_HOST_DEVICE float term_of(float squared_length, float scale) const {
    const float term = (denormals - squared_length * (1 - of_points)) * (0.5f / (scale * scale));
    return term > kLeastHalfSumTerm ? term : kLeastHalfSumTerm;
  }
  /// What sums of this query must be below to be dismissed, not yet a half; NaN if the limit is.
  KITH_HOST_DEVICE float threshold_of(float squared_length, float limit, float scale) const {
    const float term = squared_length * (1 - of_queries) - denormals;
    const float threshold = (term - limit) * (0.5f / (scale * scale)) - of_sums;
    return threshold - core::absolute(threshold) * 0x1p-22f;
  }
};

/// The next half below, of the bits of one that is not minus infinity.
KITH_HOST_DEVICE constexpr std::uint16_t half_below(std::uint16_t bits) {
  if ((bits & 0x7fff) == 0) return 0x8001;
  return static_cast<std::uint16_t>(bits < 0x8000 ? bits - 1 : bits + 1);
}
/// A half that every sum to be looked at is above, or different from if it is NaN: then all sums are.
inline constexpr std::uint16_t kBelowNothing = 0x7fff, kBelowInfinity = 0x7bff;

}  // namespace kith::cuda
