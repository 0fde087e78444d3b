// What a cover tree asks of a metric: how it is called, how exact it is, and what is refused.
#pragma once

#include <kith/error.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace kith::inline v0 {

/// The metric of objects that know their distance: `a.distance(b)`, or else a function `distance(a, b)` in the
/// namespace of their type.
struct MemberDistance {
  template <typename Object>
  requires requires(const Object& a, const Object& b) { a.distance(b); }
  auto operator()(const Object& a, const Object& b) const { return a.distance(b); }
  template <typename Object>
  requires(!requires(const Object& a, const Object& b) { a.distance(b); }) &&
      requires(const Object& a, const Object& b) {
    distance(a, b);
  }
  auto operator()(const Object& a, const Object& b) const { return distance(a, b); }
};

/// `metric(a, b)` or `metric.distance(a, b)` gives something that converts to double. Both are called on a const
/// metric, from several threads if searches run on several.
template <typename Metric, typename Object>
concept MetricOf = requires(const Metric& metric, const Object& a, const Object& b) {
  { metric(a, b) } -> std::convertible_to<double>;
}
|| requires(const Metric& metric, const Object& a, const Object& b) {
  { metric.distance(a, b) } -> std::convertible_to<double>;
};

/// How far a computed distance m' may be from the true one m: |m' - m| <= relative * m + absolute. Searches keep that
/// much distance from what they dismiss, so that rounding never changes an answer. Say more than is true, never less.
struct MetricRounding {
  double relative = 0;
  double absolute = 0;

  /// What is assumed of a metric that returns `Result`. Whole numbers are exact. Others may be off by 4096 units in the
  /// last place of their type, which is 2^-40 for double, and by the root of the smallest normal number, which is where
  /// squares of differences vanish.
  template <typename Result>
  static constexpr MetricRounding standard() {
    if constexpr (std::is_integral_v<Result>) {
      return {0, 0};
    } else if constexpr (std::is_same_v<Result, float>) {
      return {0x1p-11, 0x1p-63};
    } else {
      return {0x1p-40, 0x1p-511};
    }
  }

  bool is_exact() const { return relative == 0 && absolute == 0; }
  friend bool operator==(const MetricRounding&, const MetricRounding&) = default;
};

namespace cover_tree {

using Id = std::uint64_t;
/// Stands for a query, which has no number.
inline constexpr Id kQuery = std::numeric_limits<Id>::max();

/// One call of the metric, whichever way it is written.
template <typename Metric, typename Object>
auto call(const Metric& metric, const Object& a, const Object& b) {
  if constexpr (requires { metric(a, b); }) {
    return metric(a, b);
  } else {
    return metric.distance(a, b);
  }
}

template <typename Metric, typename Object>
using ResultOf = std::remove_cvref_t<decltype(call(std::declval<const Metric&>(), std::declval<const Object&>(),
                                                   std::declval<const Object&>()))>;

inline std::string name_pair(Id a, Id b) {
  if (a == kQuery) return "the query and object " + std::to_string(b);
  return "objects " + std::to_string(a) + " and " + std::to_string(b);
}

/// Bounds on computed distances from other computed distances.
struct Bounds {
  MetricRounding rounding;
  double largest = std::numeric_limits<double>::max();  // of the metric's type; what is above it is infinity

  /// Not above the computed distance of two objects, if their true distance is at least `far` - `near`, where both are
  /// sums of computed ones, three in all. The fourth is the distance at hand; each brings its own error, and the fifth
  /// part of the slack is for the rounding of this sum.
  double lower(double far, double near) const {
    if (!(near <= std::numeric_limits<double>::max())) return -std::numeric_limits<double>::max();
    far = std::min(far, largest);
    return far - near - (5 * rounding.relative * far + 5 * rounding.relative * near + 5 * rounding.absolute);
  }
  /// The same for an object within `reach` of a centre, if one is `a` and the centre `b` from a third.
  double lower(double a, double b, double reach) const { return lower(std::max(a, b), std::min(a, b) + reach); }

  /// Not below the computed distance of two objects whose true distance is at most a + b.
  double upper(double a, double b) const {
    if (!(a + b <= largest)) return std::numeric_limits<double>::infinity();
    return a + b + (5 * rounding.relative * a + 5 * rounding.relative * b + 5 * rounding.absolute);
  }
  /// Whether two calls of the metric may mean the same distance.
  bool same(double a, double b) const {
    if (a == b) return true;
    const double slack = 4 * rounding.relative * std::max(a, b) + 4 * rounding.absolute;
    return std::abs(a - b) <= slack && std::max(a, b) <= std::numeric_limits<double>::max();
  }
};

/// A metric that knows its rounding and counts its calls. Copies go on counting by themselves.
template <typename Object, typename Metric>
class Meter {
 public:
  Meter(Metric metric, MetricRounding rounding) : metric_(std::move(metric)) {
    if (!(rounding.relative >= 0 && rounding.relative <= 0x1p-4 && rounding.absolute >= 0 &&
          rounding.absolute <= std::numeric_limits<double>::max())) {
      throw UsageError("cover tree: the rounding of a metric must be at least 0, the relative one at most 1/16");
    }
    bounds_.rounding = rounding;
    if constexpr (std::is_same_v<ResultOf<Metric, Object>, float>) bounds_.largest = std::numeric_limits<float>::max();
  }
  Meter(const Meter& other) : metric_(other.metric_), bounds_(other.bounds_), evaluations_(other.evaluations()) {}
  Meter(Meter&& other) noexcept(std::is_nothrow_move_constructible_v<Metric>)
      : metric_(std::move(other.metric_)), bounds_(other.bounds_), evaluations_(other.evaluations()) {}
  Meter& operator=(const Meter&) = delete;

  const Metric& metric() const { return metric_; }
  const Bounds& bounds() const { return bounds_; }
  std::uint64_t evaluations() const { return evaluations_.load(std::memory_order_relaxed); }
  void add_evaluations(std::uint64_t count) const { evaluations_.fetch_add(count, std::memory_order_relaxed); }

  /// Throws BadData for what no metric returns.
  double measure(const Object& a, Id a_id, const Object& b, Id b_id) const {
    const auto result = call(metric_, a, b);
    const double distance = static_cast<double>(result);
    if (!(distance >= 0)) refuse(distance, a_id, b_id);
    if constexpr (std::is_integral_v<ResultOf<Metric, Object>>) {
      if (distance > 0x1p53) refuse(distance, a_id, b_id);
    }
    return distance;
  }

 private:
  [[noreturn]] static void refuse(double distance, Id a, Id b) {
    const std::string got = std::isnan(distance) ? "NaN" : std::to_string(distance);
    throw BadData("cover tree: the metric gives " + got + " for " + name_pair(a, b) +
                  "; a distance is a number of at least 0, a whole one at most 2^53");
  }

  Metric metric_;
  Bounds bounds_;
  mutable std::atomic<std::uint64_t> evaluations_ = 0;
};

/// Measures for one operation and adds up its calls at the end, so that searches on several threads do not meet.
template <typename Object, typename Metric>
class Measuring {
 public:
  explicit Measuring(const Meter<Object, Metric>& meter) : meter_(meter) {}
  ~Measuring() { meter_.add_evaluations(count_); }
  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;

  double operator()(const Object& a, Id a_id, const Object& b, Id b_id) {
    ++count_;
    return meter_.measure(a, a_id, b, b_id);
  }
  const Bounds& bounds() const { return meter_.bounds(); }

 private:
  const Meter<Object, Metric>& meter_;
  std::uint64_t count_ = 0;
};

}  // namespace cover_tree
}  // namespace kith::inline v0
