// A query on its way, as walks and filters see it.
#pragma once

#include "cuda/queries/requests.hpp"

#include <cstdint>

namespace kith::cuda {

/// One query on its way.
struct QueryInfo {
  std::uint32_t number = 0;  ///< for filters: the point whose neighbours are sought, or anything for other queries
  std::uint32_t end = kNoPoint;
  std::uint64_t row = 0;  ///< of the answer
  bool is_open = true;    ///< no filter
};

}  // namespace kith::cuda
