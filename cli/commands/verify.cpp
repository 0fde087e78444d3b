// kith verify: checks the result of a search against the plain definition; trees are handed to verify_tree, indexes to
// verify_index.
#include "commands/all_commands.hpp"

#include "commands/verify_parts.hpp"
#include "profile_flag.hpp"
#include "value_file.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "query_file.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/verify_neighbors.hpp>
#include <kith/error.hpp>
#include <kith/index_file.hpp>
#include <kith/io/neighbors_file.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kith::cli {
namespace {

using Found = std::variant<Neighbors, NeighborLists>;

/// How the result was bounded, if it is that of a radius search.
using Bound = std::variant<std::monostate, double, std::vector<double>>;

struct VerifyFlags {
  std::string neighbors_path;
  std::string points_path;
  std::string queries_path;
  bool metric_given = false;
  std::optional<double> radius;
  std::string radius_path;  ///< a file with a radius per query; empty: one for all
  std::string allow_path;   ///< a file with 0 or 1 per point; empty: all could be found
  std::vector<apps::PeriodicAxis> axes;
  std::optional<Device> device;
  io::ReadOptions read;
  QueryFlags query;
  apps::VerifyOptions options;
  SequenceFlags sequences;
  OutputFlags output;
};

void check_flags(const VerifyFlags& flags) {
  if (flags.points_path.empty()) {
    throw UsageError("verify: POINTS is required; usage: kith verify FILE POINTS or kith verify FILE --points POINTS");
  }
  if (flags.points_path == "-" && flags.queries_path == "-") {
    throw UsageError("POINTS and QUERIES cannot both be standard input; put one of them into a file");
  }
  if (flags.radius && !flags.radius_path.empty()) {
    throw UsageError("--radius and --radius-file both say how far was looked; leave one of them out");
  }
  require_queries_for(flags.query, flags.queries_path);
  if (flags.neighbors_path == "-") throw UsageError("NEIGHBORS cannot be standard input; give an .npz file");
  if ((flags.options.exclude_self || flags.options.earlier_only) && !flags.queries_path.empty()) {
    throw UsageError(fmt::format("{} is for searches of the points among themselves; leave QUERIES out",
                                 flags.options.exclude_self ? "--exclude-self" : "--earlier-only"));
  }
}

void check_kind(const VerifyFlags& flags, const Found& found) {
  const bool lists = std::holds_alternative<NeighborLists>(found);
  const bool is_bounded = flags.radius || !flags.radius_path.empty();
  if (lists && !is_bounded) {
    throw UsageError(fmt::format("{} is the result of a radius search; give its radius with --radius or --radius-file",
                                 flags.neighbors_path));
  }
  if (!lists && is_bounded) {
    throw UsageError(fmt::format("{} holds k nearest neighbours, not a radius search; leave {} out",
                                 flags.neighbors_path, flags.radius ? "--radius" : "--radius-file"));
  }
  if (!lists && flags.options.max_neighbors > 0) {
    throw UsageError("--max-neighbors goes with the result of a radius search only");
  }
  if (lists && !std::isinf(flags.options.max_distance)) {
    throw UsageError("--within goes with k nearest neighbours; a radius search has its --radius");
  }
  if (lists && flags.options.eps != 0) {
    throw UsageError("--eps and --max-leaves go with k nearest neighbours; a radius search is exact");
  }
}

std::string checked_text(const VerifyFlags& flags, const Found& found, const apps::Verdict& verdict, PointView points) {
  const std::uint64_t queries = std::visit([](const auto& lists) { return lists.queries(); }, found);
  const std::string what = flags.radius                 ? fmt::format("all within {}", *flags.radius)
                           : !flags.radius_path.empty() ? "all within radii of their own"
                                                        : counted(std::get<Neighbors>(found).k(), "nearest neighbour");
  return fmt::format("{} of {} checked against {} ({}, {}{}{})", readable_count(verdict.checked),
                     counted(queries, "list"), counted(points.rows(), "point"), what, flags.options.metric.name(),
                     flags.options.squared ? ", squared" : "", flags.options.exclude_self ? ", self excluded" : "");
}

apps::Verdict check(const VerifyFlags& flags, const Found& found, const Bound& bound, PointView points,
                    PointView queries) {
  const MemoryLimit held(0, bytes_of(points) + bytes_of(queries));
  if (const auto* radius = std::get_if<double>(&bound)) {
    return apps::verify_neighbors(std::get<NeighborLists>(found), *radius, points, queries, flags.options);
  }
  if (const auto* radii = std::get_if<std::vector<double>>(&bound)) {
    return apps::verify_neighbors(std::get<NeighborLists>(found), *radii, points, queries, flags.options);
  }
  return apps::verify_neighbors(std::get<Neighbors>(found), points, queries, flags.options);
}

/// The points of an index were searched with its metric, and without the rows that it left out.
void take_over_index(VerifyFlags& flags) {
  const IndexFileInfo info = describe_index_file(flags.points_path);
  require_points_index(flags.points_path, info);
  if (flags.metric_given && flags.options.metric != info.metric) {
    throw UsageError(fmt::format("{} is an index for {}; leave --metric {} out", flags.points_path, info.metric.name(),
                                 flags.options.metric.name()));
  }
  if (!flags.axes.empty()) {
    throw UsageError(fmt::format("{} is an index that has its period; leave --period out", flags.points_path));
  }
  if (!flags.options.metric_params.empty()) {
    throw UsageError(
        fmt::format("{} is an index that has its parameters; leave --metric-params out", flags.points_path));
  }
  flags.options.period = info.period;
  flags.options.metric_params = info.metric_params;
  flags.options.metric = info.metric;
  flags.options.skip_nonfinite = true;
}

int run_verify(VerifyFlags flags) {
  if (is_index_file(flags.neighbors_path)) {
    return verify_index({flags.neighbors_path, flags.points_path, flags.read,
                         flags.device.value_or(Device::automatic()), flags.options.threads, flags.output,
                         flags.sequences});
  }
  if (flags.sequences.metric || flags.sequences.reading_given()) {
    check_flags(flags);
    return verify_sequence_result(
        {flags.neighbors_path, flags.points_path, flags.queries_path, flags.radius, flags.options}, flags.sequences,
        flags.output);
  }
  check_flags(flags);
  if (io::is_tree_file(flags.neighbors_path)) {
    return verify_tree_file(flags.neighbors_path, flags.points_path, flags.read,
                            work_device(flags.device.value_or(Device::cpu())), flags.output);
  }
  if (flags.device) throw UsageError("--device is for index files and trees; results are checked on the CPU");
  if (is_index_file(flags.points_path)) take_over_index(flags);
  if (is_tree_input(flags.points_path, flags.read)) flags.options.skip_nonfinite = true;
  TerminalProgress progress(flags.output.quiet);
  const Stopwatch read_watch;
  const Found found = io::read_neighbors(flags.neighbors_path);
  stop_if_interrupted();
  check_kind(flags, found);
  // The search may have converted the points; the type of its distances tells to what.
  if (!flags.read.dtype) flags.read.dtype = std::visit([](const auto& lists) { return lists.dtype(); }, found);
  const io::PointFile points = read_input(flags.points_path, flags.read, flags.output, progress.callback());
  io::PointFile queries;
  if (!flags.queries_path.empty()) {
    io::ReadOptions read = flags.read;
    queries = read_query_points(flags.queries_path, flags.query, read, {flags.points_path, points.columns},
                                flags.output, progress.callback());
  }
  std::vector<std::uint64_t> allowed;
  if (!flags.allow_path.empty()) {
    allowed = read_row_mask("--allow", flags.allow_path, points.points.rows(), flags.output, progress.callback());
    flags.options.allowed = allowed;
  }
  const PointView asked = flags.queries_path.empty() ? points.view() : queries.view();
  Bound bound;
  if (flags.radius) bound = *flags.radius;
  if (!flags.radius_path.empty()) {
    bound = read_query_radii(flags.radius_path, asked.rows(), flags.output, progress.callback());
  }
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch check_watch;
  flags.options.progress = progress.callback();
  const apps::Verdict verdict = check(flags, found, bound, points.view(), asked);
  const double check_ms = check_watch.milliseconds();
  stop_if_interrupted();
  progress.erase();

  if (flags.output.json) {
    nlohmann::ordered_json report;
    report["checked"] = verdict.checked;
    report["wrong"] = verdict.wrong;
    report["first_violation"] = verdict.first_violation;
    report["points"] = points.points.rows();
    report["queries"] = asked.rows();
    report["metric"] = flags.options.metric.name();
    report["read_ms"] = read_ms;
    report["check_ms"] = check_ms;
    write_to_stdout(report.dump(2) + "\n");
  }
  const std::string checked = checked_text(flags, found, verdict, points.view());
  if (verdict.wrong > 0) {
    throw BadData(fmt::format("{}: {} wrong, {}; first: {}", flags.neighbors_path, counted(verdict.wrong, "list"),
                              checked, verdict.first_violation));
  }
  if (!flags.output.json && !flags.output.quiet) {
    write_to_stdout(fmt::format("right: {}\n", checked));
    flags.output.summary(fmt::format("read {}, check {}", readable_duration(read_ms), readable_duration(check_ms)));
  }
  return 0;
}

void take_points(VerifyFlags& flags, const std::string& path) {
  if (!flags.points_path.empty()) throw UsageError("verify: the points are given twice, as POINTS and with --points");
  flags.points_path = path;
}

FlagGroup check_flag_group(VerifyFlags& flags) {
  Flag metric = any_metric_flag(flags.options.metric, flags.sequences, &flags.metric_given);
  return {
      "Search options (as they were given to the search)",
      {{"-r,--radius", "R", "the radius, if NEIGHBORS is the result of a radius search",
        [&flags](const std::string& value) { flags.radius = parse_distance("--radius", value); }},
       {"--radius-file", "FILE", "the radius of each query, if each had its own", &flags.radius_path},
       whole_flag("--max-neighbors", "M", "the limit on neighbours of the radius search", flags.options.max_neighbors,
                  1),
       {"--within", "R", "the largest distance allowed for neighbours",
        [&flags](const std::string& value) { flags.options.max_distance = parse_distance("--within", value); }},
       {"--eps", "E", "the distances may be up to 1 + E times the true ones, unless they are certified",
        [&flags](const std::string& value) { flags.options.eps = parse_distance("--eps", value); }},
       {"--max-leaves", "N", "the number of leaves was limited: only certified answers must be exact",
        [&flags](const std::string& value) {
          parse_whole("--max-leaves", value, 1, std::numeric_limits<std::uint32_t>::max());
          flags.options.eps = std::numeric_limits<double>::infinity();
        }},
       {"--allow", "FILE", "only points marked 1 in this file were searched", &flags.allow_path},
       {"--earlier-only", "", "each point searched only points with lower row numbers", &flags.options.earlier_only},
       period_flag(flags.axes, flags.options.period),
       metric,
       metric_params_flag(flags.options.metric_params),
       {"--squared", "", "the distances are squared", &flags.options.squared},
       {"--exclude-self", "", "no point is its own neighbour", &flags.options.exclude_self},
       {"--skip-nonfinite", "", "rows with NaN, infinity or missing values were skipped",
        [&flags](const std::string&) { flags.options.skip_nonfinite = flags.read.missing_as_nan = true; }}}};
}

}  // namespace

Command verify_command() {
  const auto flags = std::make_shared<VerifyFlags>();
  Command command;
  command.name = "verify";
  command.summary = "check the result of a search, an index or an exported tree";
  command.synopsis = "NEIGHBORS POINTS [QUERIES] [--sample N] [--radius R] [flags] | INDEX [--points FILE]";
  command.description =
      "Recomputes the answer from the definition, without any search engine, and compares it byte for byte. Exits with "
      "0 if everything matches and with 3 if not, naming the first wrong list. A full check looks at every pair; "
      "--sample N checks N lists chosen by --seed. Trees from kith export are recognised and checked node by node. "
      "Index files are checked too, with exit code 4 if one is wrong.";
  command.arguments = {
      {"NEIGHBORS", "FILE", "the .npz file that kith knn, kith radius or kith export wrote, or an index",
       &flags->neighbors_path, true},
      {"POINTS", "FILE", "the points that were searched or exported, or an index of them",
       [flags](const std::string& path) { take_points(*flags, path); }},
      {"QUERIES", "FILE", "the queries, if there were any", &flags->queries_path}};
  command.groups = {check_flag_group(*flags),
                    {"Checking",
                     {{"--points", "FILE", "the points, as a flag instead of an argument",
                       [flags](const std::string& path) { take_points(*flags, path); }},
                      whole_flag("--sample", "N", "check only N lists; 0, the default, checks all",
                                 flags->options.sample, 0, std::numeric_limits<std::uint64_t>::max()),
                      seed_flag(flags->options.seed, "seed for --sample; 1 by default"),
                      {"--device", "auto|cpu|cuda|cuda:N",
                       "where an index or a tree is checked; auto, the default, takes a GPU for large indexes",
                       [flags](const std::string& value) {
                         Device device;
                         device_flag(device).take(value);
                         flags->device = device;
                       }},
                      threads_flag([flags](int threads) { flags->options.threads = flags->read.threads = threads; }),
                      memory_flag(),
                      json_flag(flags->output, "print the verdict as JSON"),
                      quiet_flag(flags->output),
                      explain_flag(flags->output, "print to standard error what was read")}},
                    input_flags(flags->read),
                    query_flags(flags->query),
                    sequence_flags(flags->sequences)};
  command.examples = {{"check a small result completely", "kith verify near.npz points.csv"},
                      {"check a thousand lists of a large result", "kith verify near.npz scan.npy --sample 1000"},
                      {"check an index, and that it holds these points", "kith verify scan.kith --points scan.npy"},
                      {"an index of words", "kith verify words.kith --points words.txt"},
                      {"the nearest words of each word", "kith verify near.npz words.txt --metric edit --exclude-self"},
                      {"an exported tree", "kith verify tree.npz --points scan.npy"},
                      {"a radius search without self", "kith verify near.npz scan.npy --radius 0.5 --exclude-self"}};
  command.run = [flags] { return run_verify(*flags); };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
