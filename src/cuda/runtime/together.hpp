// Which blocks of a launch are there at the same time, so that they may wait for each other.
#pragma once

#include <cstdint>

namespace kith::cuda {

struct Together {
  bool is_cooperative = false;  ///< all of them
  std::uint32_t cluster = 1;    ///< this many neighbours, which have a barrier of their own (sync_cluster)
};

}  // namespace kith::cuda
