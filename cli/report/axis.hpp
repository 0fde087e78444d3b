// Axes of charts: how far they reach, where their ticks are and what stands beside them.
#pragma once

#include <string>
#include <vector>

namespace kith::cli {

/// Whether an axis ends at ticks, or where its values end.
enum class AxisEnds : unsigned char { at_ticks, at_values };

enum class Scaling : unsigned char { linear, logarithmic };

/// A range of values with ticks at round numbers.
class Axis {
 public:
  /// [low, high], or out to the next ticks; about `ticks` of them. A logarithmic axis needs 0 < low and ends at ticks.
  /// Without extent it is made wider.
  Axis(double low, double high, Scaling scaling, int ticks, AxisEnds ends = AxisEnds::at_ticks);

  double low() const { return low_; }
  double high() const { return high_; }
  /// From 0 at the low end to 1 at the high one.
  double place(double value) const;
  const std::vector<double>& ticks() const { return ticks_; }
  /// What stands beside a tick.
  std::string label(double tick) const;

 private:
  void set_linear(int ticks, AxisEnds ends);
  void set_logarithmic(int ticks);

  double low_;
  double high_;
  Scaling scaling_;
  double step_ = 1;  // linear only
  std::vector<double> ticks_;
};

/// 1, 2 or 5 times a power of ten, at least `value`, which is positive.
double round_step(double value);

/// Whether values spread so far that a logarithmic axis shows them better. All must be positive for that.
Scaling scaling_for(double least, double most);

}  // namespace kith::cli
