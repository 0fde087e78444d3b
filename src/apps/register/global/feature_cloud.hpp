// A cloud as the global start of a registration sees it: few points, their normals, and what each looks like.
#pragma once

#include <kith/point_set.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// Values of a descriptor: three histograms of 11 bins.
inline constexpr std::uint32_t kFeatureBins = 11;
inline constexpr std::uint32_t kFeatureValues = 3 * kFeatureBins;

/// Points are means of voxels, in f64, less the centre of the cloud; in a plane with a third coordinate of 0.
struct FeatureCloud {
  std::vector<double> places;           ///< n x 3
  std::vector<double> normals;          ///< n x 3, of length 1; 0 where there is none
  std::vector<std::uint32_t> featured;  ///< the points that have a descriptor, ascending
  std::vector<float> features;          ///< featured x 33
  std::uint32_t dims = 3;

  std::uint64_t points() const { return places.size() / 3; }
  const double* place(std::uint64_t point) const { return places.data() + point * 3; }
  const double* normal(std::uint64_t point) const { return normals.data() + point * 3; }
};

/// The side of voxels that leaves the smaller of two clouds with a few thousand points, or the one that is `wanted` if
/// that is above 0; 0 if either cloud has no extent, or none in f64. Both are f64 and centred.
double feature_voxel(const PointSet& source, const PointSet& target, double source_diagonal, double target_diagonal,
                     double wanted, int threads);

/// `points` are f64 and centred. What it holds depends on nothing but them and the side of voxels.
FeatureCloud feature_cloud(const PointSet& points, double voxel, int threads);

}  // namespace kith::apps::inline v0
