// What else a tree in order may have: the numbers of the children of each node, and the coordinates of its points.
#pragma once

#include "cuda/ordered_tree/order_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// The range whose node is at a place.
struct NodeRange {
  std::uint32_t first, last;

  KITH_HOST_DEVICE NodeRange(std::uint32_t place, std::uint32_t count, bool takes_left) : first(0), last(count) {
    for (;;) {
      const std::uint32_t middle = middle_of(first, last, takes_left);
      if (place == middle) return;
      (place < middle ? last : first) = place < middle ? middle : middle + 1;
    }
  }
};

template <typename T>
__global__ void __launch_bounds__(kOrderThreads) link_nodes(OrderTask<T> task, OrderedNodes<T> nodes) {
  constexpr std::uint32_t kNone = 0xffffffff;
  for (std::uint64_t i = std::uint64_t{block_number()} * kOrderThreads + thread_number(); i < task.count;
       i += std::uint64_t{blocks_in_grid()} * kOrderThreads) {
    const auto place = static_cast<std::uint32_t>(i);
    if (nodes.less != nullptr) {
      const NodeRange range(place, task.count, task.takes_left);
      nodes.less[i] = range.first < place ? middle_of(range.first, place, task.takes_left) : kNone;
      nodes.greater[i] = place + 1 < range.last ? middle_of(place + 1, range.last, task.takes_left) : kNone;
    }
    if (nodes.rows != nullptr) {
      const T* const row = task.rows + nodes.point[i] * task.row_stride;
      for (std::uint32_t d = 0; d < task.dims; ++d) nodes.rows[i * task.dims + d] = row[d];
    }
  }
}

}  // namespace kith::cuda
