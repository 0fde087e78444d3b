// The parts of WorkTimes that the facade itself knows.
#pragma once

#include "runtime/time_spent.hpp"

#include <kith/device.hpp>
#include <kith/work_times.hpp>

namespace kith::engine {

/// Empties the times that a call was given, if any, and tells the total at its end.
class TotalTime {
 public:
  explicit TotalTime(WorkTimes* times) : spent_(emptied(times)) {}

 private:
  static double* emptied(WorkTimes* times) {
    if (times != nullptr) *times = {};
    return runtime::member_of(times, &WorkTimes::total_ms);
  }

  runtime::TimeSpent spent_;
};

/// What it takes to ask which devices there are, unless the CPU will do: then the driver of GPUs starts.
class StartTime {
 public:
  StartTime(WorkTimes* times, Device wanted)
      : spent_(wanted == Device::cpu() ? nullptr : runtime::member_of(times, &WorkTimes::start_ms)) {}

 private:
  runtime::TimeSpent spent_;
};

}  // namespace kith::engine
