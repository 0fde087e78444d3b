// How many threads the loops of this extension take.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace kith::python {

/// As in the library: 0 means all that the machine, OMP_NUM_THREADS and threadpoolctl allow.
inline std::size_t thread_count(int threads) {
  if (threads > 0) return static_cast<std::size_t>(threads);
  return static_cast<std::size_t>(std::max(1, std::min(omp_get_max_threads(), omp_get_num_procs())));
}

}  // namespace kith::python
