// See registration_plan.hpp.
#include "core/cloud/registration_plan.hpp"

#include "core/cloud/pose_motion.hpp"
#include "core/cloud/weak_directions.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::core {
namespace {

constexpr std::uint64_t kSpacingSample = 4096;
/// Points of the source in the first stage.
constexpr std::uint64_t kFirstPoints = 2048;
/// How far pairs reach after a global start, in sides of its voxels.
constexpr double kStartVoxels = 3;

}  // namespace

CloudExtent extent_of_box(const double* lower, const double* upper, std::uint32_t dims) {
  CloudExtent extent;
  double squares = 0;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const double side = upper[d] - lower[d];
    extent.centre[d] = middle_of(lower[d], upper[d]);
    squares += side * side;
  }
  extent.diagonal = std::sqrt(squares);
  return extent;
}

void add_sums(CloudExtent& extent, const double* sums, std::uint64_t points) {
  const auto count = static_cast<double>(points);
  for (int d = 0; d < 3; ++d) {
    const double mean = sums[d] / count;
    extent.mean[d] = std::isfinite(mean) ? mean : 0;
  }
  extent.radius = std::sqrt(sums[3] / count);
}

SpacingSample spacing_sample(std::uint64_t points) {
  SpacingSample sample;
  sample.step = std::max<std::uint64_t>(1, points / kSpacingSample);
  sample.count = (points + sample.step - 1) / sample.step;
  return sample;
}

std::uint64_t first_step(std::uint64_t source_points, const apps::RegistrationOptions& options) {
  if (options.reciprocal) return 1;  // such pairs need all points
  const std::uint64_t step = source_points / kFirstPoints;
  return step > 2 ? step : 1;
}

void check_clouds(PointView source, std::uint32_t target_dims, DType target_dtype) {
  if (source.dims() != target_dims) {
    throw UsageError(
        fmt::format("the source has {} dims, the target {}; both need the same", source.dims(), target_dims));
  }
  if (source.dtype() != target_dtype) {
    throw UsageError(fmt::format("the source is of {}, the target of {}; convert one of them", name_of(source.dtype()),
                                 name_of(target_dtype)));
  }
}

void check_registration(std::uint32_t dims, const apps::RegistrationOptions& options) {
  if (dims != 2 && dims != 3) throw UsageError(fmt::format("{} dims, but 2 or 3 are needed to register clouds", dims));
  if (!(options.max_distance >= 0)) {
    throw UsageError(fmt::format("the largest distance of pairs must be at least 0, not {}", options.max_distance));
  }
  if (!(options.first_distance >= 0) || !(options.global_voxel >= 0 && std::isfinite(options.global_voxel))) {
    throw UsageError(fmt::format(
        "the first distance of pairs ({}) and the side of the global start's voxels ({}) must be at least 0, the "
        "side also finite",
        options.first_distance, options.global_voxel));
  }
  if (wants_global_start(options)) check_global_start(options);
  if (!(options.keep > 0 && options.keep <= 1)) {
    throw UsageError(fmt::format("the share of pairs to keep must be above 0 and at most 1, not {}", options.keep));
  }
  if (options.kernel != apps::RobustKernel::none &&
      !(options.kernel_scale * options.kernel_scale > 0 && std::isfinite(options.kernel_scale))) {
    throw UsageError(
        fmt::format("the kernel {} needs a positive scale, in the units of the coordinates", name_of(options.kernel)));
  }
  for (const double voxel : options.voxels) {
    if (!(voxel >= 0 && std::isfinite(voxel))) {
      throw UsageError(fmt::format("the side of a voxel must be finite and at least 0, not {}", voxel));
    }
  }
  const std::uint32_t freedom = options.degrees_of_freedom;
  if (freedom != 6 && freedom != 4 && freedom != 3) {
    throw UsageError(
        fmt::format("{} degrees of freedom; known are 6 (all), 4 (a turn about z, any shift) and 3 (in the "
                    "plane of x and y)",
                    freedom));
  }
  if (options.neighbors < dims) {
    throw UsageError(fmt::format("{} neighbours, the point included, define no plane in {} dims; take at least {}",
                                 options.neighbors, dims, dims));
  }
  if (!(options.rotation_tolerance >= 0) || !(options.translation_tolerance >= 0)) {
    throw UsageError("the tolerances of rotation and translation must be at least 0");
  }
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
}

void check_global_start(const apps::RegistrationOptions& options) {
  if (options.scale) throw UsageError("a global start finds no scale: leave it out, or give the initial pose");
}

void begin_at(const apps::GlobalStart& start, apps::RegistrationOptions& options) {
  options.initial = apps::InitialPose::centroid;
  if (!start.found) return;
  options.initial_pose = start.pose;
  // So near to the pose that farther pairs would mostly be of points outside of the overlap.
  if (options.first_distance == 0) options.first_distance = kStartVoxels * start.voxel;
}

PairError error_of(apps::RegistrationMethod method) {
  if (method == apps::RegistrationMethod::point) return PairError::point;
  return method == apps::RegistrationMethod::plane ? PairError::plane : PairError::gicp;
}

RegistrationPlan::RegistrationPlan(const apps::RegistrationOptions& options, std::uint32_t dims,
                                   const CloudExtent& source, const CloudExtent& target)
    : options_(options), dims_(dims), target_(target) {
  std::copy_n(source.centre, 3, frame_.source);
  std::copy_n(target.centre, 3, frame_.target);
  state_.motion = motion_of(options.initial_pose.value_or(apps::Pose{}), frame_, dims);
  if (!options.initial_pose && options.initial == apps::InitialPose::centroid) {
    for (int d = 0; d < 3; ++d) state_.motion.shift[d] = target.mean[d] - source.mean[d];
  }
  state_.max_distance = options.max_distance > 0     ? options.max_distance
                        : options.first_distance > 0 ? options.first_distance
                                                     : target.diagonal / 10;
  state_.end = StageEnd::few_pairs;  // until a stage has run
}

std::uint32_t free_unknowns(const apps::RegistrationOptions& options, std::uint32_t dims) {
  constexpr std::uint32_t kAll = 0b0111111, kLevel = 0b0111100, kPlanar = 0b0011100, kScale = 0b1000000;
  std::uint32_t mask = options.degrees_of_freedom == 6 ? kAll : options.degrees_of_freedom == 4 ? kLevel : kPlanar;
  if (dims == 2) mask = kPlanar;
  return options.scale ? mask | kScale : mask;
}

StepRule RegistrationPlan::rule(std::uint64_t points, double spacing, double slack) const {
  const double translation =
      options_.translation_tolerance > 0 ? options_.translation_tolerance : 1e-6 * target_.diagonal;
  StepRule rule;
  rule.pair = {error_of(options_.method), static_cast<PairWeight>(options_.kernel),
               options_.kernel == apps::RobustKernel::none ? 1 : options_.kernel_scale};
  rule.free_mask = free_unknowns(options_, dims_);
  rule.points = points;
  rule.max_iterations = options_.max_iterations;
  rule.rotation_tolerance = slack * options_.rotation_tolerance;
  rule.translation_tolerance = slack * translation;
  rule.adapts_distance = adapts_distance();
  rule.least_distance = rule.adapts_distance ? 4 * spacing : 0;
  return rule;
}

StageState RegistrationPlan::start(const StepRule& rule) const {
  StageState start = state_;
  start.iteration = 0;
  start.end = rule.max_iterations == 0 ? StageEnd::iterations : StageEnd::none;
  return start;
}

void RegistrationPlan::take(const StageState& state, std::span<const StepRecord> records, std::span<const double> sums,
                            std::span<const double> surfaces, std::uint64_t points) {
  state_ = state;
  has_moved_ = has_moved_ || state.iteration > 0;
  for (const StepRecord& record : records) {
    apps::RegistrationIteration iteration;
    iteration.stage = stages_;
    iteration.pairs = static_cast<std::uint64_t>(record.pairs);
    iteration.fitness = record.pairs / static_cast<double>(points);
    iteration.inlier_rmse = record.pairs > 0 ? std::sqrt(record.squared / record.pairs) : 0;
    iteration.error = record.pairs > 0 ? std::sqrt(record.error / record.pairs) : 0;
    iteration.turned = record.turned;
    iteration.shifted = record.shifted;
    iteration.max_distance = record.max_distance;
    result_.iterations.push_back(iteration);
  }
  ++stages_;
  if (sums.empty()) return;
  const auto count = static_cast<std::size_t>(unknowns());
  const std::size_t error = count * (count + 1) / 2 + count;
  const double squared = sums[error + 1];
  const double pairs = sums[error + 2];
  result_.inliers = static_cast<std::uint64_t>(pairs);
  result_.fitness = pairs / static_cast<double>(points);
  result_.inlier_rmse = pairs > 0 ? std::sqrt(squared / pairs) : 0;
  result_.information = information_of(sums);
  surfaces_ = surfaces.empty() ? result_.information : information_of(surfaces);
}

/// 6 x 6, of the upper triangle of 6 or 7 unknowns. Sums that overflowed give none.
std::array<double, 36> RegistrationPlan::information_of(std::span<const double> sums) const {
  std::array<double, 36> information = {};
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      const double value = sums[static_cast<std::size_t>(options_.scale ? upper<7>(i, j) : upper<6>(i, j))];
      if (!std::isfinite(value)) return {};
      information[static_cast<std::size_t>(i * 6 + j)] = value;
      information[static_cast<std::size_t>(j * 6 + i)] = value;
    }
  }
  return information;
}

apps::Registration RegistrationPlan::finish() && {
  // Where no step was made, the pose is the initial one without its way through the frame, which rounds.
  const bool is_given = options_.initial_pose.has_value() || options_.initial == apps::InitialPose::identity;
  result_.transformation =
      is_given && !has_moved_ ? options_.initial_pose.value_or(apps::Pose{}) : pose_of(state_.motion, frame_, dims_);
  result_.scale = state_.motion.scale;
  std::copy_n(frame_.target, 3, result_.centre.begin());
  switch (state_.end) {
    case StageEnd::converged:
      result_.end = apps::RegistrationEnd::converged;
      break;
    case StageEnd::iterations:
      result_.end = apps::RegistrationEnd::iterations;
      break;
    case StageEnd::undetermined:
      result_.end = apps::RegistrationEnd::undetermined;
      break;
    default:
      result_.end = apps::RegistrationEnd::few_pairs;
  }
  const std::array<double, 16>& pose = result_.transformation.matrix;
  if (!std::all_of(pose.begin(), pose.end(), [](double x) { return std::isfinite(x); })) {
    result_.transformation = options_.initial_pose.value_or(apps::Pose{});
    result_.end = apps::RegistrationEnd::undetermined;
  }
  result_.weak = weak_directions(surfaces_, target_.radius, free_unknowns(options_, dims_) & 0x3f);
  return std::move(result_);
}

}  // namespace kith::core
