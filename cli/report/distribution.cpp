// See distribution.hpp. Percentiles are found by the bits of the values, 16 at a time: each pass tells which of the
// values that begin as the wanted one does are counted next.
#include "report/distribution.hpp"

#include "interrupt.hpp"
#include "report/axis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kith::cli {
namespace {

constexpr double kBins = 36;
constexpr double kLeastRange = 1e-290;  // widths of smaller ones would be denormal
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
/// Bins end at the 99th percentile where the largest value lies so many times as far from the least.
constexpr double kFarAway = 4;

/// Numbers in the order of the values.
std::uint64_t key_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
double value_of(std::uint64_t key) {
  return std::bit_cast<double>((key >> 63) != 0 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

/// A rank that is looked for among the values that begin with `prefix`.
struct Search {
  std::uint64_t rank;
  std::uint64_t prefix = 0;
};

/// Of the values that begin with `prefix`, how many have each of the 16 bits that follow.
struct NextDigits {
  std::uint64_t prefix;
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(1 << 16);
};

void find_percentiles(std::uint64_t count, const ValueAt& value, Distribution& result) {
  std::array<Search, kPercents.size()> searches{};
  for (std::size_t i = 0; i < kPercents.size(); ++i) {
    const double share = std::ceil(static_cast<double>(result.finite()) * kPercents[i] / 100);
    searches[i].rank = std::min(result.finite() - 1, static_cast<std::uint64_t>(std::max(1.0, share)) - 1);
  }
  for (int shift = 48; shift >= 0; shift -= 16) {
    std::vector<NextDigits> wanted;  // some ranks share theirs
    for (const Search& search : searches) {
      const auto known = std::ranges::find(wanted, search.prefix, &NextDigits::prefix);
      if (known == wanted.end()) wanted.push_back({search.prefix});
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const double x = value(i);
      if (std::isinf(x)) continue;
      const std::uint64_t key = key_of(x), prefix = shift == 48 ? 0 : key >> (shift + 16);
      for (NextDigits& next : wanted) {
        if (next.prefix == prefix) ++next.counts[key >> shift & 0xFFFF];
      }
    }
    for (Search& search : searches) {
      const std::vector<std::uint64_t>& counts = std::ranges::find(wanted, search.prefix, &NextDigits::prefix)->counts;
      std::uint64_t digit = 0;
      while (search.rank >= counts[digit]) search.rank -= counts[digit++];
      search.prefix = search.prefix << 16 | digit;
    }
  }
  for (std::size_t i = 0; i < kPercents.size(); ++i) result.percentiles[i] = value_of(searches[i].prefix);
}

void fill_bins(std::uint64_t count, const ValueAt& value, bool is_whole, Distribution& result) {
  const double p99 = result.percentiles.back();
  const bool has_tail = result.most - result.least > kFarAway * (p99 - result.least) && p99 > result.least;
  const double last = has_tail ? p99 : result.most;
  const double range = last - result.least;
  if (!std::isfinite(range)) {  // differences overflow: one bin for all
    result.first = result.least;
    result.above = result.finite();
    return;
  }
  double width = range > kLeastRange ? round_step(range / kBins)
                 : is_whole          ? 1
                                     : round_step(std::max(std::abs(last), 1e-300) / 10);
  if (is_whole) width = std::max(1.0, width);
  // Below this steps are not exact any more.
  width = std::max(width, std::max(std::abs(result.least), std::abs(last)) * 1e-14);
  result.width = width;
  result.first = std::floor(result.least / width) * width;
  const auto place = [&](double x) { return std::floor((x - result.first) / width); };
  result.bins.resize(static_cast<std::size_t>(std::max(0.0, place(last))) + 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = value(i);
    if (std::isinf(x)) continue;
    const double bin = std::max(0.0, place(x));
    if (bin < static_cast<double>(result.bins.size())) {
      ++result.bins[static_cast<std::size_t>(bin)];
    } else {
      ++result.above;
    }
  }
}

}  // namespace

Distribution distribution_of(std::uint64_t count, const ValueAt& value, bool is_whole) {
  stop_if_interrupted();
  Distribution result;
  result.count = count;
  result.least = std::numeric_limits<double>::infinity();
  result.most = -result.least;
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = value(i);
    if (std::isinf(x)) {
      ++result.infinite;
      continue;
    }
    result.least = std::min(result.least, x);
    result.most = std::max(result.most, x);
    sum += x;
  }
  if (result.finite() == 0) {
    result.least = result.most = result.mean = kNothing;
    result.percentiles.fill(kNothing);
    return result;
  }
  result.mean = sum / static_cast<double>(result.finite());
  find_percentiles(count, value, result);
  fill_bins(count, value, is_whole, result);
  return result;
}

}  // namespace kith::cli
