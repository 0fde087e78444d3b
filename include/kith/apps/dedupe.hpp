// Removes points that are equal to, or too near, one that is kept.
#pragma once

#include <kith/device.hpp>
#include <kith/metric.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// In `Deduped::map`: a row with NaN or infinity that was left out.
inline constexpr std::uint32_t kLeftOut = 0xffffffff;

struct DedupeOptions {
  /// Unset: only points equal to a kept one go (-0 equals +0). Set: points at a distance of at most this from one that
  /// was kept before go; distances and "at most" are those of `Index::radius`.
  std::optional<double> tolerance = {};
  /// For `tolerance` only; any but the inner product.
  Metric metric = Metric::l2();
  std::vector<double> metric_params = {};  ///< as in BuildOptions
  /// One score per point, or none. With scores the best point comes first, ties by the lower number; without, the
  /// points come in the order of their numbers.
  std::span<const double> scores = {};
  /// The lowest score is the best, not the highest.
  bool prefer_low = false;
  /// Leave out points with NaN or infinity, in coordinates or as score NaN (under cosine and angular also those without
  /// direction), instead of throwing.
  bool skip_nonfinite = false;
  /// Whether `Deduped::map` is filled. Free without `tolerance`, one search over the removed points with it.
  bool want_map = true;
  /// Where the work runs: the CPU, also if it is `automatic`, or a GPU, to and from which all is copied. The result
  /// does not depend on it.
  Device device = Device::cpu();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// Which points are kept, and what stands for the others.
struct Deduped {
  /// The numbers of the kept points, ascending.
  std::vector<std::uint32_t> kept;
  /// Per point the place in `kept` of the point that stands for it: its own if it is kept, else the first in order (so,
  /// without scores, the lowest-numbered) of the kept points that are equal to it or within the tolerance. `kLeftOut`
  /// for points that were left out. Empty unless wanted.
  std::vector<std::uint32_t> map;
  /// Points left out because of NaN or infinity.
  std::uint64_t skipped = 0;
};

/// The same as the plain loop: take the points in order, keep each unless a kept one is equal to it (or within the
/// tolerance). Equal points: O(n d) for hashing and O(n log n), about 20 bytes per point. With a tolerance: O(log n)
/// searches for the nearest few per point at worst, usually one or two; an index over the points and some 60 bytes per
/// point of memory, whatever the tolerance.
/// On a GPU equal points take 36 bytes of its memory each, and their coordinates.
/// Throws BadData on NaN or infinity, UsageError on options that make no sense, DeviceError if the GPU is missing,
/// OutOfMemory, Interrupted.
KITH_EXPORT Deduped dedupe(PointView points, const DedupeOptions& options = {});

}  // namespace kith::apps::inline v0
