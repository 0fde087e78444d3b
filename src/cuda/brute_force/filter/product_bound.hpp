// The bound of the filter by products on tensor cores, which provably loses nothing.
//
// With p' = fl(p - m) and q' = fl(q - m) the squared distance is |p'|² + |q'|² - 2 q'p'. The product q'p' is taken of
// halves: row p' is divided by a power of two s_p and rounded to P = fp16(p' / s_p); acc is the sum of Q_d P_d as the
// tensor core computes it. A pair is dismissed if
//     v = fl(term_p - 2 s_q s_p acc) > fl(limit - term_q)
// where the terms are the computed squared lengths, lowered by their share of all errors. Then its reduced distance is
// above the limit; all other pairs are computed again by the contract's chain.
//
// Let u = 2^-24, D the dims, a = |q'|, b = |p'|, M = a² + b², so that 2ab <= M and (a + b)² <= 2M. Errors of v +
// term_q against the chain, to first order in u:
//   conversion. The largest |p'_d| is in [s_p/16, s_p), so |s_p P_d - p'_d| <= 2^-11 |p'_d| + 2^-25 s_p, the latter for
//     halves below the normal range. As vectors: |s_p P - p'| <= c b with c = 2^-11 + 2^-21 sqrt(D). Twice the error of
//     the product is at most 2 (2c + c²) ab <= (2c + c²) M.
//   scales at their lower end. Below 2^-64 the largest coordinate is less than s_p/16 with s_p = 2^-60, which adds t =
//     2^-25 sqrt(D) s_p to |s_p P - p'|. As 2at <= u a² + t²/u, this costs u M and 2 t²/u = D 2^-145: 16 D denormals.
//   the tensor core. It is not IEEE. Assumed is that products are exact (22 bits), that they are added to the sum in
//     groups of 2 or more, and that one addition of a group of g products aligns all g + 1 numbers to the largest, cuts
//     each below 24 bits of the largest, and cuts the result below 24 bits: at most (g + 2) 2^-23 <= g 2^-22 of the sum
//     of all magnitudes. A half below the normal range is not normalised before: it counts as 2^-14 there (so it must
//     be to explain an H200: a sum of such halves was off by 3.9 times the bound without this, none is with it). So S =
//     sum max(|Q_d|, 2^-14) max(|P_d|, 2^-14) <= (|Q| + 2^-14 sqrt(D)) (|P| + 2^-14 sqrt(D)), and with |Q|, |P| >= 1/16
//     that is at most e |Q| |P|, e = (1 + 2^-10 sqrt(D))². All groups of up to D + 15 dims: h S with h = (D + 16)
//     2^-22, and twice that times s_q s_p is at most h e (1 + c)² M. (Known tensor cores keep more bits; a sum in f32
//     in any order errs by less than half of it.) At the lower end of scales |P| may be less than 1/16; then w = 2^-14
//     sqrt(D) s_p = 2^-74 sqrt(D) takes the place of its share, and as 2 a h w <= u a² + h² w²/u, this costs u M and,
//     for both rows, D (D + 16)² 2^-167: 2^-18 D (D + 16)² denormals.
//   u (D + 1) M     the two computed squared lengths: D products and sums in any order
//   4 u M           the two centrings: each moves a coordinate by at most u times its size, and 2 (a + b) u (a + b)
//   2 u (D + 2) M   the chain itself, relative to a true squared distance of at most 2M
//   2 u M           v: one rounding of at most 2M, as scales are powers of two and nothing of the product underflows:
//                   acc is a multiple of 2^-48 and scales are at least 2^-60
//   4 u M           the limit less term_q: if the limit is at most 4M, its rounding; else v <= 2M is not above it
//   3 u M           the terms' own roundings
// We take ((2c + h e) (1 + 2^-9) + (4 D + 64) u) M, which also covers the higher orders for D <= 65536, and share it
// out: each squared length is multiplied by 1 less that. For numbers that underflow on the way and the lower end of
// scales, 32 D + 64 + 2^-17 D (D + 16)² denormals are subtracted from each term.
//
// A squared length of 2^116 or more, or none at all, makes a term of minus infinity and a row of zeros: all pairs of
// that row pass. Below it scales are at most 2^60 and nothing overflows. Comparisons are written so that NaN passes: a
// limit that is the sentinel is NaN.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// The power of two, as an exponent, that a row with this largest |coordinate| is divided by: a multiple of 4, so that
/// rows of about the same size share it.
KITH_HOST_DEVICE constexpr std::int32_t product_exponent(float largest) {
  if (largest == 0) return 0;
  const std::uint32_t biased = std::bit_cast<std::uint32_t>(largest) >> 23;  // largest < 2^(biased - 126)
  const std::int32_t exponent = static_cast<std::int32_t>((biased + 5) / 4 * 4) - 128;
  return exponent < -60 ? -60 : exponent > 60 ? 60 : exponent;
}

/// 2^exponent, of a normal number.
KITH_HOST_DEVICE constexpr float power_of_two(std::int32_t exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// Rows of at least this squared length are not filtered.
inline constexpr float kLargestProductNorm = 0x1p116f;

KITH_HOST_DEVICE constexpr bool has_product(float squared_length) { return squared_length < kLargestProductNorm; }

/// The share of the squared lengths that all errors together may reach.
KITH_HOST_DEVICE inline float product_slack(std::uint32_t dims) {
  const auto d = static_cast<float>(dims);
  const float root = core::square_root(d);
  const float conversion = 0x1p-11f + 0x1p-21f * root;
  const float sums = (d + 16) * 0x1p-22f * (1 + 0x1p-10f * root) * (1 + 0x1p-10f * root);
  return (2 * conversion + sums) * (1 + 0x1p-9f) + (4 * d + 64) * 0x1p-24f;
}

/// What is subtracted from each term for numbers too small to be right in relation to their size.
KITH_HOST_DEVICE inline float product_denormals(std::uint32_t dims) {
  const auto d = static_cast<float>(dims);
  return (32 * d + 64 + 0x1p-17f * d * (d + 16) * (d + 16)) * std::numeric_limits<float>::denorm_min();
}

/// The term of a row: its squared length, lowered by its share of the errors.
KITH_HOST_DEVICE inline float product_term(float squared_length, std::uint32_t dims) {
  if (!has_product(squared_length)) return -std::numeric_limits<float>::infinity();
  return squared_length * (1 - product_slack(dims)) - product_denormals(dims);
}

/// The value that a pair of this query must exceed to be dismissed.
KITH_HOST_DEVICE constexpr float product_threshold(float limit, float query_term) { return limit - query_term; }

}  // namespace kith::cuda
