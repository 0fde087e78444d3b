// See search.hpp; included once per type of coordinates.
#pragma once

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/kd_tree/search/approximate/approximate_steps.cuh"
#include "cuda/kd_tree/search/search.hpp"
#include "cuda/queries/search_limits.cuh"
#include "cuda/queries/search_launcher.cuh"

namespace kith::cuda {

template <typename T>
void search_knn_approximately(const ApproximateTask<T>& task, const Stream& stream) {
  const ListsPlan plan = plan_approximate(task, search_limits(stream.device()));
  DeviceBuffer<std::byte> scratch(plan.scratch_bytes, stream);
  launch_approximate_steps(task, plan, scratch.data(), SearchLauncher(stream));
}

}  // namespace kith::cuda
