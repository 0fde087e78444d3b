// See prepared_search.hpp.
#include "prepared_search.hpp"

#include "allowed_points.hpp"
#include "geographic_note.hpp"
#include "interrupt.hpp"
#include "query_radii.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>

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

io::PointFile read_queries(const SearchFlags& flags, const std::vector<std::string>& names, DType dtype,
                           io::Table* table, const ProgressCallback& progress) {
  io::ReadOptions options = flags.read;
  if (is_index_file(flags.queries_path)) {  // the flags are for the columns of the points
    options = {};
    options.threads = flags.read.threads;
  }
  options.table = table;
  options.dtype = dtype;            // one search, one type: the points decide
  if (flags.columns_per_dim > 1) {  // other columns than those of the points
    options.columns.clear();
    options.label.clear();
  }
  PointColumns points{flags.points_path, names};
  if (flags.columns_per_dim > 1) points.names.clear();
  flags.output.explanation(fmt::format("queries are read as {}, the type of the points", name_of(dtype)));
  io::PointFile file = read_query_points(flags.queries_path, flags.query, options, points, flags.output, progress);
  options.table = nullptr;
  *flags.queries_read = options;
  return file;
}

/// The queries must fit the points: as many columns, or for boxes twice as many.
void require_same_dims(const SearchFlags& flags, std::uint32_t points, std::uint32_t queries) {
  const std::uint32_t columns = flags.columns_per_dim;
  if (queries == columns * points) return;
  if (columns > 1) {
    throw UsageError(fmt::format("{} has {}, but boxes around points of {} need {}: all lower, then all upper ends",
                                 flags.queries_path, counted(queries, "column"), counted(points, "dimension"),
                                 columns * points));
  }
  throw UsageError(
      fmt::format("{} has {}, but {} has {}; choose the columns to compare with --columns and "
                  "--query-columns",
                  flags.queries_path, counted(queries, "dimension"), flags.points_path, counted(points, "dimension")));
}

/// Throws UsageError for flags that contradict what the index was built with.
void require_fitting_flags(const SearchFlags& flags, const IndexFileInfo& info) {
  const auto refuse = [&](const std::string& has, const std::string& flag) {
    throw UsageError(
        fmt::format("{} is an index {}; leave {} out, or build an index that fits", flags.points_path, has, flag));
  };
  if (flags.metric_given && flags.build.metric != info.metric) {
    refuse(fmt::format("for {}", info.metric.name()), fmt::format("--metric {}", flags.build.metric.name()));
  }
  if (flags.build.engine != Engine::automatic && flags.build.engine != info.engine) {
    refuse(fmt::format("of engine {}", name_of(info.engine)), fmt::format("--engine {}", name_of(flags.build.engine)));
  }
  if (flags.read.dtype && *flags.read.dtype != info.dtype) {
    refuse(fmt::format("of {} points", name_of(info.dtype)), fmt::format("--dtype {}", name_of(*flags.read.dtype)));
  }
  if (!flags.build.period.empty()) refuse("that has its period", "--period");
  if (flags.build.leaf_size != 0) refuse("that has its leaves", "--leaf-size");
  if (flags.build.split != SplitRule::widest) refuse("that has its splits", "--split");
  if (flags.build.builder != CoverBuilder::batch && name_of(flags.build.builder) != info.builder) {
    refuse("that is built already", fmt::format("--builder {}", name_of(flags.build.builder)));
  }
  if (flags.self()) refuse_reading_flags(flags.points_path, flags.read);
}

/// A table stays empty if all columns are coordinates; which of them are is known by their names or positions.
void complete_columns(io::Table& table, const io::PointFile& file, const std::vector<std::string>& asked) {
  if (table.columns.empty()) table = io::table_of(file.view(), file.columns);
  std::vector<std::uint32_t> coordinates;
  for (const std::string& name : file.columns.empty() ? asked : file.columns) {
    if (const auto found = table.find(name)) coordinates.push_back(*found);
  }
  if (!coordinates.empty()) table.coordinates = coordinates;
}

}  // namespace

PreparedSearch::PreparedSearch(const SearchFlags& flags, TerminalProgress& progress, const Check& check)
    : flags_(flags), loaded_(is_index_file(flags.points_path)) {
  if (loaded_) {
    load(progress, check);
  } else {
    read_and_build(progress, check);
  }
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
  if (flags.self()) {
    skipped_queries_ = index_->skipped();
  } else if (flags.search.skip_nonfinite) {
    skipped_queries_ = rows_left_out(queries_, flags.columns_per_dim > 1);
  }
}

void PreparedSearch::read_and_build(TerminalProgress& progress, const Check& check) {
  if (flags_.map) throw UsageError(fmt::format("{} is not an index file; leave --map out", flags_.points_path));
  const Stopwatch read_watch;
  io::ReadOptions read = flags_.read;
  if (flags_.wants_columns()) read.table = &columns_.points;
  points_file_ = read_input(flags_.points_path, read, flags_.output, progress.callback());
  if (flags_.wants_columns()) complete_columns(columns_.points, points_file_, flags_.read.columns);
  wrap_input(points_file_, flags_.points_path, flags_.axes, flags_.output);
  if (flags_.columns_per_dim == 1) note_on_degrees(points_file_.columns, flags_.build.metric, flags_.output);
  PointView points = points_file_.view();
  query_count_ = points.rows();
  if (!flags_.self()) {
    const std::uint32_t columns = flags_.columns_per_dim;
    read_query_file(points.dtype(), points.dims(), progress);
    // A file without rows says nothing about its dims; take them from the other one.
    if (points.rows() == 0) {
      points = PointView(nullptr, points.dtype(), 0, queries_.dims() / columns, queries_.dims() / columns);
    }
    require_same_dims(flags_, points.dims(), queries_.dims());
  }
  read_value_files(points.rows(), progress);
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, points.dtype());

  BuildOptions build = flags_.build;
  build.times = &build_times_;
  build.progress = progress.callback();
  build.expected_queries = query_count_;
  index_ = Index::build(points, build);
}

void PreparedSearch::load(TerminalProgress& progress, const Check& check) {
  const IndexFileInfo info = describe_index_file(flags_.points_path);
  require_points_index(flags_.points_path, info);
  require_fitting_flags(flags_, info);
  const Stopwatch read_watch;
  query_count_ = info.rows;
  if (!flags_.self()) {
    read_query_file(info.dtype, info.dims, progress);
    require_same_dims(flags_, info.dims, queries_.dims());
  }
  read_value_files(info.rows, progress);
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, info.dtype);

  LoadOptions options;
  options.times = &build_times_;
  options.device = flags_.build.device;
  options.threads = flags_.build.threads;
  options.map = flags_.map;
  options.progress = progress.callback();
  index_ = Index::load(flags_.points_path, options);
  const bool has_points = !info.metric.is_of_directions();  // otherwise normalised rows only
  if (flags_.wants_columns() && has_points) columns_.points = io::table_of(index_->points(flags_.read.threads).view());
}

void PreparedSearch::read_query_file(DType dtype, std::uint32_t dims, TerminalProgress& progress) {
  io::Table* table = flags_.wants_columns() ? &columns_.queries : nullptr;
  queries_file_ = read_queries(flags_, points_file_.columns, dtype, table, progress.callback());
  queries_ = queries_file_->view();
  const bool own = !flags_.query.columns.empty();
  if (table != nullptr) complete_columns(*table, *queries_file_, own ? flags_.query.columns : flags_.read.columns);
  const std::uint32_t columns = flags_.columns_per_dim * dims;
  if (queries_.rows() == 0) queries_ = PointView(nullptr, dtype, 0, columns, columns);
  query_count_ = queries_.rows();
}

void PreparedSearch::read_value_files(std::uint64_t points, TerminalProgress& progress) {
  if (!flags_.allow_path.empty()) {
    allowed_ = read_allowed_points(flags_.allow_path, points, flags_.output, progress.callback());
  }
  if (!flags_.radius_path.empty()) {
    radii_ = read_query_radii(flags_.radius_path, query_count_, flags_.output, progress.callback());
  }
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
  report["build_ms"] = build_times_.total_ms;
  return report;
}

std::string PreparedSearch::engine_text() const {
  return fmt::format("{} on {}, {}", name_of(index_->engine()), index_->device().name(),
                     counted(static_cast<std::uint64_t>(threads_in_use(flags_.search.threads)), "thread"));
}

SearchTimes PreparedSearch::times() const {
  SearchTimes times;
  times.read_ms = read_ms_;
  times.is_loaded = loaded_;
  times.build = build_times_;
  return times;
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
