// kith outliers: finds points that lie apart from the others, and removes or marks them.
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

#include <kith/apps/outliers.hpp>
#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <span>

namespace kith::cli {
namespace {

struct OutlierFlags {
  CloudFlags cloud;
  apps::OutlierOptions options;
  bool ratio_given = false;
  bool least_given = false;
  std::string removed_path;
  std::string flag_column;
};

void check_flags(const OutlierFlags& flags) {
  if (flags.options.neighbors.has_value() == flags.options.radius.has_value()) {
    throw UsageError("outliers: say how, by either --neighbors K or --radius R");
  }
  if (flags.ratio_given && !flags.options.neighbors) throw UsageError("--ratio goes with --neighbors");
  if (flags.least_given != flags.options.radius.has_value()) {
    throw UsageError("--radius and --min-neighbors go together");
  }
  const std::string path = flags.cloud.result_path();
  if (flags.cloud.output.json && (path == "-" || flags.removed_path == "-")) {
    throw UsageError("--json, --out - and --outliers - would write to standard output together; give a file");
  }
  if (flags.removed_path == "-" && path == "-") {
    throw UsageError("--out and --outliers would both write to standard output; give one of them a file");
  }
  require_own_files({{"--out", path}, {"--outliers", flags.removed_path}}, {flags.cloud.points_path});
}

std::string rule_of(const apps::OutlierOptions& options) {
  if (options.neighbors) {
    return fmt::format("mean distance to {} neighbours above mean + {} * deviation", *options.neighbors, options.ratio);
  }
  return fmt::format("fewer than {} others within {}", options.min_neighbors, *options.radius);
}

void write_all(const OutlierFlags& flags, const KeptColumns& columns, const apps::Outliers& found,
               TerminalProgress& progress) {
  if (!flags.removed_path.empty()) {
    std::vector<std::uint32_t> removed;
    for (std::uint32_t row = 0; row < found.flags.size(); ++row) {
      if (found.flags[row] != 0) removed.push_back(row);
    }
    write_cloud(flags.cloud, flags.removed_path, columns, removed, {}, progress);
  }
  if (flags.flag_column.empty()) {
    write_cloud(flags.cloud, flags.cloud.result_path(), columns, found.kept, {}, progress);
    return;
  }
  NewColumns fresh;
  fresh.columns.emplace_back(flags.flag_column, std::span<const std::uint8_t>(found.flags));
  write_cloud(flags.cloud, flags.cloud.result_path(), columns, every_row(found.flags.size()), fresh, progress);
}

int run_outliers(OutlierFlags flags) {
  check_flags(flags);
  const OutputFlags& output = flags.cloud.output;
  TerminalProgress progress(output.quiet);
  const auto [columns, read_ms] = read_cloud(flags.cloud, progress);
  const io::PointFile& file = columns.file();

  const Stopwatch watch;
  output.explanation(fmt::format("outliers: {}", rule_of(flags.options)));
  take_common(flags.cloud, progress, flags.options);
  const MemoryLimit held(0, bytes_of(file.view()));
  const apps::Outliers found = apps::outliers(file.view(), flags.options);
  const double outliers_ms = watch.milliseconds();
  const std::uint64_t removed = file.points.rows() - found.kept.size() - found.skipped;
  stop_if_interrupted();

  const Stopwatch write_watch;
  write_all(flags, columns, found, progress);
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  if (output.json) {
    nlohmann::ordered_json json;
    json["points"] = file.points.rows();
    json["kept"] = found.kept.size();
    json["outliers"] = removed;
    json["skipped_points"] = found.skipped;
    json["dims"] = file.points.dims();
    json["dtype"] = name_of(file.points.dtype());
    if (flags.options.neighbors) {
      json["neighbors"] = *flags.options.neighbors;
      json["ratio"] = flags.options.ratio;
      json["mean"] = found.mean;
      json["deviation"] = found.deviation;
      json["threshold"] = found.threshold;
    } else {
      json["radius"] = *flags.options.radius;
      json["min_neighbors"] = flags.options.min_neighbors;
    }
    json["threads"] = threads_in_use(flags.cloud.threads);
    json["read_ms"] = read_ms;
    json["outliers_ms"] = outliers_ms;
    json["write_ms"] = write_ms;
    write_to_stdout(json.dump(2) + "\n");
  }
  output.summary(fmt::format("{} of {} ({})\nread {}, search {}, write {}", counted(removed, "outlier"),
                             counted(file.points.rows(), "point"), rule_of(flags.options), readable_duration(read_ms),
                             readable_duration(outliers_ms), readable_duration(write_ms)));
  if (flags.options.neighbors)
    output.summary(fmt::format("mean distance {}, threshold {}", found.mean, found.threshold));
  if (found.skipped > 0) {
    output.note(fmt::format("{} with NaN or infinity were left out", counted(found.skipped, "point")));
  }
  const std::string path = flags.cloud.result_path();
  if (path != "-" && !path.empty()) output.summary(fmt::format("points in {}", path));
  if (!flags.removed_path.empty() && flags.removed_path != "-") {
    output.summary(fmt::format("outliers in {}", flags.removed_path));
  }
  return 0;
}

FlagGroup rule_flags(OutlierFlags& flags) {
  return {"What is an outlier",
          {{"--neighbors", "K", "compare the mean distance to the K nearest others with that of all points",
            [&flags](const std::string& value) {
              flags.options.neighbors = static_cast<std::uint32_t>(parse_whole("--neighbors", value, 1, 1000000));
            }},
           {"--ratio", "S", "with --neighbors: keep up to mean + S * standard deviation; 2 by default",
            [&flags](const std::string& value) {
              flags.options.ratio = parse_number("--ratio", value);
              flags.ratio_given = true;
            }},
           {"--radius", "R", "with --min-neighbors: count the other points within distance R",
            [&flags](const std::string& value) { flags.options.radius = parse_distance("--radius", value); }},
           {"--min-neighbors", "M", "with --radius: keep points with at least M others",
            [&flags](const std::string& value) {
              flags.options.min_neighbors =
                  static_cast<std::uint32_t>(parse_whole("--min-neighbors", value, 0, 0xfffffffe));
              flags.least_given = true;
            }},
           skip_rows_flag(flags.cloud, "skip rows with NaN, infinity or missing values"),
           device_flag(flags.options.device),
           cloud_threads_flag(flags.cloud),
           memory_flag()}};
}

}  // namespace

Command outliers_command() {
  const auto flags = std::make_shared<OutlierFlags>();
  Command command;
  command.name = "outliers";
  command.summary = "remove or mark points that lie apart from the others";
  command.synopsis = "POINTS --neighbors K [--ratio S] | --radius R --min-neighbors M [--out FILE] [flags]";
  command.description =
      "With --neighbors the mean distance of each point to its K nearest others is compared with that of all points: "
      "outliers are above mean + S * standard deviation. With --radius outliers have fewer than M others within R. "
      "Writes the points that are left, with all their columns; --outliers writes the others, --flags marks them "
      "instead of removing them.";
  command.arguments = {cloud_argument(flags->cloud)};
  FlagGroup result{"Result",
                   {cloud_out_flag(flags->cloud, "the points that are left"),
                    {"--outliers", "FILE", "write the outliers, and rows that were skipped, to this file",
                     [flags](const std::string& path) {
                       check_points_path(path);
                       flags->removed_path = path;
                     }},
                    {"--flags", "COLUMN", "keep all points, and add a column of this name: 1 for outliers, else 0",
                     [flags](const std::string& value) {
                       if (value.empty()) throw UsageError("--flags: the name of the column is empty");
                       flags->flag_column = value;
                     }}}};
  for (Flag& flag : cloud_result_flags(flags->cloud, "print to standard error what was read and what is an outlier")) {
    result.flags.push_back(std::move(flag));
  }
  command.groups = {rule_flags(*flags), result, input_flags(flags->cloud.read)};
  command.examples = {
      {"points far from their 20 nearest", "kith outliers scan.ply --neighbors 20 --ratio 2 --out clean.ply"},
      {"points with fewer than 5 others within 10 cm",
       "kith outliers scan.ply --radius 0.1 --min-neighbors 5 --out clean.ply --outliers noise.ply"},
      {"marked, not removed", "kith outliers scan.ply --neighbors 20 --flags noise --out marked.ply"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->cloud.points_path, &flags->cloud.read}},
                           [flags] { return run_outliers(*flags); });
  };
  add_profile_flag(command, flags->cloud.output);
  return command;
}

}  // namespace kith::cli
