// The shares of all classes among the neighbours, a warp for each query.
#pragma once

#include "cuda/labels/neighbor_row.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kShareThreads = 128;

template <typename T>
__global__ void __launch_bounds__(kShareThreads) share_weights(const __grid_constant__ ShareTask<T> task) {
  constexpr std::uint32_t kWarps = kShareThreads / kWarp;
  for (std::uint64_t row = std::uint64_t{block_number()} * kWarps + warp_number(); row < task.rows.count;
       row += std::uint64_t{blocks_in_grid()} * kWarps) {
    const NeighborRow<T> list(task.rows, row);
    double* shares = task.shares + row * task.classes;
    for (std::uint32_t c = lane_number(); c < task.classes; c += kWarp) shares[c] = 0;
    sync_warp();
    double total = 0;
    if (lane_number() == 0) {  // sums run along the list
      for (std::uint32_t j = 0; list.index(j) < task.rows.missing; ++j) {
        const std::uint32_t label = FoundLabel::label(label_now(task.known, list.index(j)));
        const double weight = list.weight(j);
        total += weight;
        if (label < task.classes) shares[label] += weight;
      }
    }
    sync_warp();
    total = shuffle(total, 0);
    for (std::uint32_t c = lane_number(); c < task.classes; c += kWarp) {
      if (shares[c] != 0) shares[c] /= total;
    }
  }
}

}  // namespace kith::cuda
