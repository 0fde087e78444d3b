// The part of the facade that builds, from points or from an exported tree: chooses engine and device, finds bad rows,
// copies and normalises where needed, and asks the backend for a searcher. Also what a build will take.
#include "core/dispatch.hpp"
#include "core/metric/period.hpp"
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
#include "runtime/memory_limit.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kith::inline v0 {
namespace {

using engine::PreparedRows;

/// The points of an exported tree, with numbers without gaps.
class TreePoints {
 public:
  explicit TreePoints(const apps::InOrderTree& tree) : tree_(tree), numbers_(tree.index) {
    if (tree.index.size() == tree.facts.rows) return;
    ranks_.resize(tree.index.size());
    numbers_ = ranks_;
    if (tree.facts.rows / 64 > tree.index.size()) {  // a map of all rows would take more memory than the tree
      original_ = tree.index;
      std::sort(original_.begin(), original_.end());
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        const auto found = std::lower_bound(original_.begin(), original_.end(), tree.index[i]);
        ranks_[i] = static_cast<std::uint32_t>(found - original_.begin());
      }
      return;
    }
    std::vector<std::uint64_t> bits(tree.facts.rows / 64 + 1), before(bits.size());
    for (const std::uint32_t row : tree.index) bits[row / 64] |= std::uint64_t{1} << (row % 64);
    for (std::size_t word = 0; word + 1 < bits.size(); ++word) {
      before[word + 1] = before[word] + static_cast<std::uint64_t>(std::popcount(bits[word]));
    }
    original_.resize(tree.index.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const std::uint32_t row = tree.index[i];
      const std::uint64_t lower = bits[row / 64] & ((std::uint64_t{1} << (row % 64)) - 1);
      ranks_[i] = static_cast<std::uint32_t>(before[row / 64] + static_cast<std::uint64_t>(std::popcount(lower)));
      original_[ranks_[i]] = row;
    }
  }

  TreePoints(const TreePoints&) = delete;

  /// In the order of the tree.
  PointView view() const { return tree_.points.view(); }
  std::span<const std::uint32_t> numbers() const { return numbers_; }
  const std::vector<std::uint32_t>& original() const { return original_; }
  /// That it has besides the tree.
  std::uint64_t bytes() const { return (ranks_.size() + original_.size()) * sizeof(std::uint32_t); }
  template <typename T>
  engine::KdOrder<T> order() const {
    return {view().row<T>(0), numbers_.data(), tree_.split_dim.data(), tree_.facts.middle == apps::Middle::left};
  }
  /// In the order of their numbers.
  PointSet by_number(int threads) const {
    std::vector<std::uint32_t> places(numbers_.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[numbers_[i]] = static_cast<std::uint32_t>(i);
    return apps::take_rows(view(), places, threads);
  }

 private:
  const apps::InOrderTree& tree_;
  std::vector<std::uint32_t> ranks_, original_;  ///< empty if all points are in the tree
  std::span<const std::uint32_t> numbers_;
};

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
  if (!state.preparation.is_plain() || !options.period.empty()) return false;
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

/// `points` are in host memory; those of `tree`, unless it is null, in its order.
template <typename T>
void build_from_clean_rows(IndexState& state, PointView points, const BuildOptions& options, const TreePoints* tree) {
  std::vector<T> lengths = core::period_lengths<T>(options.period, points.dims(), options.metric);
  if (!lengths.empty() && !state.preparation.is_plain()) {
    throw UsageError("period: periodic axes and metric_params do not go together");
  }
  PreparedRows<T> rows;
  if (tree != nullptr) {  // these were checked
    rows.rows = points.row<T>(0);
    rows.count = points.rows();
  } else {
    rows = engine::prepare_rows<T>(points, {.what = "points",
                                            .map = state.preparation.map(),
                                            .skip_nonfinite = options.skip_nonfinite,
                                            .side_by_side = true,
                                            .threads = options.threads});
  }
  engine::require_inside_period(rows.rows, rows.count, lengths, rows.clean, options.threads);
  state.period.assign(lengths.begin(), lengths.end());
  state.clean = rows.count;
  if (!rows.clean.all_clean) state.original.assign(rows.clean.rows.begin(), rows.clean.rows.end());
  engine::BuildRequest<T> request = request_for<T>(state, options);
  request.rows = rows.rows;
  request.period = std::move(lengths);
  const engine::KdOrder<T> order = tree == nullptr ? engine::KdOrder<T>() : tree->order<T>();
  if (tree != nullptr) request.order = &order;
  state.searcher = engine::backend_of(state.device).build(request);
}

engine::PlanRequest plan_request(const engine::Choice& choice, const engine::EngineRequest& wanted, DType dtype,
                                 const BuildOptions& options) {
  return {.engine = choice.engine,
          .metric = options.metric,
          .dtype = dtype,
          .count = wanted.points,
          .dims = wanted.dims,
          .builder = options.builder,
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

/// How the rows are prepared; where it depends on the points they are looked at.
core::RowPreparation preparation_for(PointView points, const BuildOptions& options) {
  if (!options.metric_params.empty() || core::has_plain_rows(options.metric)) {
    return {options.metric, options.metric_params, points.dims()};
  }
  const engine::HostView host(points, options.threads);
  return {options.metric, core::params_for(options.metric, {}, host.view()), points.dims()};
}

/// Throws OutOfMemory if the caller's MemoryLimit does not allow a build on the CPU.
void require_allowed(const engine::Choice& choice, PointView points, const core::RowPreparation& preparation,
                     const BuildOptions& options) {
  if (choice.device != Device::cpu()) return;  // its backend looks how much of its memory is free
  const std::uint32_t dims = preparation.map().searched_dims();
  const engine::EngineRequest wanted = engine_request_for(points.rows(), dims, points.device(), options);
  const engine::BuildBytes bytes =
      engine::cpu_backend().build_bytes(plan_request(choice, wanted, points.dtype(), options));
  const bool has_gaps = points.row_stride() != static_cast<std::int64_t>(points.dims());
  const bool is_copied =
      !preparation.is_plain() || has_gaps || options.skip_nonfinite || points.device() != Device::cpu();
  runtime::require_allowed(bytes.peak + (is_copied ? points.rows() * dims * size_of(points.dtype()) : 0),
                           "building the index");
}

std::shared_ptr<IndexState> build_chosen(const engine::Choice& choice, PointView points,
                                         const core::RowPreparation& preparation, const BuildOptions& options,
                                         const TreePoints* tree) {
  if (tree != nullptr && !(choice.engine == Engine::kd_tree && choice.device == Device::cpu())) {
    const PointSet rows = tree->by_number(options.threads);
    return build_chosen(choice, rows.view(), preparation, options, nullptr);
  }
  require_allowed(choice, points, preparation, options);
  auto state = std::make_shared<IndexState>();
  state->rows = points.rows();
  state->dtype = points.dtype();
  state->metric = options.metric;
  state->preparation = preparation;
  state->dims = preparation.map().searched_dims();
  state->engine = choice.engine;
  state->device = choice.device;
  state->reason = choice.reason;
  const std::uint64_t bytes = points.rows() * points.dims() * size_of(points.dtype());
  engine::with_memory(choice.device == Device::cpu() ? bytes : 0, "the index", [&] {
    core::visit_dtype(points.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (build_from_points_as_they_lie<T>(*state, points, options)) return;
      const engine::HostView host(points, options.threads);
      build_from_clean_rows<T>(*state, host.view(), options, tree);
    });
  });
  return state;
}

/// Some of the points that the tree of `state` holds, in regular distances, as its queries are: prepared.
template <typename T>
engine::PreparedRows<T> probes_of(const IndexState& state, PointView points, const BuildOptions& options,
                                  PointSet& probes) {
  const auto step = static_cast<std::int64_t>(state.clean / engine::kProbes);
  const PointView spread(points.row<T>(0), points.dtype(), engine::kProbes, points.dims(), step * points.row_stride(),
                         points.device());
  const engine::HostView host(spread, options.threads);
  probes = PointSet::copy_of(host.view());
  return engine::prepare_rows<T>(
      probes.view(),
      {.what = "points", .map = state.preparation.map(), .side_by_side = true, .threads = options.threads});
}

/// Builds what was chosen; a tree that was to be measured gives way to brute force if it does not prune. `points` are
/// those of `tree` in its order, unless it is null.
std::shared_ptr<IndexState> build_state(engine::Choice choice, PointView points,
                                        const core::RowPreparation& preparation, const BuildOptions& options,
                                        const TreePoints* tree) {
  std::shared_ptr<IndexState> state = build_chosen(choice, points, preparation, options, tree);
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
  return build_chosen(choice, points, preparation, options, tree);
}

/// Whether to take the order of a tree over. Where points lie on surfaces, a tree that splits the dims in turn is
/// searched in up to three times the time of one that splits the widest side (lidar scans, k = 8): many queries would
/// pay for it.
bool order_pays(const apps::InOrderTree& tree, const BuildOptions& options) {
  constexpr std::uint64_t kPointsPerQuery = 10;
  if (tree.facts.split == SplitRule::widest || options.split == SplitRule::cycle) return true;
  return options.expected_queries > 0 && options.expected_queries <= tree.index.size() / kPointsPerQuery;
}

/// The tree was checked.
std::shared_ptr<IndexState> state_from_tree(const apps::InOrderTree& tree, const BuildOptions& options) {
  engine::require_shape(tree.facts.rows, tree.facts.dims);
  engine::require_build_options(options);
  const runtime::Watched watched(&options.progress, "building");
  const TreePoints points = engine::with_memory(tree.points.bytes(), "the index", [&] { return TreePoints(tree); });
  const bool is_plain = options.metric_params.empty() && core::has_plain_rows(options.metric);
  const bool takes_over = is_plain && order_pays(tree, options);
  // What is computed from all points depends on their order.
  const PointSet by_number = takes_over ? PointSet() : points.by_number(options.threads);
  const MemoryLimit held(0, by_number.bytes() + points.bytes());
  PointView view = takes_over ? points.view() : by_number.view();
  if (view.rows() == 0) view = PointView(nullptr, tree.facts.dtype, 0, tree.facts.dims, tree.facts.dims);
  core::visit_dtype(view.dtype(), [&](auto zero) {  // here, because now the caller's numbers are at hand
    using T = decltype(zero);
    const std::vector<T> lengths = core::period_lengths<T>(options.period, view.dims(), options.metric);
    const engine::CleanRows rows{false, {tree.index.begin(), tree.index.end()}};
    if (is_plain) engine::require_inside_period(points.view().row<T>(0), view.rows(), lengths, rows, options.threads);
  });
  const core::RowPreparation preparation = preparation_for(view, options);
  engine::EngineRequest wanted =
      engine_request_for(view.rows(), preparation.map().searched_dims(), view.device(), options);
  wanted.has_tree = takes_over;
  engine::Choice choice = engine::timed_choice(options.times, [&] { return choose(wanted, view.dtype(), options); });
  try {
    const auto state = engine::make_or_fall_back(options.device, choice, options.times, [&](const auto& chosen) {
      return build_state(chosen, view, preparation, options, takes_over ? &points : nullptr);
    });
    state->rows = tree.facts.rows;
    state->original = points.original();
    return state;
  } catch (const BadRow& bad) {  // of rows that are prepared; these lie in the order of their numbers
    if (points.original().empty()) throw;
    throw BadRow(bad.array(), points.original()[bad.row()], bad.column(), bad.problem());
  }
}

}  // namespace

Index Index::build(PointView points, const BuildOptions& options) {
  engine::require_points_view(points);
  engine::require_build_options(options);
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "building");
  const core::RowPreparation preparation = preparation_for(points, options);
  engine::Choice choice = engine::timed_choice(options.times, [&] {
    return choose(engine_request_for(points.rows(), preparation.map().searched_dims(), points.device(), options),
                  points.dtype(), options);
  });
  return engine::make_or_fall_back(options.device, choice, options.times, [&](const engine::Choice& chosen) {
    return Index(build_state(chosen, points, preparation, options, nullptr));
  });
}

Index Index::from_tree(const apps::InOrderTree& tree, const BuildOptions& options) {
  const engine::TotalTime total(options.times);
  const apps::TreeVerdict verdict = apps::verify_tree_alone(tree, {options.threads, options.device, options.progress});
  if (!verdict.first_violation.empty()) throw BadData("the tree is wrong: " + verdict.first_violation);
  return Index(state_from_tree(tree, options));
}

Index Index::from_tree(const apps::NodeTable& table, PointView points, const BuildOptions& options) {
  const engine::TotalTime total(options.times);
  const apps::InOrderTree tree = apps::in_order(table, points, {options.threads, options.device, options.progress});
  const MemoryLimit held(0, tree.points.bytes() + tree.index.size() * 2 * sizeof(std::uint32_t));
  return Index(state_from_tree(tree, options));
}

BuildPlan Index::plan(std::uint64_t rows, std::uint32_t dims, DType dtype, const BuildOptions& options) {
  engine::require_shape(rows, dims);
  engine::require_build_options(options);
  const bool is_sphere = options.metric.info().dims != 0;  // then rows become unit vectors
  const engine::EngineRequest wanted = engine_request_for(rows, is_sphere ? 3 : dims, Device::cpu(), options);
  engine::Choice choice = choose(wanted, dtype, options);
  engine::BuildBytes bytes =
      engine::backend_of(choice.device).build_bytes(plan_request(choice, wanted, dtype, options));
  // The prepared copy of the points is the host's.
  const bool is_plain = options.metric_params.empty() && core::has_plain_rows(options.metric);
  if (!is_plain && choice.device == Device::cpu()) {
    bytes.peak += rows * wanted.dims * size_of(dtype);
  }
  return {choice.engine, choice.device, bytes.index, bytes.peak, std::move(choice.reason)};
}

}  // namespace kith::inline v0
