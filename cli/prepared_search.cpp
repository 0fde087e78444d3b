// See prepared_search.hpp.
#include "prepared_search.hpp"

#include "allowed_points.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace kith::cli {
namespace {

/// Rows with NaN or, unless they are boxes, infinity.
std::uint64_t rows_left_out(PointView points, bool are_boxes) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      if (are_boxes ? std::isnan(points.at(i, d)) : !std::isfinite(points.at(i, d))) {
        ++count;
        break;
      }
    }
  }
  return count;
}

io::PointFile read_queries(const SearchFlags& flags, DType dtype, const ProgressCallback& progress) {
  io::ReadOptions options = flags.read;
  options.dtype = dtype;            // one search, one type: the points decide
  if (flags.columns_per_dim > 1) {  // other columns than those of the points
    options.columns.clear();
    options.label.clear();
  }
  flags.output.explanation(fmt::format("queries are read as {}, the type of the points", name_of(dtype)));
  return read_input(flags.queries_path, options, flags.output, progress);
}

}  // namespace

PreparedSearch::PreparedSearch(const SearchFlags& flags, TerminalProgress& progress,
                               const std::function<void(std::uint64_t, DType)>& check)
    : flags_(flags) {
  const Stopwatch read_watch;
  points_file_ = read_input(flags.points_path, flags.read, flags.output, progress.callback());
  PointView points = points_file_.view();
  queries_ = points;
  if (!flags.self()) {
    queries_file_ = read_queries(flags, points.dtype(), progress.callback());
    queries_ = queries_file_->view();
    // A file without rows says nothing about its dims; take them from the other one.
    const std::uint32_t columns = flags.columns_per_dim;
    if (queries_.rows() == 0) {
      queries_ = PointView(nullptr, points.dtype(), 0, columns * points.dims(), columns * points.dims());
    }
    if (points.rows() == 0) {
      points = PointView(nullptr, points.dtype(), 0, queries_.dims() / columns, queries_.dims() / columns);
    }
    if (columns > 1 && queries_.dims() != columns * points.dims()) {
      throw UsageError(fmt::format("{} has {}, but boxes around points of {} need {}: all lower, then all upper ends",
                                   flags.queries_path, counted(queries_.dims(), "column"),
                                   counted(points.dims(), "dimension"), columns * points.dims()));
    }
    if (columns == 1 && queries_.dims() != points.dims()) {
      throw UsageError(fmt::format("{} has {}, but {} has {}; choose the columns to compare with --columns",
                                   flags.queries_path, counted(queries_.dims(), "dimension"), flags.points_path,
                                   counted(points.dims(), "dimension")));
    }
  }
  if (!flags.allow_path.empty()) {
    allowed_ = read_allowed_points(flags.allow_path, points.rows(), flags.output, progress.callback());
  }
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(queries_.rows(), points.dtype());

  const Stopwatch build_watch;
  BuildOptions build = flags.build;
  build.progress = progress.callback();
  build.expected_queries = queries_.rows();
  index_ = Index::build(points, build);
  build_ms_ = build_watch.milliseconds();
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
  if (flags.build.skip_nonfinite)
    skipped_queries_ = flags.self() ? index_->skipped() : rows_left_out(queries_, flags.columns_per_dim > 1);
}

SearchOptions PreparedSearch::options(const ProgressCallback& progress) const {
  SearchOptions options = flags_.search;
  options.allowed = allowed_;
  options.progress = progress;
  return options;
}

nlohmann::ordered_json PreparedSearch::report() const {
  nlohmann::ordered_json report;
  report["points"] = index_->size();
  report["queries"] = query_count();
  report["dims"] = index_->dims();
  report["dtype"] = name_of(index_->dtype());
  report["metric"] = index_->metric().name();
  report["squared"] = flags_.search.squared;
  report["exclude_self"] = flags_.search.exclude_self;
  if (!flags_.allow_path.empty()) {
    std::uint64_t allowed = 0;
    for (const std::uint64_t word : allowed_) allowed += static_cast<std::uint64_t>(std::popcount(word));
    report["allowed_points"] = allowed;
  }
  if (flags_.search.earlier_only) report["earlier_only"] = true;
  if (!flags_.build.period.empty()) report["period"] = flags_.build.period;
  report["skipped_points"] = index_->skipped();
  report["skipped_queries"] = skipped_queries_;
  report["engine"] = name_of(index_->engine());
  report["device"] = index_->device().name();
  report["threads"] = threads_in_use(flags_.search.threads);
  report["index_bytes"] = index_->memory_bytes();
  report["read_ms"] = read_ms_;
  report["build_ms"] = build_ms_;
  return report;
}

std::string PreparedSearch::engine_text() const {
  return fmt::format("{} on {}, {}", name_of(index_->engine()), index_->device().name(),
                     counted(static_cast<std::uint64_t>(threads_in_use(flags_.search.threads)), "thread"));
}

std::string PreparedSearch::times_text() const {
  return fmt::format("read {}, build {}", readable_duration(read_ms_), readable_duration(build_ms_));
}

std::string PreparedSearch::skipped_text() const {
  if (index_->skipped() == 0 && skipped_queries_ == 0) return "";
  return fmt::format("{} and {} with NaN or infinity were left out", counted(index_->skipped(), "point"),
                     counted(skipped_queries_, "query", "queries"));
}

int threads_in_use(int threads) {
  if (threads > 0) return threads;
  return std::max(1, available_devices().front().threads);
}

}  // namespace kith::cli
