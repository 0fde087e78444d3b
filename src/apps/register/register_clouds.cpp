// See registration.hpp: checks what was requested, prepares the clouds of each stage, refines the pose stage by stage.
#include <kith/apps/registration.hpp>

#include "apps/clean_cloud.hpp"
#include "apps/normals/fit_planes.hpp"
#include "apps/ordered_total.hpp"
#include "apps/register/refine.hpp"
#include "apps/register/stage.hpp"
#include "core/cloud/pose_motion.hpp"
#include "core/cloud/weak_directions.hpp"
#include "core/dispatch.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

/// Points of the target whose nearest neighbours show how dense it is.
constexpr std::uint64_t kSpacingSample = 4096;
/// Points of the source that are registered first: large motions need few points. What they leave open is refined with
/// all.
constexpr std::uint64_t kSample = 2048;
/// How much sooner that ends.
constexpr double kSampleTolerance = 1000;

/// What a cloud is like as a whole.
struct Extent {
  double centre[3] = {};  ///< of its box
  double mean[3] = {};    ///< less the centre
  double diagonal = 0;    ///< of its box
  double radius = 0;      ///< root of the mean squared distance from the centre
};

template <typename T>
Extent extent_of(const PointSet& points, int threads) {
  Extent extent;
  if (points.rows() == 0) return extent;
  const std::span<const T> rows = points.values<T>();
  const std::uint32_t dims = points.dims();
  double squares = 0;
  for (std::uint32_t d = 0; d < dims; ++d) {
    T least = rows[d], most = rows[d];
    for (std::uint64_t i = 0; i < points.rows(); ++i) {
      least = std::min(least, rows[i * dims + d]);
      most = std::max(most, rows[i * dims + d]);
    }
    const double side = static_cast<double>(most) - static_cast<double>(least);
    extent.centre[d] = static_cast<double>(least) + side / 2;
    squares += side * side;
  }
  extent.diagonal = std::sqrt(squares);
  const auto sums = ordered_total<4>(points.rows(), {.threads = threads}, [&](std::uint64_t i, core::Terms<4>& terms) {
    double x[3];
    load_row(rows, dims, i, extent.centre, x);
    terms = {x[0], x[1], x[2], x[0] * x[0] + x[1] * x[1] + x[2] * x[2]};
  });
  const auto count = static_cast<double>(points.rows());
  for (int d = 0; d < 3; ++d) extent.mean[d] = sums[static_cast<std::size_t>(d)] / count;
  extent.radius = std::sqrt(sums[3] / count);
  return extent;
}

/// The mean distance of some points of the target to their nearest neighbours.
template <typename T>
double spacing_of(const Stage<T>& stage, int threads) {
  const std::uint64_t rows = stage.target->rows();
  if (rows < 2) return 0;
  const std::uint64_t step = std::max<std::uint64_t>(1, rows / kSpacingSample);
  const std::uint64_t count = (rows + step - 1) / step;
  const PointView every(stage.target->view().data(), dtype_of<T>, count, stage.dims(),
                        static_cast<std::int64_t>(step * stage.dims()));
  const Neighbors near = stage.target_index->knn(every, 2, {.threads = threads});
  const auto sums = ordered_total<1>(count, {.threads = threads},
                                     [&](std::uint64_t i, core::Terms<1>& terms) { terms[0] = near.distance(i, 1); });
  return sums[0] / static_cast<double>(count);
}

void check_options(PointView source, PointView target, const RegistrationOptions& options) {
  if (source.dims() != target.dims()) {
    throw UsageError(
        fmt::format("the source has {} dims, the target {}; both need the same", source.dims(), target.dims()));
  }
  if (source.dtype() != target.dtype()) {
    throw UsageError(fmt::format("the source is of {}, the target of {}; convert one of them", name_of(source.dtype()),
                                 name_of(target.dtype())));
  }
  if (!(options.max_distance >= 0)) {
    throw UsageError(fmt::format("the largest distance of pairs must be at least 0, not {}", options.max_distance));
  }
  if (!(options.keep > 0 && options.keep <= 1)) {
    throw UsageError(fmt::format("the share of pairs to keep must be above 0 and at most 1, not {}", options.keep));
  }
  if (options.kernel != RobustKernel::none && !(options.kernel_scale > 0 && std::isfinite(options.kernel_scale))) {
    throw UsageError(
        fmt::format("the kernel {} needs a positive scale, in the units of the coordinates", name_of(options.kernel)));
  }
  for (const double voxel : options.voxels) {
    if (!(voxel >= 0 && std::isfinite(voxel))) {
      throw UsageError(fmt::format("the side of a voxel must be at least 0, not {}", voxel));
    }
  }
  const std::uint32_t freedom = options.degrees_of_freedom;
  if (freedom != 6 && freedom != 4 && freedom != 3) {
    throw UsageError(
        fmt::format("{} degrees of freedom; known are 6 (all), 4 (a turn about z, any shift) and 3 (in the "
                    "plane of x and y)",
                    freedom));
  }
  if (options.neighbors < target.dims()) {
    throw UsageError(fmt::format("{} neighbours, the point included, define no plane in {} dims; take at least {}",
                                 options.neighbors, target.dims(), target.dims()));
  }
  if (!(options.rotation_tolerance >= 0) || !(options.translation_tolerance >= 0)) {
    throw UsageError("the tolerances of rotation and translation must be at least 0");
  }
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
}

core::PairError error_of(RegistrationMethod method) {
  if (method == RegistrationMethod::point) return core::PairError::point;
  return method == RegistrationMethod::plane ? core::PairError::plane : core::PairError::gicp;
}

/// Unknowns: turns about x, y, z, shifts along them, scale.
std::uint32_t free_unknowns(std::uint32_t dims, const RegistrationOptions& options) {
  constexpr std::uint32_t kAll = 0b0111111, kLevel = 0b0111100, kPlanar = 0b0011100, kScale = 0b1000000;
  std::uint32_t mask = options.degrees_of_freedom == 6 ? kAll : options.degrees_of_freedom == 4 ? kLevel : kPlanar;
  if (dims == 2) mask = kPlanar;
  return options.scale ? mask | kScale : mask;
}

template <typename T>
class Registrar {
 public:
  Registrar(PointView source, PointView target, const RegistrationOptions& options) : options_(options) {
    CleanCloud from = clean_cloud(source, options.skip_nonfinite, options.threads, "register them");
    CleanCloud to = clean_cloud(target, options.skip_nonfinite, options.threads, "register them");
    result_.skipped_source = source.rows() - from.points.rows();
    result_.skipped_target = target.rows() - to.points.rows();
    source_ = std::move(from.points);
    target_ = std::move(to.points);
    source_extent_ = extent_of<T>(source_, options.threads);
    target_extent_ = extent_of<T>(target_, options.threads);
    std::copy_n(source_extent_.centre, 3, frame_.source);
    std::copy_n(target_extent_.centre, 3, frame_.target);
  }

  Registration run() {
    state_.motion = initial_motion();
    state_.max_distance = options_.max_distance > 0 ? options_.max_distance : target_extent_.diagonal / 10;
    const std::vector<double> voxels = options_.voxels.empty() ? std::vector<double>{0} : options_.voxels;
    state_.end = core::StageEnd::few_pairs;
    if (source_.rows() > 0 && target_.rows() > 0) {
      for (const double voxel : voxels) run_stages(voxel);
    }
    finish();
    return std::move(result_);
  }

 private:
  bool adapts_distance() const { return options_.max_distance == 0; }

  core::Motion initial_motion() const {
    if (options_.initial_pose) return core::motion_of(*options_.initial_pose, frame_);
    core::Motion motion = core::motion_of(Pose{}, frame_);
    if (options_.initial == InitialPose::centroid) {
      for (int d = 0; d < 3; ++d) motion.shift[d] = target_extent_.mean[d] - source_extent_.mean[d];
    }
    return motion;
  }

  Index index_of(const PointSet& points, std::uint64_t queries) const {
    BuildOptions build;
    build.device = options_.device;
    build.expected_queries = std::max<std::uint64_t>(queries, 1);
    build.threads = options_.threads;
    build.progress = options_.progress;
    return Index::build(points.view(), build);
  }

  PointSet normals_of(const Index& index, const PointSet& points) const {
    PointSet normals(dtype_of<T>, points.rows(), points.dims());
    fit_planes<T>(index, points.values<T>(), {options_.neighbors, {}, options_.threads, &options_.progress},
                  normals.values<T>(), {});
    return normals;
  }

  Stage<T> prepare(double voxel) const {
    Stage<T> stage;
    stage.source = at_resolution(source_, voxel);
    stage.target = std::make_shared<PointSet>(at_resolution(target_, voxel));
    const core::PairError error = error_of(options_.method);
    // Each of the iterations searches for some of the points again.
    stage.target_index = index_of(*stage.target, stage.source.rows() * 8 + stage.target->rows());
    if (error != core::PairError::point) {
      stage.target_normals = std::make_shared<PointSet>(normals_of(*stage.target_index, *stage.target));
    }
    if (error == core::PairError::gicp || options_.reciprocal) {
      const Index index = index_of(stage.source, stage.source.rows() * 2);
      if (error == core::PairError::gicp) stage.source_normals = normals_of(index, stage.source);
      if (options_.reciprocal) stage.source_index = index;
    }
    return stage;
  }

  PointSet at_resolution(const PointSet& points, double voxel) const {
    if (voxel == 0) return points.clone();
    throw UsageError("voxels are not there yet");
  }

  /// Every so many points of the source, against the whole target.
  static Stage<T> sample(const Stage<T>& stage, std::uint64_t step) {
    Stage<T> some;
    some.source = every(stage.source, step);
    some.source_normals = every(stage.source_normals, step);
    some.target = stage.target;
    some.target_normals = stage.target_normals;
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
    const double least_distance = adapts_distance() ? 4 * spacing_of(stage, options_.threads) : 0;
    // Reciprocal pairs need all points.
    const std::uint64_t step = options_.reciprocal ? 1 : stage.source.rows() / kSample;
    if (step > 2) run_stage(sample(stage, step), least_distance, kSampleTolerance);
    run_stage(stage, least_distance, 1);
  }

  void run_stage(const Stage<T>& stage, double least_distance, double slack) {
    core::StepRule rule;
    rule.pair = {error_of(options_.method), static_cast<core::PairWeight>(options_.kernel),
                 options_.kernel == RobustKernel::none ? 1 : options_.kernel_scale};
    rule.free_mask = free_unknowns(stage.dims(), options_);
    rule.points = stage.source.rows();
    rule.max_iterations = options_.max_iterations;
    rule.rotation_tolerance = slack * options_.rotation_tolerance;
    rule.translation_tolerance =
        slack * (options_.translation_tolerance > 0 ? options_.translation_tolerance : 1e-6 * target_extent_.diagonal);
    rule.adapts_distance = adapts_distance();
    rule.least_distance = least_distance;
    core::StageState start = state_;
    start.iteration = 0;
    start.end = rule.max_iterations == 0 ? core::StageEnd::iterations : core::StageEnd::none;
    const PairChoice choice{options_.keep, options_.reciprocal, options_.want_pairs};
    Refined refined =
        refine<T>(stage, frame_, rule, choice, options_.scale ? 7 : 6, start, options_.threads, options_.progress);
    state_ = refined.state;
    for (const core::StepRecord& record : refined.records) {
      result_.iterations.push_back(iteration_of(stages_, record, stage.source.rows()));
    }
    ++stages_;
    take_sums(refined.sums, stage.source.rows());
    result_.pairs = std::move(refined.pairs);
  }

  static RegistrationIteration iteration_of(std::uint32_t stage, const core::StepRecord& record, std::uint64_t points) {
    RegistrationIteration iteration;
    iteration.stage = stage;
    iteration.pairs = static_cast<std::uint64_t>(record.pairs);
    iteration.fitness = record.pairs / static_cast<double>(points);
    iteration.inlier_rmse = record.pairs > 0 ? std::sqrt(record.squared / record.pairs) : 0;
    iteration.error = record.pairs > 0 ? std::sqrt(record.error / record.pairs) : 0;
    iteration.turned = record.turned;
    iteration.shifted = record.shifted;
    iteration.max_distance = record.max_distance;
    return iteration;
  }

  void take_sums(const std::vector<double>& sums, std::uint64_t points) {
    const int unknowns = options_.scale ? 7 : 6;
    const std::size_t right = static_cast<std::size_t>(unknowns * (unknowns + 1) / 2);
    const std::size_t error = right + static_cast<std::size_t>(unknowns);
    const double squared = sums[error + 1];
    const double pairs = sums[error + 2];
    result_.inliers = static_cast<std::uint64_t>(pairs);
    result_.fitness = pairs / static_cast<double>(points);
    result_.inlier_rmse = pairs > 0 ? std::sqrt(squared / pairs) : 0;
    for (int i = 0; i < 6; ++i) {
      for (int j = i; j < 6; ++j) {
        const int place = options_.scale ? core::upper<7>(i, j) : core::upper<6>(i, j);
        const double value = sums[static_cast<std::size_t>(place)];
        result_.information[static_cast<std::size_t>(i * 6 + j)] = value;
        result_.information[static_cast<std::size_t>(j * 6 + i)] = value;
      }
    }
  }

  void finish() {
    result_.transformation = core::pose_of(state_.motion, frame_);
    result_.scale = state_.motion.scale;
    std::copy_n(frame_.target, 3, result_.centre.begin());
    switch (state_.end) {
      case core::StageEnd::converged:
        result_.end = RegistrationEnd::converged;
        break;
      case core::StageEnd::iterations:
        result_.end = RegistrationEnd::iterations;
        break;
      default:
        result_.end = RegistrationEnd::few_pairs;
    }
    result_.weak = core::weak_directions(result_.information, target_extent_.radius,
                                         free_unknowns(target_.dims(), options_) & 0x3f);
  }

  RegistrationOptions options_;
  PointSet source_;
  PointSet target_;
  Extent source_extent_;
  Extent target_extent_;
  core::Frame frame_;
  core::StageState state_;
  std::uint32_t stages_ = 0;  ///< that have run
  Registration result_;
};

}  // namespace

Registration register_clouds(PointView source, PointView target, const RegistrationOptions& options) {
  const auto is_gpu = [](Device device) { return device.kind() == Device::Kind::cuda; };
  if (is_gpu(source.device()) || is_gpu(target.device()) || is_gpu(options.device)) {
    return register_on_device(source, target, {options});
  }
  check_options(source, target, options);
  return core::visit_dtype(source.dtype(),
                           [&](auto type) { return Registrar<decltype(type)>(source, target, options).run(); });
}

}  // namespace kith::apps::inline v0
