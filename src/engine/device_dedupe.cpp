// The facade of deduplication on a GPU: checks what can be checked without looking into the arrays, and calls the
// backend.
#include "engine/device_dedupe.hpp"

#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::apps::inline v0 {
namespace {

void require_arrays(PointView points, const std::uint32_t* kept) {
  if (points.dims() == 0) throw UsageError("points: rows without coordinates (0 dimensions)");
  if (points.data() == nullptr) throw UsageError("points: the data pointer is null");
  if (kept == nullptr) throw UsageError("kept: the pointer is null");
  if (points.device().kind() == Device::Kind::cuda && points.row_stride() < static_cast<std::int64_t>(points.dims())) {
    throw UsageError("points: rows that overlap or lie backwards; copy them first");
  }
}

}  // namespace

DedupedOnDevice dedupe_on_device(PointView points, std::uint32_t* kept, std::uint32_t* map,
                                 const DeviceDedupeOptions& options) {
  const Device device = points.device().kind() == Device::Kind::cuda ? points.device() : options.device;
  if (device.kind() != Device::Kind::cuda) {
    throw UsageError("points in host memory: name the GPU to work on in the options (Device::cuda), or use dedupe");
  }
  if (points.rows() > engine::kMostPoints) {
    throw UsageError(fmt::format("{} points, but at most {} can be numbered; cut the set into parts", points.rows(),
                                 engine::kMostPoints));
  }
  if (!options.scores.empty() && options.scores.size() != points.rows()) {
    throw UsageError(fmt::format("{} scores for {} points; give one per point", options.scores.size(), points.rows()));
  }
  if (!points.empty()) require_arrays(points, kept);
  engine::require_gpu(device);
  if (points.empty()) return {};
  return engine::cuda_backend()->dedupe(
      {.points = points, .kept = kept, .map = map, .options = options, .device = device});
}

}  // namespace kith::apps::inline v0
