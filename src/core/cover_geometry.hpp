// What the cover tree's builders, searches and checks share on both devices: radii of levels, the order in which
// objects become centres, and how far rounding can move a bound.
#pragma once

#include "core/host_device.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::core {

/// Levels have the radii 2^level. Below the lowest level cells are not split any more.
inline constexpr std::int32_t kLowestCoverLevel = -1000;

/// The radius of a level.
KITH_HOST_DEVICE inline double cover_radius(std::int32_t level) { return std::ldexp(1.0, level); }

/// The highest level whose radius is below the distance, which is positive and finite.
KITH_HOST_DEVICE inline std::int32_t cover_level_below(double distance) {
  int exponent = 0;
  const double fraction = std::frexp(distance, &exponent);  // in [0.5, 1), times 2^exponent
  return fraction == 0.5 ? exponent - 2 : exponent - 1;
}

/// Objects become centres by ascending rank. A mix of all bits that is different for every number, so that neighbours
/// in the caller's order, which may be sorted, have nothing in common.
KITH_HOST_DEVICE inline std::uint32_t cover_rank(std::uint32_t number) {
  std::uint32_t x = number;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

/// How far a computed distance m' may be from the true one m: |m' - m| <= relative * m + absolute. Both are 0 for whole
/// numbers, which are compared without slack.
struct CoverRounding {
  double relative = 0;
  double absolute = 0;

  KITH_HOST_DEVICE bool is_exact() const { return relative == 0 && absolute == 0; }

  /// Not above any computed distance between a query and an object, if the query is `query` from a centre and the
  /// object at most `reach`, both as computed. May be negative.
  ///
  /// True distances obey the triangle inequality: m(q, p) >= m(q, c) - m(c, p). Each of the three computed ones is off
  /// by at most relative * m + absolute; four times that covers all three and the rounding of this sum.
  KITH_HOST_DEVICE double nearest(double query, double reach) const {
    return query - reach - (4 * relative * (query + reach) + 4 * absolute);
  }
  /// Not below any such distance.
  KITH_HOST_DEVICE double farthest(double query, double reach) const {
    return query + reach + (4 * relative * (query + reach) + 4 * absolute);
  }
  /// Not above the computed distance of a query and an object that are `query` and `object` from the same centre.
  KITH_HOST_DEVICE double apart(double query, double object) const {
    return nearest(query < object ? object : query, query < object ? query : object);
  }
};

/// For reduced distances over `dims` values of type T: each of the dims + 2 roundings is at most half a unit in the
/// last place, and squares of tiny differences may lose up to the smallest number each.
template <typename T>
KITH_HOST_DEVICE CoverRounding reduced_rounding(std::uint32_t dims) {
  constexpr double unit = std::numeric_limits<T>::epsilon();
  constexpr double tiny = std::numeric_limits<T>::denorm_min();
  return {(dims + 4.0) * unit, std::sqrt((dims + 4.0) * tiny)};
}

/// A cell splits at a level only if the objects in it have on average at least this many others within its radius.
/// Fewer give many small leaves: searches measure as many objects, only one by one, and builds measure more.
inline constexpr double kFewestWithinRadius = 16;

/// How many objects, those of the lowest rank, tell that: pairs of them are about twice as many as objects.
KITH_HOST_DEVICE inline std::uint32_t cover_sample(std::uint32_t objects) {
  return static_cast<std::uint32_t>(std::ceil(2 * std::sqrt(static_cast<double>(objects))));
}

/// Whether a cell of so many objects splits, if `close` of the pairs among its sample are within the radius.
KITH_HOST_DEVICE inline bool cover_split_pays(std::uint32_t objects, std::uint32_t sample, std::uint64_t close) {
  const double pairs = 0.5 * sample * (sample - 1.0);
  return static_cast<double>(close) * (objects - 1.0) >= kFewestWithinRadius * pairs;
}

}  // namespace kith::core
