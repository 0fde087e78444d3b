// From the options of a kNN search to what a searcher may leave out, in reduced distances.
#pragma once

#include "core/metric/reported_distance.hpp"
#include "engine/searcher.hpp"

#include <kith/index.hpp>
#include <kith/metric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::engine {

/// The power of the distance that the reduced one is: what the user sees grows by (1 + eps) when the reduced distance
/// grows by that power of it. L2 compares squares. Cosine does too, but reports half of the square itself, so its power
/// is 1. With `squared` the promise is still about the plain distance, as a radius is: what is reported may grow by
/// (1 + eps)^2.
inline double reduced_power(Metric metric) {
  return core::visit_metric(metric, [](const auto& each) { return each.exponent(); });
}

/// base^-power for a base of at least 1.
inline double inverse_power(double base, double power) {
  if (power == 1) return 1 / base;
  if (power == 2) return 1 / base / base;
  return 1 / core::Exponent(power).of(base);
}

/// The sine of an angle from 0 to pi / 2 by operations that round alike everywhere: its series up to x^23, which is off
/// by two units in the last place at most.
inline double sine(double angle) {
  const double square = angle * angle;
  double sum = 1;
  for (int n = 22; n >= 2; n -= 2) sum = 1 - square / (n * (n + 1)) * sum;
  return angle * sum;
}

/// The `shrink` of KnnRules: (1 + eps)^-power, a little more.
///
/// Let c be the reduced distance of a true neighbour that was not looked at, and k the k-th reduced distance found. c
/// is not below the bound of its box, which is above fl(k * shrink), so c > k * shrink * (1 - u) with u the unit
/// roundoff. The distances that the user sees are the roots of c and k, each off by a relative u at most (more for lp,
/// whose roots are powers: see below): seen(k) <= (1 + eps) * seen(c) holds if shrink >= (1 + eps)^-power * (1 + (2 *
/// power + 1) u), to first order. We take (8 * power + 16) u, which covers the higher orders and the rounding of this
/// formula. Any list that lacks c has only entries up to k, and c's rank in the true list is at least as high, so the
/// promise holds for every rank.
///
/// An angle a is the reduced distance 4 sin^2(a / 2), which grows the less the wider it is: the reduced distance of a /
/// (1 + eps) is nearest to that of a where a is pi. What holds there holds for all.
template <typename T>
T shrink_of_eps(Metric metric, double eps) {
  if (eps == 0) return T(1);
  const double power = reduced_power(metric);
  // Powers and roots of lp are off by up to power + 1.4 |log2| + 3 halves of a unit each.
  const bool is_lp = metric.kind() == Metric::Kind::lp;
  const double slack =
      (4 * power + 8) * static_cast<double>(std::numeric_limits<T>::epsilon()) + (is_lp ? 2048 * 0x1p-52 : 0);
  constexpr double kRightAngle = 1.57079632679489661923;
  const double of_widest = sine(kRightAngle / (1 + eps));
  const bool is_angle = core::visit_metric(metric, [](auto each) { return decltype(each)::kIsAngle; });
  const double shrink = (is_angle ? of_widest * of_widest : inverse_power(1 + eps, power)) * (1 + slack);
  if (shrink >= 1) return T(1);
  T rounded = static_cast<T>(shrink);
  if (static_cast<double>(rounded) < shrink) rounded = std::nextafter(rounded, T(1));
  return std::max(rounded, std::numeric_limits<T>::denorm_min());
}

/// Whether leaving something out makes a search in a k-d tree faster than an exact one, on the CPU and on a GPU. An
/// exact search serves many queries at a time, which an approximate one, whose order is fixed, cannot: in few dims it
/// is faster than any approximation. In more dims a budget of leaves pays if it is a good part below what an exact
/// search visits, and eps if it is large enough to spare as much; of few points an exact search visits few leaves.
/// docs/kd_tree.md has the measurements.
inline bool approximation_pays(const SearchOptions& options, const SearchedTree& tree) {
  constexpr std::uint32_t kMostExactDims = 5;
  const std::uint32_t dims = tree.dims;
  if (dims <= kMostExactDims) return false;
  const std::uint64_t paying_leaves =
      std::min<std::uint64_t>(dims < 36 ? 1u << (dims - 4) : ~0u, std::max<std::uint64_t>(4, tree.points / 512));
  const double paying_eps = std::max(std::ldexp(1.0, -static_cast<int>((dims - 6) / 2)),
                                     std::min(1.5, 16384 / static_cast<double>(tree.points)));
  return (options.max_leaves != 0 && options.max_leaves <= paying_leaves) || options.eps >= paying_eps;
}

/// Where an approximation does not pay, the rules are those of an exact search, which keeps every promise.
template <typename T>
KnnRules<T> knn_rules(Metric metric, const SearchOptions& options, const SearchedTree& tree) {
  const bool is_exact = tree.dims != 0 && !approximation_pays(options, tree);
  return {.bound = core::reduced_bound_of_radius<T>(metric, options.max_distance),
          .shrink = shrink_of_eps<T>(metric, is_exact ? 0 : options.eps),
          .max_leaves = is_exact ? 0 : options.max_leaves,
          .select = forced_select.load(std::memory_order_relaxed)};
}

/// Whether an answer says per query if it is certain.
inline bool wants_flags(const SearchOptions& options) { return options.eps > 0 || options.max_leaves > 0; }

}  // namespace kith::engine
