// Made-up points for demonstrations, tests and benchmarks: the same bytes on every machine for one seed.
#pragma once

#include <kith/point_set.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// What the points look like; docs/commands/generate.md has a picture of each.
enum class Shape : std::uint8_t { uniform, clusters, surface, lidar, grid, line, duplicates, classes };

/// "uniform", "clusters", …
KITH_EXPORT std::string_view name_of(Shape shape);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT Shape parse_shape(std::string_view text);

struct GenerateOptions {
  Shape shape = Shape::uniform;
  std::uint64_t points = 1000;
  std::uint32_t dims = 3;
  std::uint64_t seed = 1;
  DType dtype = DType::f32;
  /// `classes` only: how many, and so the number of labels.
  std::uint32_t classes = 10;
  /// Threads; 0 means all cores. The points do not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

struct Generated {
  PointSet points;
  std::vector<std::uint32_t> labels;  ///< `classes` only: one per point, 0 to classes - 1
};

/// Throws UsageError if the shape does not exist in that many dims (lidar is 3-D, surface at least 2-D), OutOfMemory.
KITH_EXPORT Generated generate(const GenerateOptions& options);

}  // namespace kith::apps::inline v0
