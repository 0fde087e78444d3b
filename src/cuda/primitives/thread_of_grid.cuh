// The number of a thread among all of its grid.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda::cover {

__device__ inline std::uint64_t thread_of_grid() {
  return std::uint64_t{block_number()} * threads_per_block() + thread_number();
}

}  // namespace kith::cuda::cover
