// The product form as a filter that provably loses nothing.
//
// Points and queries are centred and scaled, x' = s (x - m), in f64 and then rounded to f32. With these copies p and q
// the squared distance is |p|² - 2 qp + |q|², one fused multiply-add per dimension instead of two operations. It only
// filters: a pair is dismissed when its value, less a bound of every rounding error on the way, is above the query's
// bound; all others are computed again by the contract's chain. s is a power of two that brings the points to about 1,
// so that it does not matter how large or small they are.
//
// Let u be the unit roundoff of f32, h half its smallest denormal, D the dims, P = |p|², Q = |q|² of the copies, M = P
// + Q and N = |p| + |q|, so 2|qp| <= M and N² <= 2M. What the filter sees must not be above its bound when the reduced
// distance C is not above the query's bound B; both sides only grow with B, so take B = C. To first order in u:
//     D u (2P + Q)   the D steps of  term_p + sum (-2 q_d) p_d: no partial sum is above P + M
//     4 u M     the copies: they move a point by u times its length, the distance r by u N, and r² by 2 u N²
//     2 u M     ... and coordinates below the normal numbers of f32 by h each, r by a = 2 √D h, r² by 2 a N <=
//               u N² + a² / u, the second of which is far less than h
//     u P       the rounding of term_p to f32
//     2 u M     the rounding of the filter's bound: r² and with it C is at most 2M
// together (2 D + 9) u P + (D + 8) u Q. Norms and terms are computed in f64, whose errors vanish beside u; the next
// order of the first line is u (2P + Q) at most for D <= 4096. We take (2 D + 16) u P, by which term_p is lowered, and
// (D + 16) u Q, by which term_q is. Where numbers of f32 underflow, each of the D steps and two roundings errs by h:
// each term is lowered by D + 16 denormals as well.
//
// The chain itself has type T with roundoff v and smallest denormal t: the true squared distance, before it is scaled,
// is at most (1 + (D + 4) v) C + D t. That times s² is r² above and what the filter's bound is made of. D t is no
// formality: s makes what underflows in the reduced distance large again.
//
// A norm beyond 2^120, where sums could overflow, makes its term minus infinity, which lets every pair of that point or
// query through.
#pragma once

#include "cpu/brute_force/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// How coordinates and reduced distances become numbers of the filter.
struct FilterUnits {
  double scale = 1;    ///< a power of two
  double stretch = 1;  ///< more than reduced distances may have lost by rounding
  double least = 0;    ///< and by underflow
};

/// For reduced distances of type T and points whose coordinates are up to about `largest` away from the centre.
template <typename T>
FilterUnits filter_units(double largest, std::uint32_t dims) {
  int exponent = 0;
  std::frexp(std::min(largest, std::numeric_limits<double>::max()), &exponent);
  return {.scale = std::ldexp(1.0, -std::clamp(exponent, -1022, 1022)),  // so that it is a normal number
          .stretch = 1 + (dims + 4.0) * (static_cast<double>(std::numeric_limits<T>::epsilon()) / 2),
          .least = dims * static_cast<double>(std::numeric_limits<T>::denorm_min())};
}

/// The copy of a coordinate. What is far beyond the points is cut: its norm is refused in any case.
inline float filter_value(double value, double centre, double scale) {
  constexpr double kFar = 0x1p100;
  return static_cast<float>(std::clamp((value - centre) * scale, -kFar, kFar));
}

/// The squared lengths of `width` copies, [dimension][width].
inline void filter_norms(const float* copies, std::uint32_t dims, std::uint32_t width, double* norms) {
  double sums[kWidestPanel] = {};  // apart from `norms`, so that the compiler knows that nothing overlaps
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float* row = copies + std::size_t{d} * width;
    for (std::uint32_t i = 0; i < width; ++i) sums[i] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  }
  std::copy_n(sums, width, norms);
}

/// A squared length, lowered by its share of the error bound: `steps` roundoffs.
inline double lowered_norm(double norm, std::uint32_t dims, double steps) {
  constexpr double kRoundoff = std::numeric_limits<float>::epsilon() / 2;
  constexpr double kMostNorm = 0x1p120;
  if (!(norm <= kMostNorm)) return -std::numeric_limits<double>::infinity();
  return norm * (1 - steps * kRoundoff) - (dims + 16.0) * static_cast<double>(std::numeric_limits<float>::denorm_min());
}
inline float point_term(double norm, std::uint32_t dims) {
  return static_cast<float>(lowered_norm(norm, dims, 2.0 * dims + 16));
}
inline double query_term(double norm, std::uint32_t dims) { return lowered_norm(norm, dims, dims + 16.0); }

/// The value that a pair must exceed to be dismissed; `bound` is a reduced distance.
inline float filter_bound(double bound, double term_of_query, const FilterUnits& units) {
  const double reach = (bound * units.stretch + units.least) * units.scale * units.scale;  // the square may overflow
  const double value = reach - term_of_query;
  return value > static_cast<double>(std::numeric_limits<float>::max()) ? std::numeric_limits<float>::infinity()
                                                                        : static_cast<float>(value);
}

}  // namespace kith::cpu
