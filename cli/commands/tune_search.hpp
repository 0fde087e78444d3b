// Measures which numbers of `Tuning` suit this machine: what kith tune does.
#pragma once

#include "terminal_progress.hpp"

#include <kith/point_set.hpp>
#include <kith/profile.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// What was found out about one number.
struct Finding {
  const TunedValue* value = nullptr;
  std::uint64_t tuned = 0;  ///< the built-in one unless another is clearly better
  double before_ms = 0;     ///< what the work took with the built-in number; 0: not measured, there was no time left
  double after_ms = 0;      ///< the same with `tuned`

  std::uint64_t built_in() const { return Tuning{}.*value->member; }
  bool is_measured() const { return before_ms > 0; }
};

struct TuneRequest {
  Device device;
  double seconds = 60;
  PointSet data;  ///< the user's points, in place of uniform ones where their dims fit; may be empty
};

struct Tuned {
  DeviceProfile profile;
  std::vector<Finding> findings;
};

/// Takes about `seconds`, at most one piece of work longer. The numbers in use are built in again at the end. Throws
/// DeviceError if there is no such GPU, Interrupted.
Tuned tune(const TuneRequest& request, TerminalProgress& progress);

}  // namespace kith::cli
