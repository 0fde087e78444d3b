// kith transform: moves points by a pose, and turns their normals along.
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
#include "turned_columns.hpp"

#include <kith/apps/transform.hpp>
#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <memory>
#include <optional>

namespace kith::cli {
namespace {

struct TransformFlags {
  CloudFlags cloud;
  std::string pose_path;
  std::string pose_out;
  std::optional<double> degrees;
  std::optional<std::array<double, 3>> translation;
  bool inverse = false;
  Device device = Device::cpu();
};

void check_flags(const TransformFlags& flags) {
  if (flags.pose_path.empty() && !flags.degrees && !flags.translation) {
    throw UsageError("transform: say how: --pose FILE, --rotate-z DEGREES or --translate X,Y,Z");
  }
  if (flags.cloud.points_path == "-" && flags.pose_path == "-") {
    throw UsageError("POINTS and --pose would both be read from standard input; give one of them a file");
  }
  if (flags.cloud.output.json && flags.cloud.result_path() == "-") {
    throw UsageError("--json and --out - would write to standard output together; give a file");
  }
  if (flags.pose_out == "-" && (flags.cloud.output.json || flags.cloud.result_path() == "-")) {
    throw UsageError("--write-pose - would write to standard output together with others; give a file");
  }
  require_own_files({{"--out", flags.cloud.result_path()}, {"--write-pose", flags.pose_out}},
                    {flags.cloud.points_path, flags.pose_path});
}

std::array<double, 3> parse_translation(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 2 && parts.size() != 3) {
    throw UsageError(fmt::format("--translate: \"{}\" is not X,Y,Z, or X,Y in a plane", text));
  }
  std::array<double, 3> by{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    by[i] = parse_number("--translate", parts[i]);
    if (!std::isfinite(by[i])) throw UsageError(fmt::format("--translate: \"{}\" must be finite", parts[i]));
  }
  return by;
}

/// The file, then the turn, then the translation; all of it undone with --inverse.
apps::Pose pose_of(const TransformFlags& flags) {
  apps::Pose pose;
  if (!flags.pose_path.empty()) pose = io::read_pose(flags.pose_path);
  if (flags.degrees) {
    const apps::Pose turn = apps::rotation_about_z(*flags.degrees);
    pose = flags.pose_path.empty() ? turn : apps::then(pose, turn);
  }
  if (flags.translation) {
    for (std::uint32_t i = 0; i < 3; ++i) pose(i, 3) += (*flags.translation)[i];
  }
  return flags.inverse ? apps::inverse(pose) : pose;
}

std::string pose_text(const apps::Pose& pose) {
  std::string text;
  for (std::uint32_t i = 0; i < 4; ++i) {
    text += fmt::format("{}{} {} {} {}", i == 0 ? "" : "\n", pose(i, 0), pose(i, 1), pose(i, 2), pose(i, 3));
  }
  return text;
}

int run_transform(const TransformFlags& flags) {
  check_flags(flags);
  const OutputFlags& output = flags.cloud.output;
  const apps::Pose pose = pose_of(flags);
  TerminalProgress progress(output.quiet);
  const auto [columns, read_ms] = read_cloud(flags.cloud, progress);
  const io::PointFile& file = columns.file();

  const Stopwatch watch;
  output.explanation("the pose that is applied:\n" + pose_text(pose));
  apps::TransformOptions options{.device = work_device(flags.device)};
  take_common(flags.cloud, progress, options);
  const PointSet moved = apps::transform(file.view(), pose, options);
  NewColumns fresh{&moved};
  std::vector<std::string> turned;
  fresh.columns = turned_normals(columns, pose, options, turned);
  const double transform_ms = watch.milliseconds();
  if (!turned.empty()) output.explanation(fmt::format("turned along: {}", fmt::join(turned, ", ")));
  stop_if_interrupted();

  const Stopwatch write_watch;
  if (!flags.pose_out.empty()) io::write_pose(flags.pose_out, pose);
  write_cloud(flags.cloud, flags.cloud.result_path(), columns, every_row(file.points.rows()), fresh, progress);
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  if (output.json) {
    nlohmann::ordered_json json;
    json["points"] = file.points.rows();
    json["dims"] = file.points.dims();
    json["dtype"] = name_of(file.points.dtype());
    for (std::uint32_t i = 0; i < 4; ++i) json["pose"].push_back({pose(i, 0), pose(i, 1), pose(i, 2), pose(i, 3)});
    json["turned_columns"] = turned;
    json["device"] = options.device.name();
    json["threads"] = threads_in_use(flags.cloud.threads);
    json["read_ms"] = read_ms;
    json["transform_ms"] = transform_ms;
    json["write_ms"] = write_ms;
    write_to_stdout(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  output.summary(fmt::format("{} moved\nread {}, transform {}, write {}", counted(file.points.rows(), "point"),
                             readable_duration(read_ms), readable_duration(transform_ms), readable_duration(write_ms)));
  const std::string path = flags.cloud.result_path();
  if (path != "-" && !path.empty()) output.summary(fmt::format("points in {}", path));
  if (!flags.pose_out.empty()) output.summary(fmt::format("pose in {}", flags.pose_out));
  return 0;
}

FlagGroup pose_flags(TransformFlags& flags) {
  return {"How to move",
          {{"--pose", "FILE", "the pose: 4 rows of 4 numbers as text, .npy or .json; 3 rows of 4 and KITTI's lines too",
            &flags.pose_path},
           {"--rotate-z", "DEGREES", "turn about the z axis, counter-clockwise seen from above; after --pose",
            [&flags](const std::string& value) { flags.degrees = parse_number("--rotate-z", value); }},
           {"--translate", "X,Y,Z", "move by this; after --pose and --rotate-z. X,Y for points in a plane",
            [&flags](const std::string& value) { flags.translation = parse_translation(value); }},
           {"--inverse", "", "undo the whole motion instead", &flags.inverse},
           skip_rows_flag(flags.cloud, "let rows with NaN, infinity or missing values become NaN in all coordinates"),
           work_device_flag(flags.device),
           cloud_threads_flag(flags.cloud)}};
}

}  // namespace

Command transform_command() {
  const auto flags = std::make_shared<TransformFlags>();
  Command command;
  command.name = "transform";
  command.summary = "move points by a pose";
  command.synopsis = "POINTS --pose FILE [--inverse] [--out FILE] [flags]";
  command.description =
      "Moves every point by a 4 x 4 matrix, computed in f64 and rounded once to the type of the points. Points in a "
      "plane are moved by its upper left part. Columns nx, ny, nz or normal_x, normal_y, normal_z are turned along; "
      "every other column stays with its point and keeps its type.";
  command.arguments = {cloud_argument(flags->cloud)};
  FlagGroup result{"Result",
                   {cloud_out_flag(flags->cloud, "the moved points"),
                    {"--write-pose", "FILE", "write the pose that was applied: text, .npy or .json",
                     Take(&flags->pose_out, check_output_path)}}};
  for (Flag& flag : cloud_result_flags(flags->cloud, "print to standard error what was read and how it is moved")) {
    result.flags.push_back(std::move(flag));
  }
  command.groups = {pose_flags(*flags), result, input_flags(flags->cloud.read)};
  command.examples = {{"into the frame of the map", "kith transform scan.ply --pose pose.txt --out moved.ply"},
                      {"and back", "kith transform moved.ply --pose pose.txt --inverse --out scan.ply"},
                      {"a quarter turn, then ten metres up",
                       "kith transform scan.ply --rotate-z 90 --translate 0,0,10 --out turned.ply"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->cloud.points_path, &flags->cloud.read}},
                           [flags] { return run_transform(*flags); });
  };
  return command;
}

}  // namespace kith::cli
