// The product form as a filter that provably loses nothing.
//
// With centred points p' = fl(p - m) and queries q' = fl(q - m) the squared distance is |p'|² - 2 q'p' + |q'|², one
// fused multiply-add per dimension instead of two operations. It only filters: a pair is dismissed when its value, less
// a bound of every rounding error on the way, is above the query's bound; all others are computed again by the
// contract's chain.
//
// The filter is f32 for points of both types: f64 points are centred in f64 and then rounded, and twice as many of them
// fit into a vector.
//
// Let u be the unit roundoff of f32, D the dims, M = |p'|² + |q'|² (so 2|q'p'| <= M and the true squared distance <=
// 2M). To first order in u, the errors of the comparison "value > bound => chain > bound" are at most
//     2 D u M   the D steps of  term_p + sum (-2 q'_d) p'_d, whose partial sums stay below 2M
//     2 D u M   the two computed norms (D steps of two roundings each, together at most M)
//     4 u M     the two centrings: each moves a coordinate by at most u times its size
//     2 (D + 2) u M   the chain itself, relative to a true distance of at most 2M
//     4 u M     the subtraction bound - term_q, taken where bound is at most 3M, and the scaling of the terms
//     2 u M     f64 coordinates below the numbers of f32, each moved by up to h, half the smallest denormal of f32:
//     they
//               move the distance by at most 4 |q'_d - p'_d| h + 4 h² per dimension, and 4 |x| h <= u x² + 4 h² / u,
//               the first of which adds up to 2 u M, the second to far less than a denormal
// together (6 D + 14) u M. We take (6 D + 64) u M, which also covers the higher orders for D <= 4096 in f32 ((6 D + 64)
// u is below 0.0015), and share it out: each norm is scaled by 1 - (6 D + 64) u. Where numbers underflow, each of the
// about 5 D operations errs by at most half the smallest denormal: (6 D + 64) denormals are subtracted from each term
// as well. A norm near overflow, or a coordinate beyond f32, makes its term minus infinity, which lets every pair of
// that point or query through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// The most points side by side: 64 bits of hits (scan.hpp).
inline constexpr std::uint32_t kWidestPanel = 64;

/// The terms of `width` points or queries, [dimension][width]: squared centred lengths, lowered by their share of the
/// error bound.
inline void filter_terms(const float* centred, std::uint32_t dims, std::uint32_t width, float* terms) {
  float norms[kWidestPanel] = {};  // apart from `terms`, so that the compiler knows that nothing overlaps
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float* row = centred + std::size_t{d} * width;
    for (std::uint32_t i = 0; i < width; ++i) norms[i] += row[i] * row[i];
  }
  const auto steps = static_cast<float>(6 * dims + 64);
  const float slack = steps * (std::numeric_limits<float>::epsilon() / 2);
  for (std::uint32_t i = 0; i < width; ++i) {
    const bool is_safe = norms[i] < std::numeric_limits<float>::max() / 16;
    terms[i] = is_safe ? norms[i] * (1 - slack) - steps * std::numeric_limits<float>::denorm_min()
                       : -std::numeric_limits<float>::infinity();
  }
}

/// The value that a pair must exceed to be dismissed; `bound` is a chain.
template <typename T>
float filter_bound(T bound, float query_term) {
  return static_cast<float>(bound - static_cast<T>(query_term));
}

}  // namespace kith::cpu
