// Registration of two point clouds: the pose that moves one onto the other.
#pragma once

#include <kith/apps/pose.hpp>
#include <kith/device.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// What is minimised. `point`: squared distances of pairs. `plane`: squared distances along the normal of the target.
/// `gicp`: distances weighed by the surfaces of both clouds (generalized ICP). `automatic` is gicp.
enum class RegistrationMethod : std::uint8_t { automatic, point, plane, gicp };

/// "auto", "point", "plane" or "gicp".
KITH_EXPORT std::string_view name_of(RegistrationMethod method);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT RegistrationMethod parse_registration_method(std::string_view text);

/// How much a pair counts whose error is r, at the scale c of the kernel. `none`: 1. `huber`: 1 up to c, then c / r.
/// `cauchy`: 1 / (1 + (r/c)^2). `tukey`: (1 - (r/c)^2)^2 up to c, then 0. `geman_mcclure`: 1 / (1 + (r/c)^2)^2.
enum class RobustKernel : std::uint8_t { none, huber, cauchy, tukey, geman_mcclure };

/// "none", "huber", "cauchy", "tukey" or "geman-mcclure".
KITH_EXPORT std::string_view name_of(RobustKernel kernel);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT RobustKernel parse_robust_kernel(std::string_view text);

/// Where a registration begins when no pose is given. `identity`: the clouds as they lie. `centroid`: their means are
/// put together. `global`: what `global_start` finds, whatever the pose is; `centroid` if it finds nothing.
enum class InitialPose : std::uint8_t { identity, centroid, global };

/// "identity", "centroid" or "global".
KITH_EXPORT std::string_view name_of(InitialPose initial);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT InitialPose parse_initial_pose(std::string_view text);

struct RegistrationOptions {
  RegistrationMethod method = RegistrationMethod::automatic;
  InitialPose initial = InitialPose::identity;
  /// If set, where to begin, instead of `initial`.
  std::optional<Pose> initial_pose = {};
  /// Points farther than this from their nearest point of the target are no pairs. 0: begins with a tenth of the
  /// diagonal of the target's box, then three times the root mean square of the last pairs' distances, but not below
  /// four times the mean distance between neighbours of the target.
  double max_distance = 0;
  /// Where the distance adapts, what it begins with instead of a tenth of the diagonal; 0: that or, after a global
  /// start, three sides of its voxels.
  double first_distance = 0;
  /// The side of the voxels whose means a global start compares; 0: such that the smaller cloud has about 6 000.
  double global_voxel = 0;
  /// Of all pairs only this share, the nearest ones, counts.
  double keep = 1;
  /// Only pairs count whose point of the source is the nearest one of its match, too.
  bool reciprocal = false;
  RobustKernel kernel = RobustKernel::none;
  /// The scale of the kernel, in the units of the coordinates: errors are distances along normals for `plane` and,
  /// nearly, `gicp`, else plain distances. Must be positive with a kernel.
  double kernel_scale = 0;
  /// Coarse to fine: one stage per entry, which takes the mean of the points in each voxel of that side; 0 takes the
  /// points themselves. Empty: one stage with the points themselves.
  std::vector<double> voxels = {};
  /// What may move: 6 all, 4 a turn about z and any shift, 3 a turn about z and a shift in x and y. Clouds in 2 dims
  /// have 3.
  std::uint32_t degrees_of_freedom = 6;
  /// Whether the scale is looked for, too.
  bool scale = false;
  /// Planes for `plane` and `gicp` are fitted to so many nearest points.
  std::uint32_t neighbors = 16;
  /// Of each stage.
  std::uint32_t max_iterations = 64;
  /// Converged is a step that turns by less than `rotation_tolerance` radians and shifts by less than
  /// `translation_tolerance`; 0: 1e-6 of the diagonal of the target's box.
  double rotation_tolerance = 1e-6;
  double translation_tolerance = 0;
  /// Leave out points with NaN or infinity instead of throwing.
  bool skip_nonfinite = false;
  /// Fill `Registration::pairs`.
  bool want_pairs = false;
  /// Where the work runs. The result does not depend on it.
  Device device = Device::automatic();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// How a registration ended. `iterations`: before it converged. `few_pairs`: fewer pairs than unknowns, the pose is the
/// last one that had enough. `undetermined`: the pairs say nothing about any direction (points without normals by
/// `plane`, weights that are all 0), or squared distances overflow; the pose is the last one.
enum class RegistrationEnd : std::uint8_t { converged, iterations, few_pairs, undetermined };

/// In a few words for people.
KITH_EXPORT std::string_view explain(RegistrationEnd end);

/// What one iteration found, before its step.
struct RegistrationIteration {
  std::uint32_t stage = 0;
  std::uint64_t pairs = 0;
  double fitness = 0;
  double inlier_rmse = 0;
  double error = 0;         ///< root of the mean weighted squared error that is minimised
  double turned = 0;        ///< radians, of the step
  double shifted = 0;       ///< length of the step's shift
  double max_distance = 0;  ///< of pairs
};

/// A direction in which the clouds can slide or turn without much change of the error.
struct WeakDirection {
  /// Of the information matrix in units in which turns count by the shifts that they cause at the typical distance from
  /// the centre; `relative` is the share of the largest.
  double eigenvalue = 0;
  double relative = 0;
  std::array<double, 3> turn = {};   ///< along the axis of the turn, about Registration::centre
  std::array<double, 3> shift = {};  ///< turn and shift together have length 1
};

/// A point of the source and the nearest one of the target.
struct RegisteredPair {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  friend bool operator==(const RegisteredPair&, const RegisteredPair&) = default;
};

/// What a global start found. All but the time has the same bytes for every number of threads and on every device.
struct GlobalStart {
  /// Moves the source onto the target to about the side of a voxel. The identity if none was found.
  Pose pose;
  bool found = false;
  double voxel = 0;                                    ///< side of the voxels whose means were compared
  std::uint64_t source_points = 0, target_points = 0;  ///< those
  std::uint64_t matches = 0;                           ///< pairs of them that look alike, at most 2 048
  std::uint64_t consistent = 0;  ///< of these, moved onto each other by the pose, to the side of a voxel
  /// How much of the source lies on the target by the pose, from 0 to 1, every direction of surfaces counting alike;
  /// and the same of the next best pose, which is another one. If they are close, either may be right.
  double overlap = 0;
  double runner_up = 0;
  double milliseconds = 0;
};

/// The names are those of Open3D where it has them.
struct Registration {
  /// Moves the source onto the target.
  Pose transformation;
  RegistrationEnd end = RegistrationEnd::few_pairs;
  bool converged() const { return end == RegistrationEnd::converged; }
  double scale = 1;
  /// Of the last stage: pairs, their share of the source's points, and the root of their mean squared distance.
  std::uint64_t inliers = 0;
  double fitness = 0;
  double inlier_rmse = 0;
  std::vector<RegistrationIteration> iterations;
  /// 6 x 6, row by row: a turn about x, y, z, then a shift along them, of the source after the motion, about `centre`.
  std::array<double, 36> information = {};
  std::array<double, 3> centre = {};
  /// Directions whose eigenvalue is below a thousandth of the largest, weakest first: those of `information`, for gicp
  /// those of the distances along the target's normals. By `point` clouds hold each other in every direction.
  std::vector<WeakDirection> weak;
  /// If wanted, by the number of the source. Numbers are those of the points as given; after a last stage with voxels,
  /// those of the voxels.
  std::vector<RegisteredPair> pairs;
  std::uint64_t skipped_source = 0;
  std::uint64_t skipped_target = 0;
  /// Unset unless the start was global.
  std::optional<GlobalStart> global = {};
};

/// Iterative closest points by exact neighbours. Pairs, sums and poses are computed in a fixed order in double, so that
/// the pose has the same bytes for every number of threads and on every device. Coordinates far from the origin lose
/// nothing: both clouds are centred first.
///
/// Clouds have 2 or 3 dims and one type. A cloud without points, or with too few pairs, gives the initial pose and
/// `few_pairs`; a pose is never NaN. Throws BadData on NaN or infinity, UsageError for options that make no sense,
/// DeviceError, OutOfMemory, Interrupted.
///
/// Clouds on a GPU are registered there, as are those in host memory if `device` names a GPU.
KITH_EXPORT Registration register_clouds(PointView source, PointView target, const RegistrationOptions& options = {});

/// A pose for clouds of which nothing is known, for `initial_pose` or to look at: what InitialPose::global begins with.
/// Means of voxels are matched by what the surface around them looks like (FPFH), poses that many matches agree on are
/// tried, and the one by which the clouds overlap most is found. It runs on the CPU; clouds are in host memory. Of the
/// options global_voxel, degrees_of_freedom, skip_nonfinite, threads and progress count. Throws as `register_clouds`,
/// and UsageError if the scale is to be found, too.
KITH_EXPORT GlobalStart global_start(PointView source, PointView target, const RegistrationOptions& options = {});

/// As RegistrationOptions.
struct DeviceRegistrationOptions : RegistrationOptions {
  /// A cudaStream_t of the GPU that holds the clouds; null is CUDA's default stream.
  void* stream = nullptr;
};

/// register_clouds on the GPU that holds the clouds, or that `device` names: the same result. The iterations of a stage
/// are one kernel; the work begins when that in the stream is done, and is done when the call returns. Reciprocal
/// pairs, a share of pairs to keep, voxels and clouds with NaN go through the host, which works on the CPU.
///
/// Throws as register_clouds; UsageError if an array is not there, DeviceError.
KITH_EXPORT Registration register_on_device(PointView source, PointView target,
                                            const DeviceRegistrationOptions& options = {});

/// Two clouds of many.
struct CloudPair {
  PointView source;
  PointView target;
  /// If set, where to begin, instead of what the options say.
  std::optional<Pose> initial_pose = {};
};

/// The clouds of arrays that lie one after the other, as pairs: pair i has the rows from `source_offsets[i]` to
/// `source_offsets[i + 1]` of `sources`, and likewise of `targets`. Both have as many offsets, one more than there are
/// pairs. Throws UsageError unless offsets ascend and end within their array.
KITH_EXPORT std::vector<CloudPair> pairs_of(PointView sources, std::span<const std::uint64_t> source_offsets,
                                            PointView targets, std::span<const std::uint64_t> target_offsets);

/// What `register_clouds` returns for each pair, byte by byte. On the CPU threads take whole pairs, unless a cloud has
/// more than 32768 points or a MemoryLimit is set; a target of several pairs is prepared once. On a GPU (of the
/// clouds, or that the options name) all pairs of up to 4096 points a cloud run at once, a block each: 2 or 3 dims, no
/// `keep`, `reciprocal` and voxels, at most 32 neighbours. Others, and those with NaN, are registered one by one.
///
/// Throws as register_clouds, for the first pair that fails, and names its number.
KITH_EXPORT std::vector<Registration> register_pairs(std::span<const CloudPair> pairs,
                                                     const DeviceRegistrationOptions& options = {});

/// A target that is prepared once and registered with any number of sources, as a model or map is. Copies share it;
/// every call is thread-safe.
class KITH_EXPORT RegistrationTarget {
 public:
  /// Copies the points, builds their index and, unless the method is `point`, computes their normals. Of the options
  /// method, voxels, neighbors, skip_nonfinite, device, threads and progress count. Throws as `register_clouds`.
  explicit RegistrationTarget(PointView target, const RegistrationOptions& options = {});

  /// What `register_clouds` returns for the same clouds and options, byte by byte. Options that need other normals or
  /// voxels than those prepared add them, once. `skip_nonfinite` is about the source here.
  Registration align(PointView source, const RegistrationOptions& options = {}) const;
  /// The same of a cloud that was prepared too, as the frame before is where frame follows frame: its index and normals
  /// are used again. Throws UsageError if dims or types differ.
  Registration align(const RegistrationTarget& source, const RegistrationOptions& options = {}) const;

  std::uint64_t rows() const;
  std::uint32_t dims() const;
  DType dtype() const;

 private:
  friend KITH_EXPORT Registration register_clouds(PointView, PointView, const RegistrationOptions&);
  struct Prepared;
  template <typename T>
  struct PreparedAs;

  RegistrationTarget(PointView target, const RegistrationOptions& options, std::uint64_t queries);

  std::shared_ptr<const Prepared> prepared_;
};

}  // namespace kith::apps::inline v0
