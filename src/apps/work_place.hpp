// Whether a job on points in host memory runs on a GPU as a whole.
#pragma once

#include <kith/device.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::apps::inline v0 {

/// Calls `run(device)` with the GPU that is wanted or, if that is left to us, on which an index of the points would be
/// built for so many queries. False if it is none, or if it was our choice and its memory is too small.
template <typename Run>
bool run_on_gpu(PointView points, Device wanted, std::uint64_t queries, const Run& run) {
  Device device = wanted;
  if (device.kind() == Device::Kind::automatic) {
    BuildOptions build;
    build.expected_queries = queries;
    device = Index::plan(points.rows(), points.dims(), points.dtype(), build).device;
  }
  if (device.kind() != Device::Kind::cuda) return false;
  try {
    run(device);
    return true;
  } catch (const OutOfMemory&) {
    if (wanted.kind() != Device::Kind::automatic) throw;
    return false;
  }
}

}  // namespace kith::apps::inline v0
