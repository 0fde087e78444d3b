// See search_flags.hpp.
#include "search_flags.hpp"

#include "interrupt.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::cli {
namespace {

constexpr const char* kEngines = "auto|brute|kdtree|covertree";

std::uint64_t rows_with_nonfinite(PointView points) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      if (!std::isfinite(points.at(i, d))) {
        ++count;
        break;
      }
    }
  }
  return count;
}

io::PointFile read_queries(const SearchFlags& flags, DType dtype, const ProgressCallback& progress) {
  io::ReadOptions options = flags.read;
  options.dtype = dtype;  // one search, one type: the points decide
  flags.output.explanation(fmt::format("queries are read as {}, the type of the points", name_of(dtype)));
  return read_input(flags.queries_path, options, flags.output, progress);
}

}  // namespace

std::vector<Argument> search_arguments(SearchFlags& flags) {
  return {{"POINTS", "FILE", "the points to search; - is standard input",
           [&flags](const std::string& path) { flags.points_path = path; }, true},
          {"QUERIES", "FILE", "whose neighbours are wanted; without it every point asks for its own",
           [&flags](const std::string& path) { flags.queries_path = path; }}};
}

Flag metric_flag(Metric& metric) {
  return {"--metric", "l2|l1|linf|lp:P|cosine", "how distances are measured; l2 by default",
          [&metric](const std::string& value) {
            try {
              metric = Metric::parse(value);
            } catch (const UsageError& error) {
              throw UsageError(fmt::format("--metric: {}", error.what()));
            }
          }};
}

Flag device_flag(Device& device) {
  return {"--device", "auto|cpu|cuda|cuda:N", "where the search runs; cpu by default",
          [&device](const std::string& value) {
            try {
              device = Device::parse(value);
            } catch (const UsageError& error) {
              throw UsageError(fmt::format("--device: {}", error.what()));
            }
          }};
}

Flag engine_flag(Engine& engine) {
  return {"--engine", kEngines, "how the search is done; auto takes the fastest that is there",
          [&engine](const std::string& value) {
            require_choice("--engine", kEngines, value);
            engine = parse_engine(value);
          }};
}

FlagGroup search_flags(SearchFlags& flags) {
  return {
      "Searching",
      {engine_flag(flags.build.engine),
       device_flag(flags.build.device),
       threads_flag(
           [&flags](int threads) { flags.search.threads = flags.build.threads = flags.read.threads = threads; }),
       metric_flag(flags.build.metric),
       {"--squared", "", "l2: report squared distances", [&flags](const std::string&) { flags.search.squared = true; }},
       {"--exclude-self", "", "without QUERIES: a point is not its own neighbour",
        [&flags](const std::string&) { flags.search.exclude_self = true; }},
       {"--skip-nonfinite", "", "leave out rows with NaN, infinity or missing values; the others keep their numbers",
        [&flags](const std::string&) {
          flags.search.skip_nonfinite = flags.build.skip_nonfinite = flags.read.missing_as_nan = true;
        }}}};
}

FlagGroup result_flags(SearchFlags& flags) {
  return {"Result",
          {{"-o,--out", "FILE", "write the result as .npz, .csv or .tsv; without it CSV goes to standard output",
            [&flags](const std::string& path) {
              check_result_path(path);
              flags.out = path;
            }},
           json_flag(flags.output, "print a report as JSON; the result itself is then written only with --out"),
           quiet_flag(flags.output),
           explain_flag(flags.output,
                        "say on standard error what was read, which engine and device were chosen, and why")}};
}

void check_search_flags(const SearchFlags& flags) {
  if (flags.points_path == "-" && flags.queries_path == "-") {
    throw UsageError("POINTS and QUERIES cannot both be standard input; put one of them into a file");
  }
  if (flags.search.exclude_self && !flags.self()) {
    throw UsageError("--exclude-self is for searches of the points among themselves; leave QUERIES out");
  }
  if (flags.output.json && flags.out == "-") {
    throw UsageError("--json and --out - would both write to standard output; give --out a file");
  }
}

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
    if (queries_.rows() == 0) queries_ = PointView(nullptr, points.dtype(), 0, points.dims(), points.dims());
    if (points.rows() == 0) points = PointView(nullptr, points.dtype(), 0, queries_.dims(), queries_.dims());
    if (queries_.dims() != points.dims()) {
      throw UsageError(fmt::format("{} has {}, but {} has {}; choose the columns to compare with --columns",
                                   flags.queries_path, counted(queries_.dims(), "dimension"), flags.points_path,
                                   counted(points.dims(), "dimension")));
    }
  }
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(queries_.rows(), points.dtype());

  const Stopwatch build_watch;
  BuildOptions build = flags.build;
  build.progress = progress.callback();
  index_ = Index::build(points, build);
  build_ms_ = build_watch.milliseconds();
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
  if (flags.build.skip_nonfinite) skipped_queries_ = flags.self() ? index_->skipped() : rows_with_nonfinite(queries_);
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
