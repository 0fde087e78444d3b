// A cloud of registrations, made ready once for any number of them: points, index and normals per resolution.
#pragma once

#include "apps/clean_cloud.hpp"
#include "apps/normals/fit_planes.hpp"
#include "apps/ordered_total.hpp"
#include "apps/register/extent.hpp"
#include "apps/register/stage.hpp"

#include <kith/apps/downsample.hpp>
#include <kith/apps/registration.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {

/// The cloud as a stage sees it: its points, or the mean of those in each voxel.
inline PointSet at_resolution(const PointSet& points, double voxel, int threads) {
  if (voxel == 0 || points.rows() == 0) return points.clone();
  DownsampleOptions options;
  options.voxel = voxel;
  options.want_rows = false;
  options.threads = threads;
  return downsample(points.view(), options).points;
}

inline Index registration_index(const PointSet& points, std::uint64_t queries, const RegistrationOptions& options) {
  BuildOptions build;
  build.device = options.device;
  build.expected_queries = std::max<std::uint64_t>(queries, 1);
  build.threads = options.threads;
  build.progress = options.progress;
  return Index::build(points.view(), build);
}

template <typename T>
Surface registration_surface(const Index& index, const PointSet& points, const RegistrationOptions& options,
                             bool keeps_neighbors) {
  Surface surface{PointSet(dtype_of<T>, points.rows(), points.dims()), {}};
  fit_planes<T>(index, points.values<T>(), {options.neighbors, {}, options.threads, &options.progress},
                surface.normals.values<T>(), {}, keeps_neighbors ? &surface.neighbors : nullptr);
  return surface;
}

/// Thread-safe: what is not there yet is made under a lock. It depends on nothing but the points and what was wanted,
/// so that every order of calls gives the same.
template <typename T>
class PreparedCloud {
 public:
  /// `role`: "source" or "target", for messages. Searches of so many points are expected beside those of its own.
  /// Throws as `clean_cloud`.
  PreparedCloud(PointView given, const char* role, const RegistrationOptions& options, std::uint64_t queries)
      : is_target_(std::string_view(role) == "target"), queries_(queries) {
    CleanCloud cloud = clean_cloud(given, options.skip_nonfinite, options.threads, "register them", role);
    skipped_ = given.rows() - cloud.points.rows();
    rows_ = std::move(cloud.rows);
    points_ = std::make_shared<const PointSet>(std::move(cloud.points));
    extent_ = extent_of<T>(*points_, options.threads);
  }

  const PointSet& points() const { return *points_; }
  const core::CloudExtent& extent() const { return extent_; }
  std::uint64_t skipped() const { return skipped_; }
  /// What the numbers of the points were; empty if none was left out.
  const std::vector<std::uint32_t>& rows() const { return rows_; }

  /// As a stage sees it.
  std::shared_ptr<const PointSet> points_at(double voxel, const RegistrationOptions& options) const {
    const std::scoped_lock lock(making_);
    return resolution_at(voxel, options).points;
  }
  Index index_at(double voxel, const RegistrationOptions& options) const {
    const std::scoped_lock lock(making_);
    return *indexed_at(voxel, options).index;
  }
  std::shared_ptr<const Surface> surface_at(double voxel, const RegistrationOptions& options) const {
    const std::scoped_lock lock(making_);
    Resolution& resolution = indexed_at(voxel, options);
    std::shared_ptr<const Surface>& surface = resolution.surfaces[options.neighbors];
    if (!surface) {
      surface = std::make_shared<const Surface>(
          registration_surface<T>(*resolution.index, *resolution.points, options, is_target_));
    }
    return surface;
  }

  /// The mean distance of some points to their nearest neighbours.
  double spacing(double voxel, const RegistrationOptions& options) const {
    const std::scoped_lock lock(making_);
    Resolution& resolution = indexed_at(voxel, options);
    if (!resolution.spacing) resolution.spacing = spacing_of(resolution, options.threads);
    return *resolution.spacing;
  }

 private:
  struct Resolution {
    std::shared_ptr<const PointSet> points;
    std::optional<Index> index;
    std::map<std::uint32_t, std::shared_ptr<const Surface>> surfaces;  ///< by the number of neighbours
    std::optional<double> spacing;
  };

  Resolution& resolution_at(double voxel, const RegistrationOptions& options) const {
    Resolution& resolution = resolutions_[voxel];
    if (!resolution.points) {
      resolution.points =
          voxel == 0 ? points_ : std::make_shared<const PointSet>(at_resolution(*points_, voxel, options.threads));
    }
    return resolution;
  }
  Resolution& indexed_at(double voxel, const RegistrationOptions& options) const {
    Resolution& resolution = resolution_at(voxel, options);
    if (!resolution.index) {
      resolution.index = registration_index(*resolution.points, queries_ + resolution.points->rows(), options);
    }
    return resolution;
  }

  static double spacing_of(const Resolution& resolution, int threads) {
    const PointSet& points = *resolution.points;
    if (points.rows() < 2) return 0;
    const auto [step, count] = core::spacing_sample(points.rows());
    const PointView every(points.view().data(), dtype_of<T>, count, points.dims(),
                          static_cast<std::int64_t>(step * points.dims()));
    const Neighbors near = resolution.index->knn(every, 2, {.threads = threads});
    const auto sums = ordered_total<1>(count, {.threads = threads},
                                       [&](std::uint64_t i, core::Terms<1>& terms) { terms[0] = near.distance(i, 1); });
    return sums[0] / static_cast<double>(count);
  }

  std::shared_ptr<const PointSet> points_;
  std::vector<std::uint32_t> rows_;
  core::CloudExtent extent_;
  std::uint64_t skipped_ = 0;
  bool is_target_;
  std::uint64_t queries_;
  mutable std::mutex making_;
  mutable std::map<double, Resolution> resolutions_;
};

}  // namespace kith::apps::inline v0
