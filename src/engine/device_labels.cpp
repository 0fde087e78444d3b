// The facade of labels and values for callers whose arrays lie on a GPU: checks what can be checked without looking
// into them, and calls the backend.
#include "engine/device_labels.hpp"

#include "core/metric/metric_params.hpp"
#include "engine/backend.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <string_view>

namespace kith::apps::inline v0 {
namespace {

using engine::LabelRequest;

/// Throws UsageError unless the view is on a GPU, with rows that lie forwards.
void require_on_gpu(PointView view, std::string_view what) {
  if (view.device().kind() != Device::Kind::cuda) {
    throw UsageError(fmt::format("{}: the array is said to be on {}; arrays of the host are for classify and regress",
                                 what, view.device().name()));
  }
  if (view.row_stride() < static_cast<std::int64_t>(view.dims())) {
    throw UsageError(fmt::format(
        "{}: rows that overlap or lie backwards are for classify and regress with copies on the host", what));
  }
}

void require_memory(const void* memory, std::string_view what) {
  if (memory == nullptr) throw UsageError(fmt::format("{}: the pointer is null", what));
}

/// `most`: how many neighbours a query may have.
void require_neighbors(const LabelRequest& request, std::uint64_t most) {
  const DeviceNeighborOptions& options = request.options;
  if (options.k == 0) throw UsageError("k must be at least 1, not 0");
  if (request.points.empty() && !request.queries.empty()) {
    throw BadData(fmt::format("{} queries, but no points that could be their neighbours; give at least one",
                              request.queries.rows()));
  }
  if (options.k > most) {
    throw UsageError(fmt::format("k is {}, but there are at most {} neighbours; choose a lower k", options.k, most));
  }
  if (!options.metric.info().params.empty() && !core::has_plain_rows(options.metric)) {
    throw UsageError(
        fmt::format("metric {}: its parameters are not computed from arrays on a GPU; classify on the host",
                    options.metric.name()));
  }
  if (options.weights == Weights::distance && !options.metric.info().has_distances) {
    throw UsageError(fmt::format(
        "weights by distance: not for the metric {}, which has none; choose uniform weights or another metric",
        options.metric.name()));
  }
}

/// What the host learns; of no queries that is nothing.
ClassifiedOnDevice answer(const LabelRequest& request) {
  const std::uint64_t points = request.points.rows(), queries = request.queries.rows();
  engine::require_points_view(request.points);
  engine::require_queries_view(request.queries, request.points.dims(), request.points.dtype());
  const bool grows = request.is_sequential && queries > 0;
  if (grows) engine::require_shape(points + queries, request.points.dims());
  require_neighbors(request, grows ? points + queries - 1 : points);
  if (!request.points.empty()) require_on_gpu(request.points, "points");
  if (request.queries.empty()) return {};
  require_on_gpu(request.queries, "queries");
  if (request.queries.device() != request.points.device()) {
    throw UsageError(fmt::format("queries: the array is said to be on {}, but the points are on {}",
                                 request.queries.device().name(), request.points.device().name()));
  }
  const engine::Backend* backend = engine::cuda_backend();
  if (backend == nullptr) {
    throw DeviceError("an array on " + request.points.device().name() + ", but this build has no CUDA backend");
  }
  return backend->label(request);
}

ClassifiedOnDevice classified(PointView points, DeviceLabelView codes, PointView queries, std::uint32_t* labels,
                              const DeviceClassifyOptions& options, bool is_sequential) {
  if (!points.empty()) require_memory(codes.codes, "codes");
  if (!queries.empty()) require_memory(labels, "labels");
  ClassifiedOnDevice found = answer({.points = points,
                                     .queries = queries,
                                     .options = options,
                                     .is_sequential = is_sequential,
                                     .codes = codes,
                                     .labels = labels,
                                     .shares = options.shares});
  if (!is_sequential) found.depth = found.rounds = 0;
  return found;
}

}  // namespace

ClassifiedOnDevice classify_on_device(PointView points, DeviceLabelView codes, PointView queries, std::uint32_t* labels,
                                      const DeviceClassifyOptions& options) {
  return classified(points, codes, queries, labels, options, false);
}

ClassifiedOnDevice classify_sequential_on_device(PointView points, DeviceLabelView codes, PointView queries,
                                                 std::uint32_t* labels, const DeviceClassifyOptions& options) {
  return classified(points, codes, queries, labels, options, true);
}

NeighborWork regress_on_device(PointView points, const double* values, PointView queries, double* means,
                               const DeviceNeighborOptions& options) {
  if (!points.empty()) require_memory(values, "values");
  if (!queries.empty()) require_memory(means, "means");
  return answer({.points = points, .queries = queries, .options = options, .values = values, .means = means}).work;
}

}  // namespace kith::apps::inline v0
