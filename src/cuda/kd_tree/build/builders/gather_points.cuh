// The common end of builders that move the numbers of points alone: copies the points to where their numbers are.
//
// Per point: 4 bytes and a row are read, the row at random; a row and 4 bytes are written.
#pragma once

#include "cuda/kd_tree/build/builders/builders.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>

namespace kith::cuda {

inline constexpr std::uint32_t kGatherThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kGatherThreads)
    gather_points(PointSource<T> source, const std::uint32_t* numbers, std::uint64_t count, std::uint32_t dims,
                  PointColumns<T> to) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kGatherThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kGatherThreads) {
    const std::uint32_t number = numbers[i];
    to.numbers[i] = source.index(number);
    for (std::uint32_t d = 0; d < dims; ++d) to.values[d * to.stride + i] = source.at(number, d);
  }
}

/// `numbers`, not in `task.copy`: the point at each place, in the order of the leaves. `Device`: StepDevice, or what
/// stands for it in tests.
template <typename T, typename Device>
ArrangedPoints<T> gathered(Device& device, const ArrangeTask<T>& task, const std::uint32_t* numbers) {
  const PointColumns<T> to = columns_in<T>(task.copy, task.shape);
  const std::uint64_t count = task.shape.geometry.points, blocks = (count + kGatherThreads - 1) / kGatherThreads;
  if (count > 0) {
    device.phase("gather");
    device.launch(gather_points<T>, static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, 1u << 20)),
                  kGatherThreads, 0, task.source, numbers, count, task.shape.dims, to);
  }
  return {to.source(), true};
}

}  // namespace kith::cuda
