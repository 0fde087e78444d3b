// What a registration is made of whatever device it runs on: from options to rules, and from sums to the result.
#pragma once

#include "core/cloud/motion.hpp"
#include "core/cloud/registration_step.hpp"

#include <kith/apps/registration.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace kith::core {

/// What a cloud is like as a whole.
struct CloudExtent {
  double centre[3] = {};  ///< of its box
  double mean[3] = {};    ///< less the centre
  double diagonal = 0;    ///< of its box
  double radius = 0;      ///< root of the mean squared distance from the centre
};

/// Sets centre and diagonal.
CloudExtent extent_of_box(const double* lower, const double* upper, std::uint32_t dims);
/// Sets the rest, from the sums of coordinates less the centre, and of their squares.
void add_sums(CloudExtent& extent, const double* sums, std::uint64_t points);

/// Points of the target whose nearest neighbours show how dense it is, and how far apart they are in the order of the
/// points.
struct SpacingSample {
  std::uint64_t step = 1;
  std::uint64_t count = 0;
};
SpacingSample spacing_sample(std::uint64_t points);

/// Every so many points of the source are registered first, because large motions need few points; 1: no such stage.
std::uint64_t first_step(std::uint64_t source_points, const apps::RegistrationOptions& options);
/// How much sooner that stage ends.
inline constexpr double kFirstSlack = 1000;

/// Throws UsageError unless the source fits the target.
void check_clouds(PointView source, std::uint32_t target_dims, DType target_dtype);
/// Throws UsageError for options that make no sense.
void check_registration(std::uint32_t dims, const apps::RegistrationOptions& options);

/// Whether the start has to be looked for.
inline bool wants_global_start(const apps::RegistrationOptions& options) {
  return options.initial == apps::InitialPose::global && !options.initial_pose;
}
/// Throws UsageError for options that a global start does not have.
void check_global_start(const apps::RegistrationOptions& options);
/// The options of a registration that begins where a global start leads to.
void begin_at(const apps::GlobalStart& start, apps::RegistrationOptions& options);

/// Bit i: unknown i of a step may change.
std::uint32_t free_unknowns(const apps::RegistrationOptions& options, std::uint32_t dims);

PairError error_of(apps::RegistrationMethod method);

/// One registration on its way, from the extents of the clouds to the result.
class RegistrationPlan {
 public:
  RegistrationPlan(const apps::RegistrationOptions& options, std::uint32_t dims, const CloudExtent& source,
                   const CloudExtent& target);

  const Frame& frame() const { return frame_; }
  int unknowns() const { return options_.scale ? 7 : 6; }
  bool adapts_distance() const { return options_.max_distance == 0; }
  /// Of a stage with so many points; `spacing` is the mean distance between neighbours of the target.
  StepRule rule(std::uint64_t points, double spacing, double slack) const;
  /// Where the next stage begins.
  StageState start(const StepRule& rule) const;
  /// Takes what a stage found: its last state, its records, and the sums at its last pose. `surfaces`, for gicp, are
  /// those of distances along the target's normals alone: those of gicp itself let every direction seem as firm as
  /// surfaces are thick. A stage that another one follows may leave out all sums.
  void take(const StageState& state, std::span<const StepRecord> records, std::span<const double> sums,
            std::span<const double> surfaces, std::uint64_t points);
  apps::Registration finish() &&;

 private:
  std::array<double, 36> information_of(std::span<const double> sums) const;

  apps::RegistrationOptions options_;
  std::uint32_t dims_;
  CloudExtent target_;
  Frame frame_;
  StageState state_;
  bool has_moved_ = false;
  std::uint32_t stages_ = 0;              ///< that have run
  std::array<double, 36> surfaces_ = {};  ///< the information that decides which directions are weak
  apps::Registration result_;
};

}  // namespace kith::core
