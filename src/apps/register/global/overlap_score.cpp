// See overlap_score.hpp.
#include "apps/register/global/overlap_score.hpp"

#include "apps/for_each_row.hpp"
#include "apps/register/refine.hpp"
#include "core/cloud/vector3.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// Of the angle between normals of points that lie on each other.
constexpr double kLeastCosine = 0.8;
/// Normals within such an angle have the same direction, where weights are concerned.
constexpr double kSameDirection = 0.9;
/// Points whose normals say how common a direction is.
constexpr std::uint64_t kDirectionSample = 512;

PointSet rows_of_triples(const std::vector<double>& triples, std::uint32_t dims) {
  PointSet rows(DType::f64, triples.size() / 3, dims);
  for (std::uint64_t i = 0; i < rows.rows(); ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) rows.values<double>()[i * dims + d] = triples[i * 3 + d];
  }
  return rows;
}

/// Every direction counts alike, however large its surfaces are: else a floor, which lies on itself wherever it is
/// shifted, would outweigh all that stands on it.
std::vector<double> direction_weights(const FeatureCloud& cloud, int threads) {
  std::vector<double> weights(cloud.points());
  const std::uint64_t step = std::max<std::uint64_t>(1, cloud.points() / kDirectionSample);
  for_each_row(cloud.points(), {.threads = threads}, [&](std::uint64_t i) {
    const double* n = cloud.normal(i);
    if (core::dot3(n, n) == 0) return;
    std::uint64_t alike = 1;
    for (std::uint64_t j = 0; j < cloud.points(); j += step) {
      if (std::abs(core::dot3(n, cloud.normal(j))) > kSameDirection) ++alike;
    }
    weights[i] = 1 / static_cast<double>(alike);
  });
  return weights;
}

}  // namespace

OverlapScore::OverlapScore(const FeatureCloud& source, const FeatureCloud& target, double voxel, int threads)
    : source_(source), target_(target), voxel_(voxel), threads_(threads), weights_(direction_weights(source, threads)) {
  stage_.source = rows_of_triples(source.places, source.dims);
  stage_.target = std::make_shared<const PointSet>(rows_of_triples(target.places, target.dims));
  stage_.target_surface = std::make_shared<const Surface>(Surface{rows_of_triples(target.normals, target.dims), {}});
  BuildOptions build;
  build.device = Device::cpu();
  build.expected_queries = source.points() * 64;
  build.threads = threads;
  stage_.target_index = Index::build(stage_.target->view(), build);
}

double OverlapScore::of(const core::Motion& motion, double reach, std::uint64_t step) const {
  const std::uint32_t dims = source_.dims;
  const std::uint64_t count = (source_.points() + step - 1) / step;
  std::vector<double> moved(count * dims);
  for (std::uint64_t i = 0; i < count; ++i) {
    double y[3];
    core::move_point(motion, source_.place(i * step), y);
    for (std::uint32_t d = 0; d < dims; ++d) moved[i * dims + d] = y[d];
  }
  SearchOptions search;
  search.max_distance = reach;
  search.threads = threads_;
  const Neighbors nearest = stage_.target_index->knn(PointView(moved.data(), count, dims), 1, search);
  double sum = 0, total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    total += weights_[i * step];
    if (nearest.index(i, 0) == nearest.missing()) continue;
    double normal[3];
    core::rotate(motion.rotation, source_.normal(i * step), normal);
    if (std::abs(core::dot3(normal, target_.normal(nearest.index(i, 0)))) < kLeastCosine) continue;
    const double ratio = nearest.distance(i, 0) / reach;
    sum += weights_[i * step] * (1 - ratio * ratio);
  }
  return total > 0 ? sum / total : 0;
}

core::Motion OverlapScore::polished(const core::Motion& motion, std::uint32_t free_mask) const {
  core::StepRule rule;
  rule.pair = {core::PairError::plane, core::PairWeight::tukey, voxel_};
  rule.free_mask = free_mask;
  rule.points = source_.points();
  rule.max_iterations = 12;
  rule.rotation_tolerance = 1e-3;
  rule.translation_tolerance = 1e-2 * voxel_;
  core::StageState start;
  start.motion = motion;
  start.max_distance = 2 * voxel_;
  const PairChoice choice{.leads_on = true};  // the pose is all that is wanted
  return refine<double>(stage_, {}, rule, choice, 6, start, {}, threads_, {}).state.motion;
}

}  // namespace kith::apps::inline v0
