// See validate.hpp.
#include "engine/validate.hpp"

#include "core/dispatch.hpp"
#include "core/metric/row_problem.hpp"
#include "core/query_row.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::engine {
namespace {

constexpr std::uint64_t kRowsPerBlock = 16384;

/// Throws UsageError for a builder of another engine, or of none that runs on the device.
void require_builder(const BuildOptions& options) {
  if (options.builder == Builder::automatic) return;
  const std::string_view name = name_of(options.builder);
  const bool is_cover_trees = options.builder == Builder::batch || options.builder == Builder::lists;
  const Engine engine = is_cover_trees ? Engine::cover_tree : Engine::kd_tree;
  if (options.engine != engine) {
    const std::string_view others = options.engine == Engine::automatic ? "; name the engine, too"
                                    : options.engine == Engine::kd_tree
                                        ? "; choose histogram, presort, select or segsort"
                                    : options.engine == Engine::cover_tree ? "; choose batch or lists"
                                                                           : ", which builds no tree";
    throw UsageError(fmt::format("builder {}: for engine {} only, not for {}{}", name, name_of(engine),
                                 name_of(options.engine), others));
  }
}

template <typename T>
std::vector<std::vector<std::uint64_t>> bad_rows_per_block(PointView points, const core::RowMap& map, int threads) {
  const std::uint64_t blocks = (points.rows() + kRowsPerBlock - 1) / kRowsPerBlock;
  std::vector<std::vector<std::uint64_t>> bad(blocks);
  runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(points.rows(), (block + 1) * kRowsPerBlock);
    for (std::uint64_t i = block * kRowsPerBlock; i < end; ++i) {
      if (!map.takes(points.row<T>(i))) bad[block].push_back(i);
    }
  });
  return bad;
}

[[noreturn]] void throw_bad_row(PointView points, std::string_view what, const core::RowMap& map, std::uint64_t row,
                                std::uint64_t count) {
  const core::RowProblem problem = core::problem_of_row(points, row, map);
  throw BadRow(std::string(what), row, problem.column,
               fmt::format("{}; {}", problem.text, core::count_of_bad_rows(count)));
}

/// An array lies somewhere: `automatic` is no place.
void require_known_place(PointView view, std::string_view what) {
  if (view.device().kind() != Device::Kind::automatic) return;
  throw UsageError(fmt::format("{}: the array must be said to be on the CPU or on a GPU, not on auto", what));
}

void require_view(PointView view, std::string_view what, std::uint32_t dims, DType dtype) {
  require_known_place(view, what);
  if (view.empty()) return;
  if (view.data() == nullptr) throw UsageError(fmt::format("{}: the data pointer is null", what));
  if (view.dims() != dims) {
    throw UsageError(fmt::format("{}: {} dimensions, but the points have {}", what, view.dims(), dims));
  }
  if (view.dtype() != dtype) {
    throw UsageError(
        fmt::format("{}: {}, but the points are {}; convert one of them", what, name_of(view.dtype()), name_of(dtype)));
  }
}

/// The bound and the two ways to ask for less than the exact answer.
void require_approximation(const SearchOptions& options, const SearchSubject& subject) {
  if (!(options.max_distance >= 0)) {
    throw UsageError(fmt::format("max_distance must be at least 0, not {}", options.max_distance));
  }
  if (!(options.eps >= 0) || !std::isfinite(options.eps)) {
    throw UsageError(fmt::format("eps must be a finite number of at least 0, not {}", options.eps));
  }
  if (subject.kind == SearchKind::knn) {
    if (!subject.metric.info().has_distances && options.max_distance != std::numeric_limits<double>::infinity()) {
      throw UsageError(fmt::format("max_distance is for distances, but the metric {} has none: it is {}",
                                   subject.metric.name(), subject.metric.info().summary));
    }
    return;
  }
  if (options.max_distance != std::numeric_limits<double>::infinity()) {
    throw UsageError("max_distance is for kNN searches; a radius or a box bounds this one");
  }
  if (options.eps != 0) throw UsageError("eps is for kNN searches; this one is always exact");
  if (options.max_leaves != 0) throw UsageError("max_leaves is for kNN searches; this one is always exact");
}

void require_filters(const SearchOptions& options, const SearchSubject& subject) {
  const std::uint64_t words = (subject.points + 63) / 64;
  if (!options.allowed.empty() && options.allowed.size() != words) {
    throw UsageError(fmt::format("allowed: {} words of 64 bits, but {} points need {}", options.allowed.size(),
                                 subject.points, words));
  }
  if (options.earlier_only && !subject.is_self) {
    throw UsageError(
        "earlier_only needs the points themselves as queries, but other queries were given; use index_below");
  }
  if (options.index_below.empty()) return;
  if (subject.is_self) {
    throw UsageError("index_below is for queries of their own; use earlier_only where the points are the queries");
  }
  if (options.index_below.size() != subject.queries) {
    throw UsageError(fmt::format("index_below: {} bounds for {} {}; give one for each", options.index_below.size(),
                                 subject.queries, subject.kind == SearchKind::box ? "boxes" : "queries"));
  }
}

}  // namespace

void require_shape(std::uint64_t rows, std::uint32_t dims) {
  if (rows > kMostPoints) {
    throw UsageError(fmt::format("points: {} rows, but one index holds at most {}", rows, kMostPoints));
  }
  if (dims > kMostDims) {
    throw UsageError(fmt::format("points: {} dimensions, but at most {} are supported", dims, kMostDims));
  }
  if (dims == 0 && rows > 0) throw UsageError("points: rows without coordinates (0 dimensions)");
}

void require_points_view(PointView points) {
  require_known_place(points, "points");
  require_shape(points.rows(), points.dims());
  if (points.data() == nullptr && !points.empty()) throw UsageError("points: the data pointer is null");
}

void require_queries_view(PointView queries, std::uint32_t dims, DType dtype) {
  require_view(queries, "queries", dims, dtype);
}

void require_radius(double radius) {
  if (!(radius >= 0)) throw UsageError(fmt::format("the radius must be at least 0, not {}", radius));
}

void require_radii(std::span<const double> radii, std::uint64_t queries) {
  if (radii.size() != queries) {
    throw UsageError(fmt::format("radii: {} for {} queries; give one for each", radii.size(), queries));
  }
  const auto bad = std::find_if(radii.begin(), radii.end(), [](double radius) { return !(radius >= 0); });
  if (bad == radii.end()) return;
  throw UsageError(fmt::format("radii: a radius must be at least 0, but that of query {} (counted from 0) is {}",
                               bad - radii.begin(), *bad));
}

void require_box_views(PointView lower, PointView upper, std::uint32_t dims, DType dtype) {
  if (lower.rows() != upper.rows()) {
    throw UsageError(fmt::format("boxes: {} lower but {} upper corners", lower.rows(), upper.rows()));
  }
  require_view(lower, "lower corners", dims, dtype);
  require_view(upper, "upper corners", dims, dtype);
}

void require_boxes_possible(Metric metric, bool holds_points, bool is_periodic) {
  if (!holds_points) {
    throw UsageError(
        fmt::format("boxes: an index for the {} metric{} holds {}, not points; build one for another metric",
                    metric.name(), metric.info().params.empty() ? "" : " with parameters",
                    metric.is_of_directions() ? "directions" : "rows made of them"));
  }
  if (is_periodic) throw UsageError("boxes: not on periodic axes; build an index without a period");
}

void require_radius_possible(Metric metric) {
  if (metric.info().has_distances) return;
  throw UsageError(
      fmt::format("radius and count: not for the metric {}, which has no distances: it is {}; search for the k "
                  "nearest, or build an index for another metric",
                  metric.name(), metric.info().summary));
}

bool knows_metric(Engine engine, Metric metric) {
  return engine == Engine::kd_tree      ? metric.info().has_kd_tree
         : engine == Engine::cover_tree ? metric.info().has_cover_tree
                                        : true;
}

bool is_default(Builder builder) {
  return builder == Builder::automatic || builder == Builder::histogram || builder == Builder::batch;
}

void require_build_options(const BuildOptions& options) {
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  if (options.leaf_size > kMostPerLeaf) {
    throw UsageError(
        fmt::format("the leaf size must be 1 to {}, or 0 for a good one, not {}", kMostPerLeaf, options.leaf_size));
  }
  require_builder(options);
  const auto wraps = [](double length) { return length != 0; };
  if (options.engine == Engine::cover_tree && std::any_of(options.period.begin(), options.period.end(), wraps)) {
    throw UsageError("engine covertree: periodic axes need engine brute or kdtree (or auto)");
  }
}

void require_search_options(const SearchOptions& options, const SearchSubject& subject) {
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  if (options.squared && subject.kind == SearchKind::box) {
    throw UsageError("squared is for distances, but box searches report none");
  }
  if (options.squared && subject.metric.kind() != Metric::Kind::l2) {
    throw UsageError(fmt::format("squared distances exist for the metric l2 only, not for {}",
                                 subject.name.empty() ? subject.metric.name() : subject.name));
  }
  if (options.reduced && subject.kind == SearchKind::box) {
    throw UsageError("reduced is for distances, but box searches report none");
  }
  if (options.exclude_self && !subject.is_self) {
    throw UsageError("exclude_self needs the points themselves as queries, but other queries were given");
  }
  if (options.max_neighbors != 0 && subject.kind != SearchKind::radius) {
    throw UsageError("max_neighbors is for radius searches; use k here");
  }
  if (subject.kind == SearchKind::radius) require_radius_possible(subject.metric);
  require_approximation(options, subject);
  require_filters(options, subject);
}

void require_no_nan(PointView lower, PointView upper, int threads) {
  const auto require = [threads](PointView corners, std::string_view what) {
    const std::uint64_t blocks = (corners.rows() + kRowsPerBlock - 1) / kRowsPerBlock;
    constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint64_t> bad(blocks, kNone);  // the first bad row of each block
    runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(corners.rows(), (block + 1) * kRowsPerBlock);
      for (std::uint64_t i = block * kRowsPerBlock; i < end && bad[block] == kNone; ++i) {
        for (std::uint32_t d = 0; d < corners.dims(); ++d) {
          if (std::isnan(corners.at(i, d))) bad[block] = i;
        }
      }
    });
    for (const std::uint64_t row : bad) {
      if (row == kNone) continue;
      std::uint32_t column = 0;
      while (!std::isnan(corners.at(row, column))) ++column;
      throw BadData(fmt::format(
          "{}: row {}, column {} (counted from 0) is NaN; remove the box, or skip non-finite rows", what, row, column));
    }
  };
  require(lower, "lower corners");
  require(upper, "upper corners");
}

void require_good_row(PointView query, const core::RowMap& map) {
  const bool is_good =
      core::visit_dtype(query.dtype(), [&](auto zero) { return map.takes(query.row<decltype(zero)>(0)); });
  if (!is_good) throw_bad_row(query, "queries", map, 0, 1);
}

CleanRows find_clean_rows(PointView points, std::string_view what, const core::RowMap& map, bool skip, int threads) {
  const auto bad = core::visit_dtype(
      points.dtype(), [&](auto zero) { return bad_rows_per_block<decltype(zero)>(points, map, threads); });
  std::uint64_t count = 0;
  for (const auto& block : bad) count += block.size();
  if (count == 0) return {};
  if (!skip) {
    const auto first = std::find_if(bad.begin(), bad.end(), [](const auto& block) { return !block.empty(); });
    throw_bad_row(points, what, map, first->front(), count);
  }
  CleanRows clean{.all_clean = false, .rows = {}};
  clean.rows.reserve(points.rows() - count);
  std::uint64_t next = 0;
  for (const auto& block : bad) {
    for (const std::uint64_t row : block) {
      for (; next < row; ++next) clean.rows.push_back(next);
      next = row + 1;
    }
  }
  for (; next < points.rows(); ++next) clean.rows.push_back(next);
  return clean;
}

}  // namespace kith::engine
