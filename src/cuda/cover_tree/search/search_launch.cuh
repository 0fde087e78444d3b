// See search.hpp; included by a file for some of the spaces.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/cover_tree/search/search.hpp"
#include "cuda/cover_tree/search/search_steps.cuh"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/search_limits.cuh"
#include "cuda/queries/search_launcher.cuh"

namespace kith::cuda {

template <typename Space>
void search_cover_knn(const CoverKnnTask<Space>& task, const Stream& stream) {
  const CoverPlan plan = plan_search(task, search_limits(stream.device()));
  DeviceBuffer<std::byte> scratch(plan.frames_bytes + plan.list_bytes, stream);
  launch_cover_knn(task, plan, scratch.data(), SearchLauncher(stream));
}

template <typename Space>
void search_cover_radius(const CoverRadiusTask<Space>& task, bool lists, const Stream& stream) {
  const CoverPlan plan = plan_search(task, search_limits(stream.device()));
  DeviceBuffer<std::byte> scratch(plan.frames_bytes, stream);
  launch_cover_radius(task, lists, plan, scratch.data(), SearchLauncher(stream));
}

}  // namespace kith::cuda
