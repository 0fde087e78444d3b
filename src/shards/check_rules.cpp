// See check_rules.hpp. The words are those of an Index.
#include "shards/check_rules.hpp"

#include "core/dispatch.hpp"
#include "core/metric/metric_params.hpp"
#include "core/metric/row_problem.hpp"
#include "shards/row_blocks.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace kith::shards {

void require_rules(const CutRules& rules) {
  if (rules.shards < 1 || rules.shards > kMostShards) {
    throw UsageError(fmt::format("shards: 1 to {} are possible, not {}", kMostShards, rules.shards));
  }
}

void require_options(const ShardMap& map, const ShardSearchOptions& options, SearchKind kind, bool is_self,
                     std::uint64_t rows) {
  const Metric metric = map.rules.metric;
  const bool is_bounded = options.max_distance != std::numeric_limits<double>::infinity();
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  if (options.squared && kind == SearchKind::box) {
    throw UsageError("squared is for distances, but box searches report none");
  }
  if (options.squared && metric.kind() != Metric::Kind::l2) {
    throw UsageError(fmt::format("squared distances exist for the metric l2 only, not for {}", metric.name()));
  }
  if (options.exclude_self && !is_self) {
    throw UsageError("exclude_self needs the points themselves as queries, but other queries were given");
  }
  if (options.max_neighbors != 0 && kind != SearchKind::radius) {
    throw UsageError("max_neighbors is for radius searches; use k here");
  }
  if (kind == SearchKind::radius && !metric.info().has_distances) {
    throw UsageError(
        fmt::format("radius and count: not for the metric {}, which has no distances: it is {}; search for the k "
                    "nearest, or build an index for another metric",
                    metric.name(), metric.info().summary));
  }
  if (!(options.max_distance >= 0)) {
    throw UsageError(fmt::format("max_distance must be at least 0, not {}", options.max_distance));
  }
  if (is_bounded && kind != SearchKind::knn) {
    throw UsageError("max_distance is for kNN searches; a radius or a box bounds this one");
  }
  if (is_bounded && !metric.info().has_distances) {
    throw UsageError(fmt::format("max_distance is for distances, but the metric {} has none: it is {}", metric.name(),
                                 metric.info().summary));
  }
  const std::uint64_t words = (map.rows + 63) / 64;
  if (!options.allowed.empty() && options.allowed.size() != words) {
    throw UsageError(
        fmt::format("allowed: {} words of 64 bits, but {} points need {}", options.allowed.size(), map.rows, words));
  }
  if (options.earlier_only && !is_self) {
    throw UsageError(
        "earlier_only needs the points themselves as queries, but other queries were given; use index_below");
  }
  if (options.index_below.empty()) return;
  if (is_self) {
    throw UsageError("index_below is for queries of their own; use earlier_only where the points are the queries");
  }
  if (options.index_below.size() != rows) {
    throw UsageError(fmt::format("index_below: {} bounds for {} {}; give one for each", options.index_below.size(),
                                 rows, kind == SearchKind::box ? "boxes" : "queries"));
  }
}

void require_view(const ShardMap& map, PointView view, std::string_view what) {
  if (view.empty()) return;
  if (view.device() != Device::cpu()) {
    throw UsageError(fmt::format("{}: on {}, but shards take arrays in host memory", what, view.device().name()));
  }
  if (view.data() == nullptr) throw UsageError(fmt::format("{}: the data pointer is null", what));
  if (view.dims() != map.dims) {
    throw UsageError(fmt::format("{}: {} dimensions, but the points have {}", what, view.dims(), map.dims));
  }
  if (view.dtype() != map.dtype) {
    throw UsageError(fmt::format("{}: {}, but the points are {}; convert one of them", what, name_of(view.dtype()),
                                 name_of(map.dtype)));
  }
}

void require_radii(const Radii& radii, std::uint64_t queries) {
  if (!(radii.all() >= 0)) throw UsageError(fmt::format("the radius must be at least 0, not {}", radii.all()));
  if (!radii.each()) return;
  const std::span<const double> each = *radii.each();
  if (each.size() != queries) {
    throw UsageError(fmt::format("radii: {} for {} queries; give one for each", each.size(), queries));
  }
  const auto bad = std::find_if(each.begin(), each.end(), [](double radius) { return !(radius >= 0); });
  if (bad == each.end()) return;
  throw UsageError(fmt::format("radii: a radius must be at least 0, but that of query {} (counted from 0) is {}",
                               bad - each.begin(), *bad));
}

void require_boxes_possible(const ShardMap& map) {
  const Metric metric = map.rules.metric;
  if (!core::RowPreparation(metric, map.rules.metric_params, map.dims).is_plain()) {
    throw UsageError(
        fmt::format("boxes: an index for the {} metric{} holds {}, not points; build one for another metric",
                    metric.name(), metric.info().params.empty() ? "" : " with parameters",
                    metric.is_of_directions() ? "directions" : "rows made of them"));
  }
  const auto wraps = [](double length) { return length != 0; };
  if (std::any_of(map.rules.period.begin(), map.rules.period.end(), wraps)) {
    throw UsageError("boxes: not on periodic axes; build an index without a period");
  }
}

std::vector<std::uint8_t> bad_rows(PointView queries, const core::RowMap& map, bool skip, int threads) {
  std::vector<std::uint8_t> bad(queries.rows(), 0);
  std::atomic<std::uint64_t> count = 0;
  core::visit_dtype(queries.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_row_blocks(queries.rows(), threads, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t found = 0;
      for (std::uint64_t i = begin; i < end; ++i) {
        bad[i] = map.takes(queries.row<T>(i)) ? 0 : 1;
        found += bad[i];
      }
      count += found;
    });
  });
  if (count == 0) return {};
  if (skip) return bad;
  const auto row = static_cast<std::uint64_t>(std::find(bad.begin(), bad.end(), 1) - bad.begin());
  const core::RowProblem problem = core::problem_of_row(queries, row, map);
  throw BadRow("queries", row, problem.column, fmt::format("{}; {}", problem.text, core::count_of_bad_rows(count)));
}

std::vector<std::uint8_t> bad_boxes(PointView lower, PointView upper, bool skip) {
  std::vector<std::uint8_t> bad(lower.rows(), 0);
  bool is_any = false;
  const auto look = [&](PointView corners, std::string_view what) {
    for (std::uint64_t i = 0; i < corners.rows(); ++i) {
      for (std::uint32_t d = 0; d < corners.dims(); ++d) {
        if (!std::isnan(corners.at(i, d))) continue;
        if (!skip) {
          throw BadData(fmt::format(
              "{}: row {}, column {} (counted from 0) is NaN; remove the box, or skip non-finite rows", what, i, d));
        }
        bad[i] = 1;
        is_any = true;
      }
    }
  };
  look(lower, "lower corners");
  look(upper, "upper corners");
  if (!is_any) bad.clear();
  return bad;
}

}  // namespace kith::shards
