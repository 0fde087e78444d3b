// Adds the time that a piece of work takes to a sum, if one was requested.
#pragma once

#include <chrono>

namespace kith::runtime {

/// From its construction to its end. With null the clock is not even looked at.
class TimeSpent {
 public:
  using Clock = std::chrono::steady_clock;

  /// `milliseconds` outlives this, or is null.
  explicit TimeSpent(double* milliseconds) : milliseconds_(milliseconds) {
    if (milliseconds_ != nullptr) start_ = Clock::now();
  }
  ~TimeSpent() {
    if (milliseconds_ == nullptr) return;
    *milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  TimeSpent(const TimeSpent&) = delete;
  TimeSpent& operator=(const TimeSpent&) = delete;

 private:
  double* milliseconds_;
  Clock::time_point start_;
};

/// One of the sums of times that may be null: member_of(times, &WorkTimes::copy_in_ms).
template <typename Times>
double* member_of(Times* times, double Times::*member) {
  return times == nullptr ? nullptr : &(times->*member);
}

}  // namespace kith::runtime
