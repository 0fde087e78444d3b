// What the GPU at hand offers a search in a tree.
#pragma once

#include "cuda/queries/warps_plan.hpp"
#include "cuda/queries/search_launcher.cuh"

namespace kith::cuda {

inline SearchLimits search_limits(int device) {
  SearchLimits limits;
  limits.processors = processors_of(device);
  return limits;
}

}  // namespace kith::cuda
