// The part of the facade that builds: chooses engine and device, finds bad rows, copies and normalises where needed,
// and asks the backend for a searcher. Also what a build will take.
#include "core/dispatch.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/host_view.hpp"
#include "engine/index_state.hpp"
#include "engine/kd_tree/measured_pruning.hpp"
#include "engine/periodic_axes.hpp"
#include "engine/prepared_rows.hpp"
#include "engine/total_time.hpp"
#include "engine/validate.hpp"
#include "engine/with_memory.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith::inline v0 {
namespace {

using engine::PreparedRows;

template <typename T>
engine::BuildRequest<T> request_for(const IndexState& state, const BuildOptions& options) {
  return {.engine = state.engine,
          .metric = state.metric,
          .rows = nullptr,
          .row_stride = state.dims,
          .rows_on = Device::cpu(),
          .is_known_finite = true,
          .count = state.clean,
          .dims = state.dims,
          .split = options.split,
          .builder = options.builder,
          .leaf_size = options.leaf_size,
          .period = {},
          .device = state.device,
          .run = {options.threads, &options.progress, options.times}};
}

/// Lets a backend that looks for NaN itself take the points as they lie, on the host or in its own memory. False if
/// they must be prepared first, or if not all of them are finite.
template <typename T>
bool build_from_points_as_they_lie(IndexState& state, PointView points, const BuildOptions& options) {
  const engine::Backend& backend = engine::backend_of(state.device);
  const auto dims = static_cast<std::int64_t>(points.dims());
  const bool is_readable = points.device() == state.device
                               ? points.row_stride() >= dims
                               : points.device() == Device::cpu() && points.row_stride() == dims;
  if (!backend.checks_points() || !is_readable) return false;
  if (options.metric.is_of_directions() || !options.period.empty()) return false;
  state.clean = points.rows();
  engine::BuildRequest<T> request = request_for<T>(state, options);
  request.rows = points.row<T>(0);
  request.row_stride = static_cast<std::uint64_t>(points.row_stride());
  request.rows_on = points.device();
  request.is_known_finite = false;
  try {
    state.searcher = backend.build(request);
    return true;
  } catch (const engine::NonFinite&) {
    return false;
  }
}

/// `points` are in host memory.
template <typename T>
void build_from_clean_rows(IndexState& state, PointView points, const BuildOptions& options) {
  std::vector<T> lengths = engine::period_lengths<T>(options.period, points.dims(), options.metric);
  PreparedRows<T> rows = engine::prepare_rows<T>(points, {.what = "points",
                                                          .metric = options.metric,
                                                          .skip_nonfinite = options.skip_nonfinite,
                                                          .side_by_side = true,
                                                          .threads = options.threads});
  engine::require_inside_period(rows.rows, rows.count, lengths, rows.clean, options.threads);
  state.period.assign(lengths.begin(), lengths.end());
  state.clean = rows.count;
  if (!rows.clean.all_clean) state.original.assign(rows.clean.rows.begin(), rows.clean.rows.end());
  engine::BuildRequest<T> request = request_for<T>(state, options);
  request.rows = rows.rows;
  request.period = std::move(lengths);
  state.searcher = engine::backend_of(state.device).build(request);
}

engine::PlanRequest plan_request(const engine::Choice& choice, const engine::EngineRequest& wanted, DType dtype,
                                 const BuildOptions& options) {
  return {.engine = choice.engine,
          .metric = options.metric,
          .dtype = dtype,
          .count = wanted.points,
          .dims = wanted.dims,
          .leaf_size = options.leaf_size,
          .is_periodic = !options.period.empty(),
          .device = choice.device,
          .points_on = wanted.points_on,
          .threads = options.threads};
}

/// choose_engine, and `automatic` takes no GPU that has not enough memory.
engine::Choice choose(const engine::EngineRequest& wanted, DType dtype, const BuildOptions& options) {
  engine::Choice choice = engine::choose_engine(wanted);
  if (wanted.device.kind() == Device::Kind::automatic && choice.device.kind() == Device::Kind::cuda) {
    const engine::Backend& backend = engine::backend_of(choice.device);
    try {
      if (backend.build_bytes(plan_request(choice, wanted, dtype, options)).peak > backend.free_bytes(choice.device)) {
        choice.fall_back(choice.device.name() + " has not enough free memory");
      }
    } catch (const DeviceError& error) {
      choice.fall_back(error.what());
    }
  }
  return choice;
}

engine::EngineRequest engine_request_for(std::uint64_t rows, std::uint32_t dims, Device points_on,
                                         const BuildOptions& options) {
  return {.engine = options.engine,
          .device = options.device,
          .points = rows,
          .dims = dims,
          .queries = options.expected_queries,
          .points_on = points_on,
          .metric = options.metric,
          .builder = options.builder};
}

std::shared_ptr<IndexState> build_chosen(const engine::Choice& choice, PointView points, const BuildOptions& options) {
  auto state = std::make_shared<IndexState>();
  state->rows = points.rows();
  state->dims = points.dims();
  state->dtype = points.dtype();
  state->metric = options.metric;
  state->engine = choice.engine;
  state->device = choice.device;
  state->reason = choice.reason;
  const std::uint64_t bytes = points.rows() * points.dims() * size_of(points.dtype());
  engine::with_memory(choice.device == Device::cpu() ? bytes : 0, "the index", [&] {
    core::visit_dtype(points.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (build_from_points_as_they_lie<T>(*state, points, options)) return;
      const engine::HostView host(points, options.threads);
      build_from_clean_rows<T>(*state, host.view(), options);
    });
  });
  return state;
}

/// Some of the points that the tree of `state` holds, in regular distances, as its queries are: normalised for cosine.
template <typename T>
engine::PreparedRows<T> probes_of(const IndexState& state, PointView points, const BuildOptions& options,
                                  PointSet& probes) {
  const auto step = static_cast<std::int64_t>(state.clean / engine::kProbes);
  const PointView spread(points.row<T>(0), points.dtype(), engine::kProbes, points.dims(), step * points.row_stride(),
                         points.device());
  const engine::HostView host(spread, options.threads);
  probes = PointSet::copy_of(host.view());
  return engine::prepare_rows<T>(
      probes.view(), {.what = "points", .metric = options.metric, .side_by_side = true, .threads = options.threads});
}

/// Builds what was chosen; a tree that was to be measured gives way to brute force if it does not prune.
std::shared_ptr<IndexState> build_state(engine::Choice choice, PointView points, const BuildOptions& options) {
  std::shared_ptr<IndexState> state = build_chosen(choice, points, options);
  if (!choice.is_measured) return state;
  if (state->left_out_rows()) {  // which points the tree has is not worth finding out
    choice.change_engine(Engine::kd_tree, "not measured, because rows were left out");
    state->reason = choice.reason;
    return state;
  }
  const engine::Pruning pruning = core::visit_dtype(points.dtype(), [&](auto zero) {
    using T = decltype(zero);
    PointSet memory;
    const PreparedRows<T> probes = probes_of<T>(*state, points, options, memory);
    return engine::measure_pruning(searcher_of<T>(*state), state->device, probes.rows, state->clean, state->dims,
                                   options.leaf_size, options.threads);
  });
  const std::string measured =
      fmt::format("{} of {} points found their neighbours in {:g} % of the leaves of a k-d tree, {} points of {} dims",
                  pruning.certain, pruning.asked, 100 * pruning.share, points.rows(), points.dims());
  choice.change_engine(pruning.pays() ? Engine::kd_tree : Engine::brute_force, measured);
  if (pruning.pays()) {
    state->reason = choice.reason;
    return state;
  }
  state.reset();  // its memory is free before the other index is made
  return build_chosen(choice, points, options);
}

}  // namespace

Index Index::build(PointView points, const BuildOptions& options) {
  engine::require_points_view(points);
  engine::require_build_options(options);
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "building");
  engine::Choice choice = engine::timed_choice(options.times, [&] {
    return choose(engine_request_for(points.rows(), points.dims(), points.device(), options), points.dtype(), options);
  });
  return engine::make_or_fall_back(options.device, choice, options.times, [&](const engine::Choice& chosen) {
    return Index(build_state(chosen, points, options));
  });
}

BuildPlan Index::plan(std::uint64_t rows, std::uint32_t dims, DType dtype, const BuildOptions& options) {
  engine::require_shape(rows, dims);
  engine::require_build_options(options);
  const engine::EngineRequest wanted = engine_request_for(rows, dims, Device::cpu(), options);
  engine::Choice choice = choose(wanted, dtype, options);
  engine::BuildBytes bytes =
      engine::backend_of(choice.device).build_bytes(plan_request(choice, wanted, dtype, options));
  // The normalised copy of the points is the host's.
  if (options.metric.is_of_directions() && choice.device == Device::cpu()) {
    bytes.peak += rows * dims * size_of(dtype);
  }
  return {choice.engine, choice.device, bytes.index, bytes.peak, std::move(choice.reason)};
}

}  // namespace kith::inline v0
