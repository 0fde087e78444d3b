// Names of metrics. See kith/metric.hpp.
#include <kith/error.hpp>
#include <kith/metric.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace kith {
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

}  // namespace

Metric Metric::lp(double p) {
  if (!(p >= 1)) throw UsageError(fmt::format("metric lp: the exponent must be at least 1, not {}", p));
  if (p == 1) return l1();
  if (p == 2) return l2();
  if (std::isinf(p)) return linf();
  return Metric(Kind::lp, p);
}

Metric Metric::parse(std::string_view text) {
  if (text == "l2" || text == "euclidean") return l2();
  if (text == "l1" || text == "manhattan") return l1();
  if (text == "linf" || text == "chebyshev") return linf();
  if (text == "cosine") return cosine();
  if (text == "angular") return angular();
  if (text == "ip" || text == "inner") return inner_product();
  for (const std::string_view prefix : {"lp:", "minkowski:"}) {
    if (text.starts_with(prefix)) return lp(parse_exponent(text.substr(prefix.size()), text));
  }
  throw UsageError(fmt::format(
      "unknown metric \"{}\"; choose l2, l1, linf, lp:P, cosine, angular or ip for points, hamming for bits or "
      "strings, edit for strings, jaccard for sets",
      text));
}

std::string Metric::name() const {
  switch (kind_) {
    case Kind::l2:
      return "l2";
    case Kind::l1:
      return "l1";
    case Kind::linf:
      return "linf";
    case Kind::cosine:
      return "cosine";
    case Kind::angular:
      return "angular";
    case Kind::inner_product:
      return "ip";
    case Kind::lp:
      break;
  }
  return fmt::format("lp:{}", p_);
}

}  // namespace kith
