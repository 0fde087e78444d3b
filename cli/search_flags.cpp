// See search_flags.hpp.
#include "search_flags.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {
namespace {

constexpr const char* kEngines = "auto|brute|kdtree|covertree";

}  // namespace

std::vector<Argument> search_arguments(SearchFlags& flags) {
  return {{"POINTS", "FILE", "the points to search, or an index from kith build; - is standard input",
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
  Flag metric = metric_flag(flags.build.metric);
  metric.take = [&flags, take = metric.take](const std::string& value) {
    flags.metric_given = true;
    take(value);
  };
  return {
      "Searching",
      {engine_flag(flags.build.engine),
       device_flag(flags.build.device),
       threads_flag(
           [&flags](int threads) { flags.search.threads = flags.build.threads = flags.read.threads = threads; }),
       metric,
       {"--squared", "", "l2: report squared distances", [&flags](const std::string&) { flags.search.squared = true; }},
       {"--exclude-self", "", "without QUERIES: a point is not its own neighbour",
        [&flags](const std::string&) { flags.search.exclude_self = true; }},
       {"--skip-nonfinite", "", "leave out rows with NaN, infinity or missing values; the others keep their numbers",
        [&flags](const std::string&) {
          flags.search.skip_nonfinite = flags.build.skip_nonfinite = flags.read.missing_as_nan = true;
        }},
       {"--map", "", "POINTS is an index that you trust: search the file where it lies, unchecked",
        [&flags](const std::string&) { flags.map = true; }}}};
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

}  // namespace kith::cli
