// Normals, samples, motions, distances and outliers of clouds in the memory of a GPU. Nothing here includes a CUDA
// header.
#pragma once

#include <kith/apps/cloud_distance.hpp>
#include <kith/apps/downsample.hpp>
#include <kith/apps/normals.hpp>
#include <kith/apps/outliers.hpp>
#include <kith/apps/transform.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace kith::apps::inline v0 {

/// Numbers of the type of the points; rows lie side by side.
using CloudValues = std::variant<float*, double*>;

/// All functions of this header do what those without `_on_device` do, on the GPU that holds the points, and leave the
/// same bytes in arrays that are there, too. The work begins when that in the stream is done, and is done when the call
/// returns. Where all arrays are in host memory instead, they are copied to and from the GPU that the options name.
///
/// Some jobs go through the host, as each function says, and so does everything if a point has NaN or infinity. All
/// throw as the functions without `_on_device`; UsageError if an array is not where the points are or of another type,
/// or if rows on the GPU overlap or lie backwards; DeviceError, OutOfMemory.

struct DeviceNormalsOptions : NormalsOptions {
  /// A cudaStream_t of the GPU that holds the points; null is CUDA's default stream.
  void* stream = nullptr;
};

/// `normals` gets rows x dims values, `curvature` one per row; it may be null. Returns how many normals are 0.
/// Neighbours within a radius and the direction `consistent` go through the host. Of GPU memory it takes an index, 16
/// bytes per point (32 if they are double), and 8 (12) per neighbour, for at most 256 million neighbours at a time.
KITH_EXPORT std::uint64_t normals_on_device(PointView points, CloudValues normals, CloudValues curvature = {},
                                            const DeviceNormalsOptions& options = {});

struct DeviceTransformOptions : TransformOptions {
  void* stream = nullptr;  ///< as above
};

/// `moved` gets rows x dims values. May be the points themselves if their rows lie side by side.
KITH_EXPORT void transform_on_device(PointView points, const Pose& pose, CloudValues moved,
                                     const DeviceTransformOptions& options = {});
KITH_EXPORT void turn_directions_on_device(PointView directions, const Pose& pose, CloudValues turned,
                                           const DeviceTransformOptions& options = {});

/// Of DownsampleOptions, `want_map` and `want_rows` do not count: what has an array is written.
struct DeviceDownsampleOptions : DownsampleOptions {
  void* stream = nullptr;  ///< as above
};

/// Where a sample goes. All but `points` may be null; each has an entry per point of the cloud, of which the first ones
/// are written, those of `map` all.
struct SampleArrays {
  CloudValues points;
  std::uint32_t* rows = nullptr;
  std::uint32_t* counts = nullptr;
  std::uint32_t* map = nullptr;
};

/// How many points are left, and how many were left out because of NaN or infinity.
struct SampledOnDevice {
  std::uint64_t points = 0;
  std::uint64_t skipped = 0;
};

/// Voxels of points in 2 or 3 dims that are fewer than 2^64 in all; others, and samples by distance or of farthest
/// points, go through the host. Of GPU memory it takes 24 bytes per point, 32 for more than 2^32 voxels.
KITH_EXPORT SampledOnDevice downsample_on_device(PointView points, const SampleArrays& sample,
                                                 const DeviceDownsampleOptions& options);

struct DeviceCloudDistanceOptions : CloudDistanceOptions {
  void* stream = nullptr;  ///< as above
};

/// One entry per point of a cloud; may be null.
struct NearestArrays {
  double* distances = nullptr;
  std::uint32_t* nearest = nullptr;
};

/// The figures; `distances` and `nearest` of the result are empty. `backward` counts if the options are symmetric. Of
/// GPU memory it takes an index and 8 bytes per point (12 if they are double), 16 (24) more for percentiles.
KITH_EXPORT CloudDistance cloud_distance_on_device(PointView first, PointView second, const NearestArrays& forward = {},
                                                   const NearestArrays& backward = {},
                                                   const DeviceCloudDistanceOptions& options = {});

struct DeviceOutlierOptions : OutlierOptions {
  void* stream = nullptr;  ///< as above
};

/// One entry per point; all but `flags` may be null. Of `kept` the first ones are written. `mean_distances` belong to
/// the statistical rule, `counts` to that of density.
struct OutlierArrays {
  std::uint8_t* flags = nullptr;
  std::uint32_t* kept = nullptr;
  double* mean_distances = nullptr;
  std::uint32_t* counts = nullptr;
};

/// As in Outliers.
struct OutliersOnDevice {
  std::uint64_t kept = 0;
  double mean = 0;
  double deviation = 0;
  double threshold = 0;
  std::uint64_t skipped = 0;
};

/// Of GPU memory it takes an index, 12 bytes per point and 8 (12) per neighbour, for at most 256 million neighbours at
/// a time.
KITH_EXPORT OutliersOnDevice outliers_on_device(PointView points, const OutlierArrays& found,
                                                const DeviceOutlierOptions& options);

}  // namespace kith::apps::inline v0
