// kith normals: the direction of the surface at each point, and how much it bends.
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

#include <kith/apps/normals.hpp>
#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <optional>

namespace kith::cli {
namespace {

struct NormalsFlags {
  CloudFlags cloud;
  apps::NormalsOptions options;
  bool neighbors_given = false;
  std::optional<std::array<double, 3>> viewpoint;
  bool direction_given = false;
};

std::array<double, 3> parse_viewpoint(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 2 && parts.size() != 3) {
    throw UsageError(fmt::format("--viewpoint: \"{}\" is not X,Y,Z, or X,Y in a plane", text));
  }
  std::array<double, 3> place{};
  for (std::size_t i = 0; i < parts.size(); ++i) place[i] = parse_number("--viewpoint", parts[i]);
  return place;
}

void check_flags(NormalsFlags& flags) {
  if (flags.neighbors_given && flags.options.radius) {
    throw UsageError("-k and --radius are two ways to choose neighbours; give one of them");
  }
  using apps::NormalDirection;
  if (flags.viewpoint) {
    if (flags.direction_given && flags.options.direction != NormalDirection::viewpoint) {
      throw UsageError("--viewpoint goes with --orient viewpoint");
    }
    flags.options.direction = NormalDirection::viewpoint;
    flags.options.viewpoint = *flags.viewpoint;
  }
  if (flags.cloud.output.json && flags.cloud.result_path() == "-") {
    throw UsageError("--json and --out - would write to standard output together; give a file");
  }
  require_own_files({{"--out", flags.cloud.result_path()}}, {flags.cloud.points_path});
}

/// nx, ny, nz as PLY names them, normal_x, … as PCD does.
std::vector<io::Column> columns_of(const apps::Normals& found, bool is_pcd) {
  const std::uint32_t dims = found.normals.dims();
  std::vector<io::Column> columns;
  const auto add = [&]<typename T>(T) {
    const std::span<const T> values = found.normals.values<T>();
    for (std::uint32_t d = 0; d < dims; ++d) {
      io::Column column((is_pcd ? "normal_" : "n") + std::string(1, "xyz"[d]), io::column_type_of<T>(),
                        found.normals.rows());
      for (std::uint64_t i = 0; i < found.normals.rows(); ++i) column.values<T>()[i] = values[i * dims + d];
      columns.push_back(std::move(column));
    }
    columns.emplace_back("curvature", found.curvature.values<T>());
  };
  found.normals.dtype() == DType::f32 ? add(float{}) : add(double{});
  return columns;
}

std::string rule_of(const apps::NormalsOptions& options) {
  return fmt::format("planes through {}, direction {}",
                     options.radius ? fmt::format("all points within {}", *options.radius)
                                    : fmt::format("the {} nearest points", options.neighbors),
                     apps::name_of(options.direction));
}

int run_normals(NormalsFlags flags) {
  check_flags(flags);
  const OutputFlags& output = flags.cloud.output;
  TerminalProgress progress(output.quiet);
  const auto [columns, read_ms] = read_cloud(flags.cloud, progress);
  const io::PointFile& file = columns.file();

  const Stopwatch watch;
  apps::NormalsOptions options = flags.options;
  take_common(flags.cloud, progress, options);
  output.explanation(rule_of(options));
  apps::Normals found;
  {
    const MemoryLimit held(0, bytes_of(file.view()));
    found = apps::normals(file.view(), options);
  }
  const double normals_ms = watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  const std::string path = flags.cloud.result_path();
  if (!path.empty()) {
    NewColumns fresh;
    fresh.columns = columns_of(found, check_points_path(path) == io::Format::pcd);
    write_cloud(flags.cloud, path, columns, every_row(file.points.rows()), fresh, progress);
  }
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  if (output.json) {
    nlohmann::ordered_json json;
    json["points"] = file.points.rows();
    json["dims"] = file.points.dims();
    json["dtype"] = name_of(file.points.dtype());
    json["without_normal"] = found.without;
    json["neighbors"] = options.radius ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(options.neighbors);
    json["radius"] = options.radius ? nlohmann::ordered_json(*options.radius) : nlohmann::ordered_json(nullptr);
    json["orient"] = apps::name_of(options.direction);
    json["device"] = options.device.name();
    json["threads"] = threads_in_use(options.threads);
    json["read_ms"] = read_ms;
    json["normals_ms"] = normals_ms;
    json["write_ms"] = write_ms;
    write_to_stdout(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  output.summary(fmt::format("{} ({})\nread {}, normals {}, write {}",
                             counted(file.points.rows() - found.without, "normal"), rule_of(options),
                             readable_duration(read_ms), readable_duration(normals_ms), readable_duration(write_ms)));
  if (found.without > 0) {
    output.note(fmt::format("{} without a normal: too few neighbours, all in one place, or NaN; theirs is 0",
                            counted(found.without, "point")));
  }
  if (path != "-" && !path.empty()) output.summary(fmt::format("points in {}", path));
  return 0;
}

FlagGroup normal_flags(NormalsFlags& flags) {
  Flag neighbors =
      whole_flag("-k,--neighbors", "K", "fit a plane to the K nearest points, itself included; 16 by default",
                 flags.options.neighbors, 2);
  neighbors.take = [&flags, take = neighbors.take](const std::string& value) {
    flags.neighbors_given = true;
    take(value);
  };
  Flag orient =
      choice_flag("--orient", "axis|viewpoint|consistent",
                  "direction: largest component positive (default), towards --viewpoint, or as the neighbours",
                  flags.options.direction, apps::parse_normal_direction);
  orient.take = [&flags, take = orient.take](const std::string& value) {
    flags.direction_given = true;
    take(value);
  };
  return {"Normals",
          {neighbors,
           {"--radius", "R", "fit it to all points within distance R instead",
            [&flags](const std::string& value) { flags.options.radius = parse_distance("--radius", value); }},
           orient,
           {"--viewpoint", "X,Y,Z", "where the sensor was: normals look there; the origin by default. X,Y in a plane",
            [&flags](const std::string& value) { flags.viewpoint = parse_viewpoint(value); }},
           skip_rows_flag(flags.cloud, "give rows with NaN, infinity or missing values a normal of 0"),
           device_flag(flags.options.device),
           cloud_threads_flag(flags.cloud),
           memory_flag()}};
}

}  // namespace

Command normals_command() {
  const auto flags = std::make_shared<NormalsFlags>();
  Command command;
  command.name = "normals";
  command.summary = "compute normals and curvature of points";
  command.synopsis = "POINTS [-k K | --radius R] [--orient HOW] [--out FILE] [flags]";
  command.description =
      "Adds to each point the normal of the plane (in 2 dimensions of the line) that fits its neighbours best, as "
      "columns "
      "nx, ny, nz, or normal_x, normal_y, normal_z in a PCD file, and the curvature: the share of their spread along "
      "the "
      "normal, 0 on a plane. Columns of the same names are replaced; every other column stays with its point and keeps "
      "its "
      "type. The result has the same bytes with any number of threads and on every device.";
  command.arguments = {cloud_argument(flags->cloud)};
  FlagGroup result{"Result", {cloud_out_flag(flags->cloud, "the points with normals")}};
  for (Flag& flag : cloud_result_flags(flags->cloud, "print to standard error what was read and what is fitted")) {
    result.flags.push_back(std::move(flag));
  }
  command.groups = {normal_flags(*flags), result, input_flags(flags->cloud.read)};
  command.examples = {
      {"normals by 16 neighbours", "kith normals scan.ply --out with_normals.ply"},
      {"towards the sensor", "kith normals scan.pcd --viewpoint 0,0,1.7 --out with_normals.pcd"},
      {"outwards on a closed surface", "kith normals bunny.ply --orient consistent --out outwards.ply"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->cloud.points_path, &flags->cloud.read}},
                           [flags] { return run_normals(*flags); });
  };
  add_profile_flag(command, flags->cloud.output);
  return command;
}

}  // namespace kith::cli
