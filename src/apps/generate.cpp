// Names of the shapes, checks of the options, and the labels; the shapes themselves are in *_shape(s).cpp.
#include <kith/apps/generate.hpp>

#include "apps/random_draws.hpp"
#include "apps/shapes.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint32_t kMostDims = 4096;

struct ShapeEntry {
  Shape shape;
  std::string_view name;
  std::uint32_t least_dims;
  std::uint32_t most_dims;
  void (*fill)(PointSet&, const GenerateOptions&);
};

constexpr std::array kShapes = {
    ShapeEntry{Shape::uniform, "uniform", 1, kMostDims, fill_uniform},
    ShapeEntry{Shape::clusters, "clusters", 1, kMostDims, fill_clusters},
    ShapeEntry{Shape::surface, "surface", 2, kMostDims, fill_surface},
    ShapeEntry{Shape::lidar, "lidar", 3, 3, fill_lidar},
    ShapeEntry{Shape::grid, "grid", 1, kMostDims, fill_grid},
    ShapeEntry{Shape::line, "line", 1, kMostDims, fill_line},
    ShapeEntry{Shape::duplicates, "duplicates", 1, kMostDims, fill_duplicates},
    ShapeEntry{Shape::classes, "classes", 1, kMostDims, fill_decimals},
};

const ShapeEntry& entry_of(Shape shape) {
  const auto* entry = std::find_if(kShapes.begin(), kShapes.end(), [&](const auto& e) { return e.shape == shape; });
  if (entry == kShapes.end()) throw UsageError(fmt::format("shape number {} does not exist", static_cast<int>(shape)));
  return *entry;
}

void check(const ShapeEntry& entry, const GenerateOptions& options) {
  if (options.dims < entry.least_dims || options.dims > entry.most_dims) {
    const std::string range = entry.least_dims == entry.most_dims
                                  ? fmt::format("exactly {}", entry.least_dims)
                                  : fmt::format("{} to {}", entry.least_dims, entry.most_dims);
    throw UsageError(fmt::format("shape {} in {} dims does not exist; it takes {}", entry.name, options.dims, range));
  }
  const std::uint64_t row_bytes = options.dims * size_of(options.dtype);
  if (options.points > std::numeric_limits<std::int64_t>::max() / row_bytes) {
    throw OutOfMemory(fmt::format("{} points of {} bytes each are more than any memory holds; ask for fewer",
                                  options.points, row_bytes));
  }
  if (options.shape == Shape::classes && options.classes == 0) {
    throw UsageError("shape classes with 0 classes has no labels to give; ask for at least 1");
  }
}

std::vector<std::uint32_t> draw_labels(const GenerateOptions& options) {
  constexpr std::uint64_t kStream = 16;  // apart from those that place the points
  constexpr std::uint64_t kBlock = 65536;
  std::vector<std::uint32_t> labels;
  try {
    labels.resize(options.points);
  } catch (const std::exception&) {
    throw OutOfMemory(fmt::format("the labels of {} points need {} bytes; ask for fewer points", options.points,
                                  options.points * sizeof(std::uint32_t)));
  }
  const std::uint64_t blocks = (options.points + kBlock - 1) / kBlock;
  runtime::parallel_for(blocks, {.threads = options.threads}, [&](std::uint64_t b) {
    const std::uint64_t last = std::min(options.points, (b + 1) * kBlock);
    for (std::uint64_t i = b * kBlock; i < last; ++i) {
      labels[i] = static_cast<std::uint32_t>(Draws(options.seed, kStream, i).below(options.classes, 0));
    }
  });
  return labels;
}

}  // namespace

std::string_view name_of(Shape shape) { return entry_of(shape).name; }

Shape parse_shape(std::string_view text) {
  std::string known;
  for (const ShapeEntry& entry : kShapes) {
    if (entry.name == text) return entry.shape;
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  throw UsageError(fmt::format("shape \"{}\" does not exist; use one of: {}", text, known));
}

Generated generate(const GenerateOptions& options) {
  const ShapeEntry& entry = entry_of(options.shape);
  check(entry, options);
  Generated result{PointSet(options.dtype, options.points, options.dims), {}};
  if (options.points > 0) entry.fill(result.points, options);
  if (options.shape == Shape::classes) result.labels = draw_labels(options);
  return result;
}

}  // namespace kith::apps::inline v0
