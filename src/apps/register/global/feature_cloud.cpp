// See feature_cloud.hpp.
#include "apps/register/global/feature_cloud.hpp"

#include "apps/for_each_row.hpp"
#include "apps/normals/fit_planes.hpp"
#include "apps/register/global/point_features.hpp"

#include <kith/apps/downsample.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::apps::inline v0 {
namespace {

/// Points that are looked at to choose the side of voxels.
constexpr std::uint64_t kVoxelSample = 32768;
/// Voxels of the smaller cloud, and of the larger one, at most.
constexpr std::uint64_t kFewVoxels = 6144;
constexpr std::uint64_t kManyVoxels = 4 * kFewVoxels;
/// Sides are the diagonal divided by powers of this, a fourth root of 2.
constexpr double kSideStep = 1.189207115002721;
constexpr int kSideSteps = 112;
/// Finer sides are for diagonals that a few points far away have made large.
constexpr int kUsualSides = 49;
constexpr std::uint64_t kTooFewVoxels = 512;
/// Means of voxels that are described, at most.
constexpr std::uint64_t kMostMeans = std::uint64_t{1} << 18;

/// One row of each `step`, not always the same: scans repeat themselves, from beam to beam or line to line.
std::uint64_t sampled_row(std::uint64_t i, std::uint64_t step) {
  std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
  return i * step + (mixed ^ mixed >> 32) % step;
}

PointSet voxel_sample_of(const PointSet& points) {
  const std::uint64_t step = std::max<std::uint64_t>(1, points.rows() / kVoxelSample);
  PointSet sample(points.dtype(), points.rows() / step, points.dims());
  const auto take = [&](auto from, auto to) {
    for (std::uint64_t i = 0; i < sample.rows(); ++i) {
      std::copy_n(from.begin() + sampled_row(i, step) * points.dims(), points.dims(), to.begin() + i * points.dims());
    }
  };
  if (points.dtype() == DType::f32) {
    take(points.values<float>(), sample.values<float>());
  } else {
    take(points.values<double>(), sample.values<double>());
  }
  return sample;
}

PointSet voxel_means(const PointSet& points, double voxel, int threads) {
  DownsampleOptions options;
  options.voxel = voxel;
  options.want_rows = false;
  options.threads = threads;
  return downsample(points.view(), options).points;
}

/// The number of steps to the finest side that leaves at most so many voxels.
int finest_side(const PointSet& sample, std::span<const double> sides, std::uint64_t most, int threads) {
  int low = 0, high = static_cast<int>(sides.size());  // at low there are few enough, at high too many
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const bool fits = voxel_means(sample, sides[static_cast<std::size_t>(middle)], threads).rows() <= most;
    (fits ? low : high) = middle;
  }
  return low;
}

}  // namespace

double feature_voxel(const PointSet& source, const PointSet& target, double source_diagonal, double target_diagonal,
                     double wanted, int threads) {
  const double diagonal = std::max(source_diagonal, target_diagonal);
  if (!(source_diagonal > 0 && target_diagonal > 0 && diagonal > 1e-150 && diagonal < 1e150)) return 0;
  // A side that is far below the extent would have numbers of voxels that are not exact.
  if (wanted > 0) return wanted > 1e-9 * diagonal ? wanted : 0;
  std::vector<double> sides = {diagonal * 2};
  for (int i = 0; i < kSideSteps; ++i) sides.push_back(sides.back() / kSideStep);
  int few[2], many[2];
  const PointSet* clouds[2] = {&source, &target};
  for (int c = 0; c < 2; ++c) {
    const PointSet sample = voxel_sample_of(*clouds[c]);
    // Voxels that are mostly empty see no more of the surface, and what they see becomes too small for a descriptor.
    // Of a curve the voxels next to each other are few: it needs some points in each.
    const std::uint64_t most =
        std::max<std::uint64_t>(1, sample.dims() == 2 ? sample.rows() / 2 : sample.rows() * 3 / 4);
    many[c] = finest_side(sample, std::span(sides).first(kUsualSides), std::min(kManyVoxels, most), threads);
    if (many[c] + 1 == kUsualSides && voxel_means(sample, sides[kUsualSides - 1], threads).rows() < kTooFewVoxels) {
      many[c] = finest_side(sample, sides, std::min(kManyVoxels, most), threads);
    }
    few[c] = finest_side(sample, std::span(sides).first(static_cast<std::size_t>(many[c]) + 1),
                         std::min(kFewVoxels, most), threads);
  }
  int chosen = std::min({many[0], many[1], std::max(few[0], few[1])});
  // A sample has fewer voxels than all of its points.
  for (const PointSet* cloud : clouds) {
    while (chosen > 0 && cloud->rows() > 2 * kManyVoxels &&
           voxel_means(*cloud, sides[static_cast<std::size_t>(chosen)], threads).rows() > 2 * kManyVoxels) {
      --chosen;
    }
  }
  return sides[static_cast<std::size_t>(chosen)];
}

FeatureCloud feature_cloud(const PointSet& points, double voxel, int threads) {
  FeatureCloud cloud;
  cloud.dims = points.dims();
  const PointSet means = voxel_means(points, voxel, threads);
  const std::uint64_t rows = means.rows();
  if (rows > kMostMeans) {
    throw UsageError(
        fmt::format("a global start compares at most {} means of voxels, but {} voxels of the side {} hold "
                    "points; take a larger side",
                    kMostMeans, rows, voxel));
  }
  const std::uint32_t dims = means.dims();
  BuildOptions build;
  build.device = Device::cpu();
  build.threads = threads;
  const Index index = Index::build(means.view(), build);
  PointSet fitted(DType::f64, rows, dims);
  fit_planes<double>(index, means.values<double>(), {0, normal_radius(dims) * voxel, threads, nullptr},
                     fitted.values<double>(), {});
  cloud.places.assign(rows * 3, 0);
  cloud.normals.assign(rows * 3, 0);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      cloud.places[i * 3 + d] = means.values<double>()[i * dims + d];
      cloud.normals[i * 3 + d] = fitted.values<double>()[i * dims + d];
    }
  }
  SearchOptions search;
  search.threads = threads;
  describe_points(cloud, index.radius_self(feature_radius(dims) * voxel, search), threads);
  return cloud;
}

}  // namespace kith::apps::inline v0
