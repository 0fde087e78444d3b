// The means of the neighbours' values, a thread for each query: sums run along the list.
#pragma once

#include "cuda/labels/neighbor_row.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kMeanThreads = 128;

template <typename T>
__global__ void __launch_bounds__(kMeanThreads) mean_of_values(const __grid_constant__ MeanTask<T> task) {
  for (std::uint64_t row = std::uint64_t{block_number()} * kMeanThreads + thread_number(); row < task.rows.count;
       row += std::uint64_t{blocks_in_grid()} * kMeanThreads) {
    const NeighborRow<T> list(task.rows, row);
    double sum = 0, total = 0;
    std::uint32_t j = 0;
    for (; list.index(j) < task.rows.missing; ++j) {
      const double weight = list.weight(j);
      sum += weight * task.values[list.index(j)];
      total += weight;
    }
    if (j == 0) atomic_min(&task.report->first_empty, task.first_row + row);
    task.means[task.first_row + row] = j == 0 ? 0 : sum / total;
  }
}

}  // namespace kith::cuda
