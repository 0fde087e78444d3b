// All checks of what a caller hands in. Past these, kernels assume valid input.
#pragma once

#include "core/metric/row_map.hpp"

#include <kith/index.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kith::engine {

inline constexpr std::uint32_t kMostDims = 4096;
inline constexpr std::uint64_t kMostPoints = 0xFFFFFFFEull;
/// The largest leaf size of a tree.
inline constexpr std::uint32_t kMostPerLeaf = 1024;

/// Whether an engine can search by a metric.
bool knows_metric(Engine engine, Metric metric);
/// Whether an engine takes this builder where none is named.
bool is_default(Builder builder);

/// Throws UsageError for more points or dimensions than an index can hold, or for points without coordinates.
void require_shape(std::uint64_t rows, std::uint32_t dims);
/// Shape, device and pointer of a view that serves as points. Throws UsageError.
void require_points_view(PointView points);
/// The same for queries, which must fit the points.
void require_queries_view(PointView queries, std::uint32_t dims, DType dtype);
/// Throws UsageError unless radius >= 0 (infinity is allowed, NaN is not).
void require_radius(double radius);
/// The same for one radius per query, of which there must be as many.
void require_radii(std::span<const double> radii, std::uint64_t queries);
/// The same for the faces of boxes: two views of the same shape that fit the points.
void require_box_views(PointView lower, PointView upper, std::uint32_t dims, DType dtype);
/// Throws UsageError if the rows that are searched are not the points, and on periodic axes, where there are no boxes.
void require_boxes_possible(Metric metric, bool holds_points, bool is_periodic);
/// Throws UsageError under the inner product, which is no distance.
void require_radius_possible(Metric metric);
/// Throws UsageError for a leaf size or a number of threads that is none, and for a period that the engine does not
/// know.
void require_build_options(const BuildOptions& options);

enum class SearchKind : std::uint8_t { knn, radius, box };

/// What the options of a search are for.
struct SearchSubject {
  Metric metric;
  std::string_view name = {};  ///< of a metric that is not for points; empty: that of `metric`
  SearchKind kind = SearchKind::knn;
  bool is_self = false;
  std::uint64_t points = 0;
  std::uint64_t queries = 0;
};

/// Throws UsageError for options that are out of range, of the wrong length, or contradict the metric or the kind of
/// search.
void require_search_options(const SearchOptions& options, const SearchSubject& subject);

/// Throws BadData if a face of a box is NaN. Infinity is fine.
void require_no_nan(PointView lower, PointView upper, int threads);
/// Throws BadData unless the map takes the only row of `query`. Allocates nothing if it does.
void require_good_row(PointView query, const core::RowMap& map);

/// The rows that the map takes, all of them finite, ascending. Without `skip` any
/// bad row throws BadData that names the first one, its column and the count of all; `what` is "points" or "queries".
/// Returns an empty list and sets `all_clean` if every row is good.
struct CleanRows {
  bool all_clean = true;
  std::vector<std::uint64_t> rows;  ///< only if not all_clean
};
CleanRows find_clean_rows(PointView points, std::string_view what, const core::RowMap& map, bool skip, int threads);

}  // namespace kith::engine
