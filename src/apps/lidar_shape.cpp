// The shape lidar: a scanner with 64 rings drives along a street and sees of each direction the first thing in its way.
#include "apps/portable_math.hpp"
#include "apps/random_draws.hpp"
#include "apps/shapes.hpp"
#include "apps/street_scene.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

enum Stream : std::uint64_t { kRays = 9, kRevolutions = 10 };

constexpr std::uint64_t kRings = 64;
constexpr std::uint64_t kColumnsPerRevolution = 2048;  // of a whole scan; small clouds spread fewer over the circle
constexpr std::uint64_t kColumnsPerTask = 64;
constexpr std::uint64_t kTasksPerRound = 128;
constexpr double kScannerHeight = 1.8;
constexpr double kScannerSide = -1.8;  // y: the scanner drives in the right lane
constexpr double kMetresPerRevolution = 0.8;
constexpr double kMaxRange = 90;
constexpr double kRangeDeviation = 0.01;

struct Point3 {
  double x, y, z;
};

/// The angle of one ring above the horizon, from 2 degrees up to 24.8 degrees down.
struct RingAngle {
  double sine, cosine, tangent;
};

std::array<RingAngle, kRings> ring_angles() {
  std::array<RingAngle, kRings> angles{};
  for (std::uint64_t ring = 0; ring < kRings; ++ring) {
    const double degrees = 2 - 26.8 * static_cast<double>(ring) / (kRings - 1);
    const auto [sine, cosine] = sine_cosine_of_turns(degrees / 360);
    angles[ring] = {sine, cosine, sine / cosine};
  }
  return angles;
}

/// The vertical half-plane in which the 64 rays of one moment lie.
struct Column {
  Point3 origin;
  double toward_x, toward_y;  // of length 1
};

/// What a column meets: something solid between two horizontal distances, or a disc cut from a ball of leaves.
struct Encounter {
  double near, far;
  double top;                    // solid
  double middle, height, reach;  // leaves: centre (distance, z) and radius of the disc; reach 0 for solid things
};

class ColumnView {
 public:
  ColumnView(const StreetScene& scene, const Column& column) : column_(column) {
    for (const Block& block : scene.blocks) meet(block);
    for (const Post& post : scene.posts) meet(post);
    for (const Foliage& foliage : scene.foliage) meet(foliage);
    // Stable, so that equal distances come in one order on every machine.
    std::stable_sort(encounters_.begin(), encounters_.end(),
                     [](const Encounter& a, const Encounter& b) { return a.near < b.near; });
  }

  /// The distance along the ray to the first thing in its way; above kMaxRange if there is none.
  double range(const RingAngle& angle, const Draws& draws) const {
    double range = angle.sine < 0 ? ground_range(angle) : 2 * kMaxRange;
    for (std::size_t i = 0; i < encounters_.size(); ++i) {
      const Encounter& encounter = encounters_[i];
      if (encounter.near > range * angle.cosine) break;
      range = std::min(range, encounter.reach > 0 ? leaf_range(encounter, angle, draws.uniform(8 + i))
                                                  : solid_range(encounter, angle));
    }
    return range;
  }

 private:
  void meet(const Block& block) {
    const double along_x = std::abs(column_.toward_x) < 1e-9 ? 1e-9 : column_.toward_x;
    const double along_y = std::abs(column_.toward_y) < 1e-9 ? 1e-9 : column_.toward_y;
    const auto [enter_x, leave_x] =
        std::minmax({(block.x_low - column_.origin.x) / along_x, (block.x_high - column_.origin.x) / along_x});
    const auto [enter_y, leave_y] =
        std::minmax({(block.y_low - column_.origin.y) / along_y, (block.y_high - column_.origin.y) / along_y});
    add({std::max(enter_x, enter_y), std::min(leave_x, leave_y), block.top, 0, 0, 0});
  }

  void meet(const Post& post) {
    const auto [middle, half] = cut(post.x, post.y, post.radius);
    if (half > 0) add({middle - half, middle + half, post.top, 0, 0, 0});
  }

  void meet(const Foliage& foliage) {
    const auto [middle, half] = cut(foliage.x, foliage.y, foliage.radius);
    if (half > 0) add({middle - half, middle + half, 0, middle, foliage.z, half});
  }

  struct Cut {
    double middle, half;  // half 0: the column passes by
  };
  Cut cut(double x, double y, double radius) const {
    const double dx = x - column_.origin.x;
    const double dy = y - column_.origin.y;
    const double middle = dx * column_.toward_x + dy * column_.toward_y;
    const double square = radius * radius - (dx * dx + dy * dy - middle * middle);
    return {middle, square > 0 ? std::sqrt(square) : 0};
  }

  void add(const Encounter& encounter) {
    if (encounter.near > 0 && encounter.near < encounter.far && encounter.near < kMaxRange) {
      encounters_.push_back(encounter);
    }
  }

  double ground_range(const RingAngle& angle) const {
    double distance = 0;  // horizontal; the ground is flatter than every ray that reaches it, so this resolves
    for (int step = 0; step < 6; ++step) {
      const double height =
          ground_height(column_.origin.x + distance * column_.toward_x, column_.origin.y + distance * column_.toward_y);
      distance = std::clamp((height - column_.origin.z) / angle.tangent, 0.0, 2 * kMaxRange);
    }
    return distance / angle.cosine;
  }

  double solid_range(const Encounter& solid, const RingAngle& angle) const {
    if (column_.origin.z + solid.near * angle.tangent <= solid.top) return solid.near / angle.cosine;
    if (angle.tangent >= 0) return 2 * kMaxRange;
    const double roof = (solid.top - column_.origin.z) / angle.tangent;
    return roof < solid.far ? roof / angle.cosine : 2 * kMaxRange;
  }

  /// Leaves stop a ray after 0.5 m on average.
  double leaf_range(const Encounter& leaves, const RingAngle& angle, double chance) const {
    const double rise = leaves.height - column_.origin.z;
    const double middle = leaves.middle * angle.cosine + rise * angle.sine;
    const double square = leaves.reach * leaves.reach - (leaves.middle * leaves.middle + rise * rise - middle * middle);
    if (square <= 0) return 2 * kMaxRange;
    const double half = std::sqrt(square);
    const double depth = -0.5 * logarithm(1 - chance);
    return depth < 2 * half ? middle - half + depth : 2 * kMaxRange;
  }

  Column column_;
  std::vector<Encounter> encounters_;
};

/// The drive of the scanner: which column points where, and what its rays see.
class Drive {
 public:
  Drive(std::uint64_t seed, std::uint64_t columns_per_revolution)
      : seed_(seed), columns_(columns_per_revolution), angles_(ring_angles()) {}

  /// Appends what the columns [first, last) see, in the order of the scan.
  void scan(std::uint64_t first, std::uint64_t last, std::vector<Point3>& seen) const {
    const std::uint64_t revolution = first / columns_;
    const std::uint64_t revolutions = last / columns_ - revolution + 2;  // the scene is gathered once for all columns
    const double around = kMetresPerRevolution * static_cast<double>(revolution);
    const double moved = kMetresPerRevolution * static_cast<double>(revolutions);
    const StreetScene scene = street_around(seed_, around, kMaxRange + moved);
    for (std::uint64_t number = first; number < last; ++number) scan_column(scene, number, seen);
  }

 private:
  Column column(std::uint64_t number) const {
    const std::uint64_t revolution = number / columns_;
    const double phase = Draws(seed_, kRevolutions, revolution).uniform(0);  // no two revolutions hit the same places
    const double turns = (static_cast<double>(number % columns_) + phase) / static_cast<double>(columns_);
    const auto [sine, cosine] = sine_cosine_of_turns(turns);
    const double x = kMetresPerRevolution * (static_cast<double>(revolution) + turns);
    return {{x, kScannerSide, kScannerHeight + ground_height(x, kScannerSide)}, cosine, sine};
  }

  void scan_column(const StreetScene& scene, std::uint64_t number, std::vector<Point3>& seen) const {
    const Column here = column(number);
    const ColumnView view(scene, here);
    for (std::uint64_t ring = 0; ring < kRings; ++ring) {
      const RingAngle& angle = angles_[ring];
      const Draws draws(seed_, kRays, number * kRings + ring);
      const double true_range = view.range(angle, draws);
      if (true_range > kMaxRange) continue;
      const double far = true_range / kMaxRange;
      if (draws.uniform(0) < 0.01 + 0.15 * far * far) continue;  // the echo is lost, more often from afar
      const double range = true_range + kRangeDeviation * normal(draws, 1);
      seen.push_back({here.origin.x + range * angle.cosine * here.toward_x,
                      here.origin.y + range * angle.cosine * here.toward_y, here.origin.z + range * angle.sine});
    }
  }

  std::uint64_t seed_;
  std::uint64_t columns_;
  std::array<RingAngle, kRings> angles_;
};

/// How many columns make one revolution, so that a whole number of revolutions gives about `points` points.
std::uint64_t plan_columns(std::uint64_t seed, std::uint64_t points) {
  constexpr std::uint64_t kTrial = 128;
  std::vector<Point3> seen;
  Drive(seed, kTrial).scan(0, kTrial, seen);
  const double per_column = static_cast<double>(std::max<std::size_t>(seen.size(), 1)) / kTrial;
  const double columns = static_cast<double>(points) / per_column;
  const double revolutions = std::max(1.0, std::floor(columns / kColumnsPerRevolution + 0.5));
  return static_cast<std::uint64_t>(std::ceil(columns / revolutions));
}

template <typename T>
void fill(PointSet& points, const GenerateOptions& options) {
  const std::span<T> values = points.values<T>();
  const std::uint64_t columns = plan_columns(options.seed, points.rows());
  const Drive drive(options.seed, columns);
  runtime::ProgressMeter meter(&options.progress, "generating", points.rows());
  std::vector<std::vector<Point3>> seen(kTasksPerRound);
  std::uint64_t filled = 0;
  // How many rays come back is known only afterwards: scan a round of columns, then take them over in their order.
  for (std::uint64_t first = 0; filled < points.rows();) {
    const std::uint64_t wanted = (points.rows() - filled) / (kColumnsPerTask * kRings) + 1;
    const std::uint64_t tasks = std::min(kTasksPerRound, wanted);
    runtime::parallel_for(tasks, {.threads = options.threads}, [&](std::uint64_t task) {
      seen[task].clear();
      drive.scan(first + task * kColumnsPerTask, first + (task + 1) * kColumnsPerTask, seen[task]);
    });
    for (std::uint64_t task = 0; task < tasks; ++task) {
      for (const Point3& point : seen[task]) {
        if (filled == points.rows()) break;
        T* row = values.data() + 3 * filled++;
        row[0] = static_cast<T>(point.x);
        row[1] = static_cast<T>(point.y);
        row[2] = static_cast<T>(point.z);
      }
    }
    first += tasks * kColumnsPerTask;
    meter.report(filled);
  }
  meter.finish();
}

}  // namespace

void fill_lidar(PointSet& points, const GenerateOptions& options) {
  if (points.dtype() == DType::f32) {
    fill<float>(points, options);
  } else {
    fill<double>(points, options);
  }
}

}  // namespace kith::apps::inline v0
