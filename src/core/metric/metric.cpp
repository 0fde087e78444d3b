// Names of metrics, all from the table. See kith/metric.hpp.
#include "core/metric/metrics.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace kith::inline v0 {
namespace {

double parse_exponent(std::string_view text, std::string_view whole) {
  if (text == "inf" || text == "infinity") return std::numeric_limits<double>::infinity();
  double p = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), p);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError(fmt::format("metric \"{}\": the exponent is not a number; write for example lp:3", whole));
  }
  return p;
}

bool is_name_of(std::string_view text, const MetricInfo& info) {
  return !text.empty() && (text == info.name || std::ranges::find(info.aliases, text) != info.aliases.end());
}

}  // namespace

Metric Metric::lp(double p) {
  if (!(p >= 1)) throw UsageError(fmt::format("metric lp: the exponent must be at least 1, not {}", p));
  if (p == 1) return l1();
  if (p == 2) return l2();
  if (std::isinf(p)) return linf();
  return Metric(Kind::lp, p);
}

Metric Metric::of(Kind kind, double p) {
  return kind == Kind::lp ? lp(p) : Metric(kind, core::kMetricTable[static_cast<std::size_t>(kind)].p);
}

Metric Metric::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const MetricInfo& info : metric_table()) {
    if (!is_name_of(text.substr(0, colon), info)) continue;
    if (info.parameter.empty() != (colon == text.npos)) {
      throw UsageError(info.parameter.empty()
                           ? fmt::format("metric \"{}\": {} takes no parameter", text, info.name)
                           : fmt::format("metric {} needs its exponent, for example {}:3", text, text));
    }
    return of(info.kind, info.parameter.empty() ? 0 : parse_exponent(text.substr(colon + 1), text));
  }
  throw UsageError(fmt::format(
      "unknown metric \"{}\"; choose {} for points, hamming for bits or strings, edit for strings, jaccard for sets",
      text, metric_choices(", ")));
}

std::string Metric::name() const {
  return info().parameter.empty() ? std::string(info().name) : fmt::format("{}:{}", info().name, p_);
}

double Metric::power(double x) const { return core::Exponent(p_).of(x); }

const MetricInfo& Metric::info() const { return core::kMetricTable[static_cast<std::size_t>(kind_)]; }

std::span<const MetricInfo> metric_table() { return core::kMetricTable; }

std::string MetricInfo::pattern() const {
  return parameter.empty() ? std::string(name) : fmt::format("{}:{}", name, parameter);
}

std::string metric_choices(std::string_view separator, bool MetricInfo::*only) {
  std::string choices;
  for (const MetricInfo& info : metric_table()) {
    if (only != nullptr && !(info.*only)) continue;
    choices += fmt::format("{}{}", choices.empty() ? "" : separator, info.pattern());
  }
  return choices;
}

}  // namespace kith::inline v0

void kith::core::require_wraps(Metric metric) {
  if (metric.info().wraps) return;
  throw UsageError(fmt::format("period: periodic axes exist for {} only, not for {}",
                               metric_choices(", ", &MetricInfo::wraps), metric.name()));
}
