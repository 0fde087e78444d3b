// What a build on a GPU tells of itself: the memory that it takes, and the time of its steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cuda {

/// What a build takes of the GPU's memory; points that are there already are not counted.
struct BuildMemory {
  std::uint64_t index_bytes = 0;  ///< what stays
  std::uint64_t peak_bytes = 0;   ///< the most that is in use at a time
};

/// How long a step took, by events in the stream.
struct BuildPhase {
  std::string name;
  double ms = 0;
  std::uint64_t bytes = 0;  ///< read and written
};

/// Filled by a build that is asked to; it waits after each step then.
struct BuildPhases {
  std::vector<BuildPhase> phases;
};

}  // namespace kith::cuda
