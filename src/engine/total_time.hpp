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

/// Returns choose(), a Choice. If that is a GPU, the time counts as starting it: then its driver was looked for.
template <typename Choose>
auto timed_choice(WorkTimes* times, const Choose& choose) {
  double spent = 0;
  auto choice = [&] {
    const runtime::TimeSpent watch(times == nullptr ? nullptr : &spent);
    return choose();
  }();
  if (times != nullptr && choice.device != Device::cpu()) times->start_ms += spent;
  return choice;
}

}  // namespace kith::engine
