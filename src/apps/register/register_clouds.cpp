// See registration.hpp: checks what was requested, prepares the clouds of each stage, refines the pose stage by stage.
#include <kith/apps/registration.hpp>

#include "apps/clean_cloud.hpp"
#include "apps/register/extent.hpp"
#include "apps/register/global/global_start.hpp"
#include "apps/register/prepared_cloud.hpp"
#include "apps/register/refine.hpp"
#include "apps/register/stage.hpp"
#include "core/cloud/registration_plan.hpp"
#include "core/dispatch.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

template <typename T>
class Registrar {
 public:
  Registrar(const PreparedCloud<T>& target, const PreparedCloud<T>& source, const RegistrationOptions& options)
      : options_(options),
        target_(target),
        source_(source),
        global_(start_of(options_)),
        plan_(options_, target.points().dims(), source.extent(), target.extent()) {}

  Registration run() {
    const std::vector<double> voxels = options_.voxels.empty() ? std::vector<double>{0} : options_.voxels;
    if (source_.points().rows() > 0 && target_.points().rows() > 0) {
      for (const double voxel : voxels) run_stages(voxel);
      if (voxels.back() == 0) number_as_given();
    }
    Registration result = std::move(plan_).finish();
    result.skipped_source = source_.skipped();
    result.skipped_target = target_.skipped();
    result.pairs = std::move(pairs_);
    result.global = global_;
    return result;
  }

 private:
  /// Looks for the start if it is to be found, and lets the options begin there.
  std::optional<GlobalStart> start_of(RegistrationOptions& options) const {
    if (!core::wants_global_start(options)) return {};
    const GlobalStart start =
        find_start<T>(source_.points(), source_.extent(), target_.points(), target_.extent(), options);
    core::begin_at(start, options);
    return start;
  }

  Stage<T> prepare(double voxel) const {
    Stage<T> stage;
    stage.source = source_.points_at(voxel, options_)->clone();
    stage.target = target_.points_at(voxel, options_);
    stage.target_index = target_.index_at(voxel, options_);
    const core::PairError error = core::error_of(options_.method);
    if (error != core::PairError::point) stage.target_surface = target_.surface_at(voxel, options_);
    if (error == core::PairError::gicp) stage.source_normals = source_.surface_at(voxel, options_)->normals.clone();
    if (options_.reciprocal) stage.source_index = source_.index_at(voxel, options_);
    return stage;
  }

  /// Every so many points of the source, against the whole target.
  static Stage<T> sample(const Stage<T>& stage, std::uint64_t step) {
    Stage<T> some;
    some.source = every(stage.source, step);
    some.source_normals = every(stage.source_normals, step);
    some.target = stage.target;
    some.target_surface = stage.target_surface;
    some.target_index = stage.target_index;
    some.source_index = stage.source_index;
    return some;
  }

  static PointSet every(const PointSet& points, std::uint64_t step) {
    const std::uint64_t count = (points.rows() + step - 1) / step;
    return PointSet::copy_of(PointView(points.view().data(), points.dtype(), count, points.dims(),
                                       static_cast<std::int64_t>(step * points.dims())));
  }

  void run_stages(double voxel) {
    const Stage<T> stage = prepare(voxel);
    const double spacing = plan_.adapts_distance() ? target_.spacing(voxel, options_) : 0;
    const std::uint64_t step = core::first_step(stage.source.rows(), options_);
    MatchHints hints{{}, step};
    if (step > 1) hints.matches = run_stage(sample(stage, step), spacing, core::kFirstSlack, true, {});
    run_stage(stage, spacing, 1, false, hints);
  }

  /// Returns the matches of the points if it leads on: they hint at those of the points in between.
  std::vector<std::uint32_t> run_stage(const Stage<T>& stage, double spacing, double slack, bool leads_on,
                                       const MatchHints& hints) {
    const core::StepRule rule = plan_.rule(stage.source.rows(), spacing, slack);
    const PairChoice choice{options_.keep, options_.reciprocal, options_.want_pairs, leads_on};
    Refined refined = refine<T>(stage, plan_.frame(), rule, choice, plan_.unknowns(), plan_.start(rule), hints,
                                options_.threads, options_.progress);
    plan_.take(refined.state, refined.records, refined.sums, refined.surfaces, stage.source.rows());
    pairs_ = std::move(refined.pairs);
    return std::move(refined.matches);
  }

  /// Numbers of the clouds as they were given, which may hold points that were left out.
  void number_as_given() {
    for (RegisteredPair& pair : pairs_) {
      if (!source_.rows().empty()) pair.source = source_.rows()[pair.source];
      if (!target_.rows().empty()) pair.target = target_.rows()[pair.target];
    }
  }

  RegistrationOptions options_;
  const PreparedCloud<T>& target_;
  const PreparedCloud<T>& source_;
  std::optional<GlobalStart> global_;  ///< if the start was
  core::RegistrationPlan plan_;
  std::vector<RegisteredPair> pairs_;
};

/// Where the clouds are; else what was requested, and, if that is left to us, where an index of the target would be.
Device device_for(PointView source, PointView target, const RegistrationOptions& options) {
  for (const Device device : {source.device(), target.device()}) {
    if (device.kind() == Device::Kind::cuda) return device;
  }
  if (options.device.kind() != Device::Kind::automatic || source.dtype() != target.dtype() || target.empty()) {
    return options.device;
  }
  BuildOptions build;
  build.expected_queries = source.rows() * 8 + 1;
  return Index::plan(target.rows(), target.dims(), target.dtype(), build).device;
}

}  // namespace

/// A prepared target of either type.
struct RegistrationTarget::Prepared {
  Prepared(DType of, std::uint32_t dims_of, std::uint64_t rows_of) : dtype(of), dims(dims_of), rows(rows_of) {}
  virtual ~Prepared() = default;
  virtual Registration align(PointView source, const RegistrationOptions& options) const = 0;
  /// `source` is of the same type.
  virtual Registration align(const Prepared& source, const RegistrationOptions& options) const = 0;

  DType dtype;
  std::uint32_t dims;
  std::uint64_t rows;
};

template <typename T>
struct RegistrationTarget::PreparedAs final : Prepared {
  PreparedAs(PointView target, const RegistrationOptions& options, std::uint64_t queries)
      : Prepared(target.dtype(), target.dims(), target.rows()), cloud(target, "target", options, queries) {}
  Registration align(PointView source, const RegistrationOptions& options) const override {
    const PreparedCloud<T> prepared(source, "source", options, source.rows());
    return Registrar<T>(cloud, prepared, options).run();
  }
  Registration align(const Prepared& source, const RegistrationOptions& options) const override {
    return Registrar<T>(cloud, static_cast<const PreparedAs&>(source).cloud, options).run();
  }

  PreparedCloud<T> cloud;
};

RegistrationTarget::RegistrationTarget(PointView target, const RegistrationOptions& options)
    // Scans that are registered with one model have about as many points, and are more than a few.
    : RegistrationTarget(target, options, target.rows() * 64) {
  if (target.empty()) return;
  const bool wants_normals = core::error_of(options.method) != core::PairError::point;
  const std::vector<double> voxels = options.voxels.empty() ? std::vector<double>{0} : options.voxels;
  core::visit_dtype(target.dtype(), [&](auto type) {
    using T = decltype(type);
    const PreparedCloud<T>& cloud = static_cast<const PreparedAs<T>&>(*prepared_).cloud;
    for (const double voxel : voxels) {
      cloud.index_at(voxel, options);
      if (wants_normals) cloud.surface_at(voxel, options);
    }
  });
}

RegistrationTarget::RegistrationTarget(PointView target, const RegistrationOptions& options, std::uint64_t queries) {
  core::check_registration(target.dims(), options);
  const runtime::Watched watched(&options.progress, "preparing the target");
  core::visit_dtype(target.dtype(), [&](auto type) {
    prepared_ = std::make_shared<const PreparedAs<decltype(type)>>(target, options, queries);
  });
}

std::uint64_t RegistrationTarget::rows() const { return prepared_->rows; }
std::uint32_t RegistrationTarget::dims() const { return prepared_->dims; }
DType RegistrationTarget::dtype() const { return prepared_->dtype; }

Registration RegistrationTarget::align(PointView source, const RegistrationOptions& options) const {
  core::check_clouds(source, dims(), dtype());
  core::check_registration(dims(), options);
  const runtime::Watched watched(&options.progress, "registering");
  return prepared_->align(source, options);
}

Registration RegistrationTarget::align(const RegistrationTarget& source, const RegistrationOptions& options) const {
  if (source.dims() != dims() || source.dtype() != dtype()) {
    throw UsageError(fmt::format("a source of {} dims and {}, but a target of {} dims and {}; they must agree",
                                 source.dims(), name_of(source.dtype()), dims(), name_of(dtype())));
  }
  core::check_registration(dims(), options);
  const runtime::Watched watched(&options.progress, "registering");
  return prepared_->align(*source.prepared_, options);
}

Registration register_clouds(PointView source, PointView target, const RegistrationOptions& options) {
  const Device device = device_for(source, target, options);
  if (device.kind() == Device::Kind::cuda) {
    DeviceRegistrationOptions there{options};
    there.device = device;
    const bool may_be_cpu = options.device.kind() == Device::Kind::automatic &&
                            source.device().kind() != Device::Kind::cuda &&
                            target.device().kind() != Device::Kind::cuda;
    try {
      return register_on_device(source, target, there);
    } catch (const OutOfMemory&) {
      if (!may_be_cpu) throw;
    }
  }
  const runtime::Watched watched(&options.progress, "registering");
  core::check_clouds(source, target.dims(), target.dtype());
  // Each of the iterations searches for some of the points again.
  return RegistrationTarget(target, options, source.rows() * 8).align(source, options);
}

}  // namespace kith::apps::inline v0
