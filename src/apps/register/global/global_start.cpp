// See global_start.hpp: descriptors, matches, poses that many matches agree on, and of these the one by which the
// clouds overlap most. All on the CPU, in f64 and in a fixed order.
#include "apps/register/global/global_start.hpp"

#include "apps/clean_cloud.hpp"
#include "apps/for_each_row.hpp"
#include "apps/register/extent.hpp"
#include "apps/register/global/consistent_poses.hpp"
#include "apps/register/global/feature_cloud.hpp"
#include "apps/register/global/feature_matches.hpp"
#include "apps/register/global/overlap_score.hpp"
#include "core/cloud/pose_motion.hpp"
#include "core/cloud/vector3.hpp"
#include "core/dispatch.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// Matches that are compared with each other, which takes time by their square.
constexpr std::uint64_t kMostMatches = 2048;
/// Poses that are tried on the clouds, and the best of them that are polished first.
constexpr std::uint64_t kMostTried = 32;
constexpr std::uint64_t kMostPolished = 8;
/// Points of the source that decide which poses are polished.
constexpr std::uint64_t kScoredPoints = 1024;
/// Two poses that differ by fewer voxels, wherever a point of the source is, are one.
constexpr double kSamePose = 3;

template <typename T>
PointSet centred_rows(const PointSet& points, const double* centre, int threads) {
  PointSet result(DType::f64, points.rows(), points.dims());
  const std::span<const T> from = points.values<T>();
  const std::span<double> to = result.values<double>();
  const std::uint32_t dims = points.dims();
  for_each_row(points.rows(), {.threads = threads}, [&](std::uint64_t i) {
    for (std::uint32_t d = 0; d < dims; ++d) to[i * dims + d] = static_cast<double>(from[i * dims + d]) - centre[d];
  });
  return result;
}

/// The farthest that a corner of a cube of this half side is moved apart.
double poses_apart(const core::Motion& a, const core::Motion& b, double half) {
  double most = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const double x[3] = {(corner & 1) != 0 ? half : -half, (corner & 2) != 0 ? half : -half,
                         (corner & 4) != 0 ? half : -half};
    double y[3], z[3], step[3];
    core::move_point(a, x, y);
    core::move_point(b, x, z);
    core::step3(y, z, step);
    most = std::max(most, core::dot3(step, step));
  }
  return std::sqrt(most);
}

struct ScoredPose {
  PoseCandidate candidate;
  double score = 0;
};

/// The best first; of several that are nearly one, the best alone.
void keep_distinct(std::vector<ScoredPose>& poses, double same, double half) {
  std::stable_sort(poses.begin(), poses.end(),
                   [](const ScoredPose& a, const ScoredPose& b) { return a.score > b.score; });
  std::vector<ScoredPose> kept;
  for (const ScoredPose& pose : poses) {
    const bool is_new = std::none_of(kept.begin(), kept.end(), [&](const ScoredPose& other) {
      return poses_apart(pose.candidate.motion, other.candidate.motion, half) < same;
    });
    if (is_new) kept.push_back(pose);
  }
  poses = std::move(kept);
}

PoseFreedom freedom_of(const RegistrationOptions& options, std::uint32_t dims, double z) {
  PoseFreedom freedom;
  if (dims == 2 || options.degrees_of_freedom != 6) freedom.fit = core::FitFreedom::level;
  freedom.keeps_z = dims == 2 || options.degrees_of_freedom == 3;
  freedom.z = z;
  return freedom;
}

}  // namespace

template <typename T>
GlobalStart find_start(const PointSet& source, const core::CloudExtent& source_extent, const PointSet& target,
                       const core::CloudExtent& target_extent, const RegistrationOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const int threads = options.threads;
  runtime::ProgressMeter meter(&options.progress, "looking for a start", 4);
  GlobalStart start;
  const auto finished = [&] {
    start.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    meter.finish();
    return start;
  };
  if (source.rows() == 0 || target.rows() == 0) return finished();
  const PointSet from = centred_rows<T>(source, source_extent.centre, threads);
  const PointSet to = centred_rows<T>(target, target_extent.centre, threads);
  start.voxel = feature_voxel(from, to, source_extent.diagonal, target_extent.diagonal, options.global_voxel, threads);
  if (start.voxel == 0) return finished();
  const FeatureCloud here = feature_cloud(from, start.voxel, threads);
  meter.report(1);
  runtime::look_for_stop();
  const FeatureCloud there = feature_cloud(to, start.voxel, threads);
  start.source_points = here.points();
  start.target_points = there.points();
  meter.report(2);
  runtime::look_for_stop();
  const std::vector<FeatureMatch> matches = feature_matches(here, there, kMostMatches, threads);
  start.matches = matches.size();
  meter.report(3);
  runtime::look_for_stop();

  core::Frame frame;
  std::copy_n(source_extent.centre, 3, frame.source);
  std::copy_n(target_extent.centre, 3, frame.target);
  const PoseFreedom freedom = freedom_of(options, source.dims(), frame.source[2] - frame.target[2]);
  std::vector<ScoredPose> poses;
  for (const PoseCandidate& candidate :
       consistent_poses(here, there, matches, start.voxel, freedom, kMostTried, threads)) {
    poses.push_back({candidate});
  }
  if (poses.empty()) return finished();
  runtime::look_for_stop();
  const OverlapScore overlap(here, there, start.voxel, threads);
  const double half = source_extent.diagonal / 4, same = kSamePose * start.voxel;
  const std::uint64_t step = std::max<std::uint64_t>(1, here.points() / kScoredPoints);
  for (ScoredPose& pose : poses) pose.score = overlap.of(pose.candidate.motion, 2 * start.voxel, step);
  keep_distinct(poses, same, half);
  if (poses.size() > kMostPolished) poses.resize(kMostPolished);
  for (ScoredPose& pose : poses) {
    runtime::look_for_stop();
    pose.candidate.motion = overlap.polished(pose.candidate.motion, core::free_unknowns(options, source.dims()));
    pose.score = overlap.of(pose.candidate.motion, start.voxel, 1);
  }
  keep_distinct(poses, same, half);
  const Pose pose = core::pose_of(poses.front().candidate.motion, frame, source.dims());
  const bool is_finite = std::all_of(pose.matrix.begin(), pose.matrix.end(), [](double x) { return std::isfinite(x); });
  if (!(poses.front().score > 0) || !is_finite) return finished();
  start.consistent = count_consistent(here, there, matches, poses.front().candidate.motion, start.voxel);
  start.found = true;
  start.pose = pose;
  start.overlap = poses.front().score;
  start.runner_up = poses.size() > 1 ? poses[1].score : 0;
  return finished();
}

template GlobalStart find_start<float>(const PointSet&, const core::CloudExtent&, const PointSet&,
                                       const core::CloudExtent&, const RegistrationOptions&);
template GlobalStart find_start<double>(const PointSet&, const core::CloudExtent&, const PointSet&,
                                        const core::CloudExtent&, const RegistrationOptions&);

GlobalStart global_start(PointView source, PointView target, const RegistrationOptions& options) {
  core::check_clouds(source, target.dims(), target.dtype());
  core::check_registration(target.dims(), options);
  core::check_global_start(options);
  const runtime::Watched watched(&options.progress, "looking for a start");
  const CleanCloud from = clean_cloud(source, options.skip_nonfinite, options.threads, "register them", "source");
  const CleanCloud to = clean_cloud(target, options.skip_nonfinite, options.threads, "register them", "target");
  return core::visit_dtype(target.dtype(), [&](auto type) {
    using T = decltype(type);
    return find_start<T>(from.points, extent_of<T>(from.points, options.threads), to.points,
                         extent_of<T>(to.points, options.threads), options);
  });
}

}  // namespace kith::apps::inline v0
