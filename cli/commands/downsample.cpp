// kith downsample: fewer points of a cloud, by voxels, by farthest points or by a distance.
#include "commands/all_commands.hpp"

#include "cloud_flags.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "number_arguments.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"

#include <kith/apps/downsample.hpp>
#include <kith/error.hpp>
#include <kith/io/row_map_file.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <span>

namespace kith::cli {
namespace {

struct DownsampleFlags {
  CloudFlags cloud;
  apps::DownsampleOptions options;
  bool keep_given = false;
  bool start_given = false;
  std::string map_path;
  std::string count_column;
};

void check_flags(const DownsampleFlags& flags) {
  const apps::DownsampleOptions& options = flags.options;
  if (int(options.voxel.has_value()) + int(options.farthest.has_value()) + int(options.distance.has_value()) != 1) {
    throw UsageError("downsample: say how, by one of --voxel SIZE, --farthest N and --distance R");
  }
  if (flags.keep_given && !options.voxel) throw UsageError("--keep goes with --voxel");
  if (flags.start_given && !options.farthest) throw UsageError("--start goes with --farthest");
  const std::string path = flags.cloud.result_path();
  if (flags.cloud.output.json && (path == "-" || flags.map_path == "-")) {
    throw UsageError("--json, --out - and --map - would write to standard output together; give a file");
  }
  if (flags.map_path == "-" && path == "-") {
    throw UsageError("--out and --map would both write to standard output; give one of them a file");
  }
  require_own_files({{"--out", path}, {"--map", flags.map_path}}, {flags.cloud.points_path});
}

std::string rule_of(const apps::DownsampleOptions& options) {
  if (options.voxel) {
    const bool is_mean = options.keep == apps::VoxelKeep::mean;
    return fmt::format("voxels of {}, the {}{} of each", *options.voxel, apps::name_of(options.keep),
                       is_mean ? "" : " point");
  }
  if (options.farthest) return fmt::format("farthest points, from row {} on", options.start);
  return fmt::format("no two within {}", *options.distance);
}

void write_all(const DownsampleFlags& flags, const KeptColumns& columns, const apps::Downsampled& sampled,
               TerminalProgress& progress) {
  if (!flags.map_path.empty()) {
    const ExitOnInterrupt leave(flags.map_path == "-");
    io::write_row_map(flags.map_path, sampled.map, sampled.rows, progress.callback());
  }
  NewColumns fresh;
  if (flags.options.voxel && flags.options.keep == apps::VoxelKeep::mean) fresh.coordinates = &sampled.points;
  if (!flags.count_column.empty()) {
    fresh.columns.emplace_back(flags.count_column, std::span<const std::uint32_t>(sampled.counts));
  }
  write_cloud(flags.cloud, flags.cloud.result_path(), columns, sampled.rows, fresh, progress);
}

int run_downsample(DownsampleFlags flags) {
  check_flags(flags);
  const OutputFlags& output = flags.cloud.output;
  TerminalProgress progress(output.quiet);
  const auto [columns, read_ms] = read_cloud(flags.cloud, progress);
  const io::PointFile& file = columns.file();

  const Stopwatch watch;
  output.explanation(fmt::format("downsampling: {}", rule_of(flags.options)));
  flags.options.want_map = !flags.map_path.empty() || !flags.count_column.empty();
  flags.options.device = work_device(flags.options.device);
  take_common(flags.cloud, progress, flags.options);
  const MemoryLimit held(0, bytes_of(file.view()));
  const apps::Downsampled sampled = apps::downsample(file.view(), flags.options);
  const double downsample_ms = watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  write_all(flags, columns, sampled, progress);
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  if (output.json) {
    nlohmann::ordered_json json;
    json["points"] = file.points.rows();
    json["kept"] = sampled.points.rows();
    json["skipped_points"] = sampled.skipped;
    json["dims"] = file.points.dims();
    json["dtype"] = name_of(file.points.dtype());
    const auto or_null = [](const auto& value) { return value ? nlohmann::ordered_json(*value) : nullptr; };
    json["voxel"] = or_null(flags.options.voxel);
    json["keep"] = flags.options.voxel ? nlohmann::ordered_json(apps::name_of(flags.options.keep)) : nullptr;
    json["farthest"] = or_null(flags.options.farthest);
    json["distance"] = or_null(flags.options.distance);
    json["device"] = flags.options.device.name();
    json["threads"] = threads_in_use(flags.cloud.threads);
    json["read_ms"] = read_ms;
    json["downsample_ms"] = downsample_ms;
    json["write_ms"] = write_ms;
    write_to_stdout(json.dump(2) + "\n");
  }
  output.summary(fmt::format("{} of {} ({})\nread {}, downsample {}, write {}", readable_count(sampled.points.rows()),
                             counted(file.points.rows(), "point"), rule_of(flags.options), readable_duration(read_ms),
                             readable_duration(downsample_ms), readable_duration(write_ms)));
  if (sampled.skipped > 0) {
    output.note(fmt::format("{} with NaN or infinity were left out", counted(sampled.skipped, "point")));
  }
  const std::string path = flags.cloud.result_path();
  if (path != "-" && !path.empty()) output.summary(fmt::format("points in {}", path));
  if (!flags.map_path.empty() && flags.map_path != "-") output.summary(fmt::format("map in {}", flags.map_path));
  return 0;
}

FlagGroup rule_flags(DownsampleFlags& flags) {
  Flag keep = choice_flag("--keep", "mean|nearest|first",
                          "with --voxel: the mean of its points, the one nearest to it, or the first",
                          flags.options.keep, apps::parse_voxel_keep);
  keep.take = [&flags, take = keep.take](const std::string& value) {
    flags.keep_given = true;
    take(value);
  };
  return {
      "How to downsample",
      {{"--voxel", "SIZE", "one point per cube of this side; the grid begins at the origin",
        [&flags](const std::string& value) { flags.options.voxel = parse_distance("--voxel", value); }},
       keep,
       {"--farthest", "N", "N points, each the farthest from those before it",
        [&flags](const std::string& value) {
          flags.options.farthest = parse_whole("--farthest", value, 0, 0xfffffffe);
        }},
       {"--start", "ROW", "with --farthest: the row to begin with, counted from 0; 0 by default",
        [&flags](const std::string& value) {
          flags.options.start = parse_whole("--start", value, 0, 0xfffffffe);
          flags.start_given = true;
        }},
       {"--distance", "R", "points in order, each unless a kept one is within distance R, as kith dedupe --tolerance",
        [&flags](const std::string& value) { flags.options.distance = parse_distance("--distance", value); }},
       skip_rows_flag(flags.cloud, "skip rows with NaN, infinity or missing values"),
       work_device_flag(flags.options.device),
       cloud_threads_flag(flags.cloud),
       memory_flag()}};
}

}  // namespace

Command downsample_command() {
  const auto flags = std::make_shared<DownsampleFlags>();
  Command command;
  command.name = "downsample";
  command.summary = "take fewer points of a cloud: by voxels, farthest points or a distance";
  command.synopsis = "POINTS --voxel SIZE | --farthest N | --distance R [--out FILE] [--map FILE] [flags]";
  command.description =
      "With --voxel the points in each cube of a grid become one: their mean, the point nearest to the mean, or the "
      "first; other columns are those of the nearest or first point. With --farthest each point that is taken is the "
      "one farthest from those before it. With --distance no two points within it stay. Every other column of the file "
      "stays with its point and keeps its type.";
  command.arguments = {cloud_argument(flags->cloud)};
  FlagGroup result{"Result",
                   {cloud_out_flag(flags->cloud, "the points"),
                    {"--map", "FILE", "for each row of the input, its row in the result: .npy, .npz, .csv or .tsv",
                     Take(&flags->map_path, check_map_path)},
                    {"--counts", "COLUMN", "add a column of this name: how many points each one stands for",
                     [flags](const std::string& name) {
                       if (name.empty()) throw UsageError("--counts: the name of the column is empty");
                       flags->count_column = name;
                     }}}};
  for (Flag& flag :
       cloud_result_flags(flags->cloud, "print to standard error what was read and how it is downsampled")) {
    result.flags.push_back(std::move(flag));
  }
  command.groups = {rule_flags(*flags), result, input_flags(flags->cloud.read)};
  command.examples = {{"the mean of each cube of 10 cm", "kith downsample scan.ply --voxel 0.1 --out thin.ply"},
                      {"points of the file only", "kith downsample scan.ply --voxel 0.1 --keep nearest --out thin.ply"},
                      {"1000 points spread evenly", "kith downsample scan.ply --farthest 1000 --out few.ply"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->cloud.points_path, &flags->cloud.read}},
                           [flags] { return run_downsample(*flags); });
  };
  return command;
}

}  // namespace kith::cli
