// See axis.hpp.
#include "report/axis.hpp"

#include "report/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::cli {
namespace {

constexpr double kWideSpread = 50;
/// Steps of smaller ranges would be denormal.
constexpr double kLeastExtent = 1e-290;
/// Beyond these an exponent is shorter than zeros.
constexpr double kLeastPlain = 1e-4, kMostPlain = 1e6;

/// "2e-5", "1e6".
std::string with_exponent(double value) {
  const int power = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  return fmt::format("{:g}e{}", value / std::pow(10.0, power), power);
}

}  // namespace

double round_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

Scaling scaling_for(double least, double most) {
  return least > 0 && most / least > kWideSpread ? Scaling::logarithmic : Scaling::linear;
}

Axis::Axis(double low, double high, Scaling scaling, int ticks, AxisEnds ends)
    : low_(low), high_(high), scaling_(scaling) {
  if (scaling_ == Scaling::logarithmic) {
    set_logarithmic(ticks);
  } else {
    set_linear(ticks, ends);
  }
}

void Axis::set_linear(int ticks, AxisEnds ends) {
  if (!(high_ - low_ > std::max(std::abs(low_) * 1e-12, kLeastExtent))) {
    const double margin = low_ == 0 ? 1 : std::abs(low_) / 2;
    high_ = low_ + margin;
    if (low_ != 0) low_ -= margin;
  }
  step_ = round_step((high_ - low_) / ticks);
  const bool is_wider = ends == AxisEnds::at_ticks;
  const double below = low_ / step_, above = high_ / step_;
  const double first = is_wider ? std::floor(below + 1e-9) : std::ceil(below - 1e-9);
  const double last = is_wider ? std::ceil(above - 1e-9) : std::floor(above + 1e-9);
  for (double i = first; i <= last; ++i) ticks_.push_back(i * step_);
  if (!is_wider) return;
  low_ = ticks_.front();
  high_ = ticks_.back();
}

void Axis::set_logarithmic(int ticks) {
  const double first = std::floor(std::log10(low_) + 1e-9);
  const double last = std::max(first + 1, std::ceil(std::log10(high_) - 1e-9));
  const double stride = std::max(1.0, std::ceil((last - first) / ticks));
  for (double power = first; power <= last; power += stride) {
    ticks_.push_back(std::pow(10.0, power));
    if (last - first > 1) continue;
    for (const double factor : {2.0, 5.0}) {
      if (power < last) ticks_.push_back(factor * std::pow(10.0, power));
    }
  }
  low_ = std::pow(10.0, first);
  high_ = std::pow(10.0, last);
}

double Axis::place(double value) const {
  if (scaling_ == Scaling::linear) return (value - low_) / (high_ - low_);
  return std::log(value / low_) / std::log(high_ / low_);
}

std::string Axis::label(double tick) const {
  if (std::abs(tick) < step_ / 2 && scaling_ == Scaling::linear) return "0";
  const double size = std::abs(tick), finest = scaling_ == Scaling::linear ? step_ : size;
  if (std::max(std::abs(low_), std::abs(high_)) >= kMostPlain * 10 || finest < kLeastPlain) return with_exponent(tick);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(finest) + 1e-9)));
  return grouped(fmt::format("{:.{}f}", tick, decimals));
}

}  // namespace kith::cli
