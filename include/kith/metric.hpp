// The ways to measure a distance between two vectors, or to order by their inner product.
#pragma once

#include <kith/export.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kith::inline v0 {

struct MetricInfo;

/// A metric, with its exponent where it has one. A small value; compare with ==.
class KITH_EXPORT Metric {
 public:
  /// Numbered as in index files.
  enum class Kind : std::uint8_t {
    l2,
    l1,
    linf,
    lp,
    cosine,
    inner_product,
    angular,
    canberra,
    haversine,
    seuclidean,
    mahalanobis,
    braycurtis
  };

  /// The default is L2, the Euclidean distance.
  constexpr Metric() = default;
  static constexpr Metric l2() { return Metric(Kind::l2, 2); }
  static constexpr Metric l1() { return Metric(Kind::l1, 1); }
  static constexpr Metric linf() { return Metric(Kind::linf, 0); }
  /// Minkowski's distance with exponent p >= 1; p = 1, 2 and infinity give the exact metrics of those names.
  /// Throws UsageError if p < 1 or NaN.
  static Metric lp(double p);
  /// 1 - cos(angle), computed as half the squared L2 distance of the normalised vectors.
  static constexpr Metric cosine() { return Metric(Kind::cosine, 2); }
  /// The angle between two vectors in radians, 0 to pi; found as under cosine, and in the same order.
  static constexpr Metric angular() { return Metric(Kind::angular, 2); }
  /// The negative inner product, so that the largest product comes first. No distance: it may be negative, and there
  /// are no radius searches and no periodic axes. Brute force only.
  static constexpr Metric inner_product() { return Metric(Kind::inner_product, 0); }
  /// sum |x - y| / (|x| + |y|), where coordinates that are both 0 add nothing.
  static constexpr Metric canberra() { return Metric(Kind::canberra, 0); }
  /// The way over a sphere between places given by latitude and longitude: in radians, reported as an angle in radians;
  /// in degrees, reported in degrees; in degrees, reported in metres on the Earth, whose mean radius is 6371008.8; in
  /// radians, reported in metres.
  enum class SphereUnit : std::uint8_t { radians, degrees, metres, radians_metres };
  static constexpr Metric haversine(SphereUnit unit = SphereUnit::radians) {
    return Metric(Kind::haversine, static_cast<double>(unit));
  }
  /// sqrt(sum (x - y)^2 / V): BuildOptions::metric_params has the variances V, otherwise they are those of the points.
  static constexpr Metric seuclidean() { return Metric(Kind::seuclidean, 2); }
  /// sqrt((x - y)^T VI (x - y)): BuildOptions::metric_params has the matrix VI row by row, otherwise it is the inverse
  /// covariance of the points.
  static constexpr Metric mahalanobis() { return Metric(Kind::mahalanobis, 2); }
  /// (sum |x - y|) / (sum |x + y|), 0 for two zero vectors. Brute force only.
  static constexpr Metric braycurtis() { return Metric(Kind::braycurtis, 0); }
  /// Reads a name or an alias of `metric_table()`, with a colon and the parameter where there is one: "l2",
  /// "cityblock", "lp:3", "haversine:metres". Throws UsageError on anything else.
  static Metric parse(std::string_view text);
  /// The metric of a kind and an exponent, which only lp reads, or the number of a unit, which haversine reads. Throws
  /// UsageError as `lp` does, or if there is no such unit.
  static Metric of(Kind kind, double p);

  constexpr Kind kind() const { return kind_; }
  /// Whether vectors count by their directions alone: cosine and angular. They are normalised, and none may be zero.
  constexpr bool is_of_directions() const { return kind_ == Kind::cosine || kind_ == Kind::angular; }
  /// The exponent of an lp metric, the number of the unit of haversine.
  constexpr double p() const { return p_; }
  /// x^p for x >= 0, as searches under an lp metric compute it on every machine.
  double power(double x) const;
  /// The name that `parse` reads, e.g. "l2" or "lp:3".
  std::string name() const;
  /// What can be done with it.
  const MetricInfo& info() const;

  friend constexpr bool operator==(Metric, Metric) = default;

 private:
  constexpr Metric(Kind kind, double p) : kind_(kind), p_(p) {}

  Kind kind_ = Kind::l2;
  double p_ = 2;
};

/// What there is to know of a kind of metric besides its arithmetic.
struct KITH_EXPORT MetricInfo {
  Metric::Kind kind;
  double p = 0;  ///< what Metric::p() says, unless it is a parameter
  std::string_view name;
  std::string_view parameter;               ///< what is written behind a colon, "P" for lp; empty if there is none
  std::array<std::string_view, 4> aliases;  ///< other names, those of SciPy and scikit-learn among them
  std::string_view summary;                 ///< what is reported for two vectors
  bool has_distances = true;                ///< never negative, so there are radius searches
  bool is_true_metric = true;               ///< obeys the triangle inequality
  bool wraps = false;                       ///< knows periodic axes
  bool has_kd_tree = true;                  ///< brute force takes every metric
  bool has_cover_tree = true;
  std::string_view params = "";                ///< what BuildOptions::metric_params holds; empty: nothing
  std::array<std::string_view, 4> units = {};  ///< may be written behind a colon; the first is the default
  std::uint32_t dims = 0;                      ///< that vectors must have; 0: any number

  /// "l2", "lp:P".
  std::string pattern() const;
};

/// One for each kind, in their order.
KITH_EXPORT std::span<const MetricInfo> metric_table();

/// The patterns of the table, between `separator`s; `only` of those that have a property: `&MetricInfo::wraps`.
KITH_EXPORT std::string metric_choices(std::string_view separator, bool MetricInfo::*only = nullptr);

}  // namespace kith::inline v0
