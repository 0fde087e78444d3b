// kith distance: how far one point cloud is from another.
#include "commands/all_commands.hpp"

#include "cloud_flags.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "number_arguments.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"

#include <kith/apps/cloud_distance.hpp>
#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <span>

namespace kith::cli {
namespace {

struct DistanceFlags {
  CloudFlags cloud;
  std::string other_path;
  std::string result_path;
  apps::CloudDistanceOptions options;
};

void check_flags(const DistanceFlags& flags) {
  if (flags.cloud.points_path == "-" && flags.other_path == "-") {
    throw UsageError("A and B would both be read from standard input; give one of them a file");
  }
  if (flags.result_path == "-") {
    throw UsageError("--out: the figures go to standard output; give the points a file");
  }
  require_own_files({{"--out", flags.result_path}}, {flags.cloud.points_path, flags.other_path});
}

/// Points of f32 as f64, where the other cloud is of f64.
PointSet widened(PointView points) {
  PointSet wide(DType::f64, points.rows(), points.dims());
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) wide.values<double>()[i * points.dims() + d] = points.at(i, d);
  }
  return wide;
}

nlohmann::ordered_json or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json figures_of(const apps::DirectedDistance& found, const std::vector<double>& percentiles) {
  nlohmann::ordered_json json;
  json["points"] = found.distances.size();
  json["matched"] = found.matched;
  json["unmatched"] = found.unmatched;
  json["skipped"] = found.skipped;
  json["mean"] = or_null(found.mean);
  json["mean_squared"] = or_null(found.mean_squared);
  json["rms"] = or_null(found.rms);
  json["max"] = or_null(found.max);
  json["max_row"] = found.matched > 0 ? nlohmann::ordered_json(found.max_row) : nlohmann::ordered_json(nullptr);
  json["percentiles"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < percentiles.size(); ++i) {
    json["percentiles"][fmt::format("{}", percentiles[i])] = or_null(found.percentiles[i]);
  }
  return json;
}

std::string figures_text(const apps::DirectedDistance& found, const std::vector<double>& percentiles) {
  std::string text = fmt::format("matched {} of {}\n", found.matched, found.distances.size());
  if (found.matched == 0) return text;
  text += fmt::format("mean {}\nrms {}\n", found.mean, found.rms);
  for (std::size_t i = 0; i < percentiles.size(); ++i) {
    text += fmt::format("percentile {} {}\n", percentiles[i], found.percentiles[i]);
  }
  return text + fmt::format("max {} (row {})\n", found.max, found.max_row);
}

std::string report_text(const apps::CloudDistance& found, const std::vector<double>& percentiles) {
  if (!found.backward) return figures_text(found.forward, percentiles);
  std::string text = "from A to B\n" + figures_text(found.forward, percentiles) + "from B to A\n" +
                     figures_text(*found.backward, percentiles);
  if (found.forward.matched > 0 && found.backward->matched > 0) {
    text += fmt::format("both\nchamfer (sum of means) {}\nchamfer (sum of means of squares) {}\nhausdorff {}\n",
                        found.chamfer, found.chamfer_squared, found.hausdorff);
  }
  return text;
}

int run_distance(DistanceFlags flags) {
  check_flags(flags);
  const OutputFlags& output = flags.cloud.output;
  TerminalProgress progress(output.quiet);
  const Stopwatch read_watch;
  if (flags.result_path.empty()) {
    if (!flags.cloud.columns.carry.empty()) throw UsageError("--carry goes with --out, the file that gets the columns");
    flags.cloud.columns.drop = {"all"};
  }
  const KeptColumns columns(flags.cloud.points_path, flags.cloud.columns, flags.cloud.read, output,
                            progress.callback());
  const io::PointFile other = read_input(flags.other_path, flags.cloud.read, output, progress.callback());
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch watch;
  PointView first = columns.file().view(), second = other.view();
  PointSet wide;
  if (first.dtype() != second.dtype()) {
    PointView& narrow = first.dtype() == DType::f32 ? first : second;
    wide = widened(narrow);
    narrow = wide.view();
    output.note("one cloud is of f32, the other of f64; distances are computed in f64");
  }
  take_common(flags.cloud, progress, flags.options);
  const MemoryLimit held(0, bytes_of(first) + bytes_of(second));
  const apps::CloudDistance found = apps::cloud_distance(first, second, flags.options);
  const double distance_ms = watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  if (!flags.result_path.empty()) {
    NewColumns fresh;
    fresh.columns.emplace_back("distance", std::span<const double>(found.forward.distances));
    if (first.dtype() == DType::f32) fresh.columns[0] = io::rounded(fresh.columns[0], io::ColumnType::f32);
    write_cloud(flags.cloud, flags.result_path, columns, every_row(first.rows()), fresh, progress);
  }
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  if (output.json) {
    nlohmann::ordered_json json;
    json["dims"] = first.dims();
    json["dtype"] = name_of(first.dtype());
    json["forward"] = figures_of(found.forward, flags.options.percentiles);
    if (found.backward) {
      json["backward"] = figures_of(*found.backward, flags.options.percentiles);
      json["chamfer"] = or_null(found.chamfer);
      json["chamfer_squared"] = or_null(found.chamfer_squared);
      json["hausdorff"] = or_null(found.hausdorff);
    }
    json["threads"] = threads_in_use(flags.cloud.threads);
    json["read_ms"] = read_ms;
    json["distance_ms"] = distance_ms;
    json["write_ms"] = write_ms;
    write_to_stdout(json.dump(2) + "\n");
  } else {
    write_to_stdout(report_text(found, flags.options.percentiles));
  }
  output.summary(fmt::format("read {}, search {}, write {}", readable_duration(read_ms), readable_duration(distance_ms),
                             readable_duration(write_ms)));
  const std::uint64_t skipped = found.forward.skipped + found.forward.skipped_targets;
  if (skipped > 0) output.note(fmt::format("{} with NaN or infinity were left out", counted(skipped, "point")));
  if (!flags.result_path.empty()) output.summary(fmt::format("points in {}", flags.result_path));
  return 0;
}

FlagGroup what_flags(DistanceFlags& flags) {
  return {
      "What to compute",
      {{"--symmetric", "", "also from B to A, the Chamfer distances and the Hausdorff distance",
        &flags.options.symmetric},
       {"--percentiles", "P,…", "percentiles of the distances, 0 to 100: \"50,90,95,99\"",
        [&flags](const std::string& value) {
          flags.options.percentiles.clear();
          for (const std::string& part : split(value, ',')) {
            flags.options.percentiles.push_back(parse_number("--percentiles", part));
          }
        }},
       {"--max-distance", "R", "points farther than R from the other cloud count as unmatched, in no other figure",
        [&flags](const std::string& value) { flags.options.max_distance = parse_distance("--max-distance", value); }},
       skip_rows_flag(flags.cloud, "skip rows with NaN, infinity or missing values, in both files"),
       device_flag(flags.options.device),
       cloud_threads_flag(flags.cloud),
       memory_flag()}};
}

}  // namespace

Command distance_command() {
  const auto flags = std::make_shared<DistanceFlags>();
  Command command;
  command.name = "distance";
  command.summary = "say how far one point cloud is from another";
  command.synopsis = "A B [--symmetric] [--percentiles P,…] [--max-distance R] [--out FILE] [flags]";
  command.description =
      "Finds for each point of A the nearest point of B, and prints mean, root mean square, percentiles and maximum "
      "(the "
      "directed Hausdorff distance) of the distances. With --symmetric also from B to A, with both Chamfer distances "
      "and "
      "the Hausdorff distance. --out writes the points of A with a column \"distance\".";
  command.arguments = {
      {"A", "FILE", "the points that are measured; - is standard input", &flags->cloud.points_path, true},
      {"B", "FILE", "the points that they are measured against", &flags->other_path, true}};
  FlagGroup result{"Result",
                   {{"-o,--out", "FILE", "output file for the points of A with their distances: .csv, .npz, .ply, .pcd",
                     [flags](const std::string& path) {
                       check_points_path(path);
                       flags->result_path = path;
                     }}}};
  for (Flag& flag : cloud_result_flags(flags->cloud, "print to standard error what was read")) {
    if (flag.names == "--json") flag.text = "print the figures as JSON";
    result.flags.push_back(std::move(flag));
  }
  command.groups = {what_flags(*flags), result, input_flags(flags->cloud.read)};
  command.examples = {
      {"how well two scans agree", "kith distance scan.ply map.ply --percentiles 50,95 --max-distance 1"},
      {"Chamfer and Hausdorff distances", "kith distance made.ply true.ply --symmetric --json"},
      {"where a building changed", "kith distance new.ply old.ply --out changed.ply"}};
  command.run = [flags] {
    return run_naming_rows(
        {{"first", flags->cloud.points_path, &flags->cloud.read}, {"second", flags->other_path, &flags->cloud.read}},
        [flags] { return run_distance(*flags); });
  };
  add_profile_flag(command, flags->cloud.output);
  return command;
}

}  // namespace kith::cli
