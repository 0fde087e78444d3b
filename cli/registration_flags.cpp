// See registration_flags.hpp.
#include "registration_flags.hpp"

#include "input_flags.hpp"
#include "number_arguments.hpp"
#include "readable.hpp"
#include "search_flags.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <array>
#include <cmath>
#include <utility>

namespace kith::cli {
namespace {

std::vector<double> parse_voxels(const std::string& text) {
  std::vector<double> voxels;
  for (const std::string& part : split(text, ',')) voxels.push_back(parse_distance("--voxel", part));
  return voxels;
}

/// The named columns x, y and z of a file that has more of them, or none.
std::vector<std::string> space_columns(const io::PointFile& file) {
  std::vector<std::string> found;
  if (file.points.dims() <= 3) return found;
  for (const char wanted : {'x', 'y', 'z'}) {
    for (const std::string& name : file.columns) {
      if (name.size() == 1 && (name[0] == wanted || name[0] == wanted - 'a' + 'A')) {
        found.push_back(name);
        break;
      }
    }
  }
  return found.size() >= 2 ? found : std::vector<std::string>{};
}

/// These columns of the points alone; each is there.
PointSet columns_of(const io::PointFile& file, const std::vector<std::string>& names) {
  const PointView all = file.view();
  PointSet chosen(all.dtype(), all.rows(), static_cast<std::uint32_t>(names.size()));
  for (std::uint32_t d = 0; d < names.size(); ++d) {
    const auto from = static_cast<std::uint32_t>(std::ranges::find(file.columns, names[d]) - file.columns.begin());
    for (std::uint64_t i = 0; i < all.rows(); ++i) {
      if (all.dtype() == DType::f32) {
        chosen.values<float>()[i * names.size() + d] = all.row<float>(i)[from];
      } else {
        chosen.values<double>()[i * names.size() + d] = all.row<double>(i)[from];
      }
    }
  }
  return chosen;
}

std::array<double, 3> unit(const std::array<double, 3>& vector) {
  const double length = std::sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
  return {vector[0] / length, vector[1] / length, vector[2] / length};
}

double squared(const std::array<double, 3>& vector) {
  return vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2];
}

nlohmann::ordered_json pose_rows(const apps::Pose& pose) {
  nlohmann::ordered_json rows;
  for (std::uint32_t i = 0; i < 4; ++i) rows.push_back({pose(i, 0), pose(i, 1), pose(i, 2), pose(i, 3)});
  return rows;
}

}  // namespace

std::string direction_text(const std::array<double, 3>& vector) {
  // Of a direction three decimals are enough, and -0 is 0.
  std::string text = "(";
  for (const double x : vector) {
    const double rounded = std::round(x * 1000) / 1000;
    text += fmt::format("{}{:g}", text.size() > 1 ? ", " : "", rounded == 0 ? 0 : rounded);
  }
  return text + ")";
}

bool is_named_start(const std::string& initial) {
  return initial == "identity" || initial == "centroid" || initial == "global";
}

FlagGroup registration_pair_flags(RegistrationFlags& flags) {
  apps::RegistrationOptions& options = flags.options;
  return {"What counts",
          {choice_flag("--method", "auto|point|plane|gicp",
                       "what is minimised: distances, distances along normals, or by both surfaces; auto is gicp",
                       options.method, apps::parse_registration_method),
           {"--max-distance", "D", "points farther than D from the target are no pairs; by default it adapts",
            [&options](const std::string& value) { options.max_distance = parse_distance("--max-distance", value); }},
           {"--keep", "SHARE", "of all pairs count only this share, the nearest ones; 1 by default",
            [&options](const std::string& value) { options.keep = parse_distance("--keep", value); }},
           {"--reciprocal", "", "only pairs count that are nearest to each other", &options.reciprocal},
           choice_flag("--kernel", "none|huber|cauchy|tukey|geman-mcclure",
                       "let pairs with large errors count less; needs --kernel-scale", options.kernel,
                       apps::parse_robust_kernel),
           {"--kernel-scale", "C", "the error, in the units of the coordinates, at which a kernel begins",
            [&options](const std::string& value) { options.kernel_scale = parse_distance("--kernel-scale", value); }},
           {"--voxel", "A,B,C", "coarse to fine: stages with the means of voxels of these sides; 0 is all points",
            [&options](const std::string& value) { options.voxels = parse_voxels(value); }},
           whole_flag("--neighbors", "N", "planes of plane and gicp are fitted to N nearest points; 16 by default",
                      options.neighbors, 2)}};
}

FlagGroup registration_run_flags(RegistrationFlags& flags) {
  apps::RegistrationOptions& options = flags.options;
  return {"How it runs",
          {{"--initial", "FILE|identity|centroid|global",
            "where to begin: a pose in a file, the clouds as they lie (default), with their means put together, or at "
            "a pose that is found by features, whatever it is",
            [&flags](const std::string& value) {
              flags.initial_path.clear();
              if (is_named_start(value)) {
                flags.options.initial = apps::parse_initial_pose(value);
              } else if (value.empty()) {
                throw UsageError("--initial: the name of the file is empty");
              } else {
                flags.initial_path = value;
              }
            }},
           {"--global-voxel", "S", "with --initial global: the side of voxels whose means are compared; 0 chooses it",
            [&options](const std::string& value) { options.global_voxel = parse_distance("--global-voxel", value); }},
           {"--dof", "6|4|3", "what may move: all, a turn about z and any shift, or the same within x and y",
            [&options](const std::string& value) {
              require_choice("--dof", "6|4|3", value);
              options.degrees_of_freedom = static_cast<std::uint32_t>(value[0] - '0');
            }},
           {"--scale", "", "find the scale, too", &options.scale},
           whole_flag("--max-iterations", "N", "iterations of each stage; 64 by default", options.max_iterations, 0),
           {"--rotation-tolerance", "R", "converged is a step that turns by at most R radians; 1e-6 by default",
            [&options](const std::string& value) {
              options.rotation_tolerance = parse_distance("--rotation-tolerance", value);
            }},
           {"--translation-tolerance", "T", "and shifts by at most T; by default 1e-6 of the target's diagonal",
            [&options](const std::string& value) {
              options.translation_tolerance = parse_distance("--translation-tolerance", value);
            }},
           {"--require-convergence", "", "exit with code 3 if it did not converge", &flags.require_convergence},
           {"--skip-nonfinite", "", "skip rows with NaN, infinity or missing values",
            [&flags](const std::string&) { flags.options.skip_nonfinite = flags.read.missing_as_nan = true; }},
           device_flag(options.device),
           threads_flag([&flags](int threads) { flags.options.threads = flags.read.threads = threads; }),
           memory_flag()}};
}

void check_registration_flags(const RegistrationFlags& flags) {
  if (flags.options.kernel == apps::RobustKernel::none && flags.options.kernel_scale != 0) {
    throw UsageError("--kernel-scale goes with --kernel, which says how pairs with large errors count");
  }
}

io::ReadOptions cloud_reading(const std::string& path, const RegistrationFlags& flags, TerminalProgress& progress) {
  io::ReadOptions read = flags.read;
  // What is no file cannot be read twice.
  if (!read.columns.empty() || !std::filesystem::is_regular_file(path)) return read;
  const OutputFlags silent{.quiet = true};
  read.columns = space_columns(read_input(path, read, silent, progress.callback()));
  return read;
}

PointSet read_cloud(const std::string& path, const RegistrationFlags& flags, TerminalProgress& progress) {
  io::PointFile file = read_input(path, flags.read, flags.output, progress.callback());
  const std::vector<std::string> columns =
      flags.read.columns.empty() ? space_columns(file) : std::vector<std::string>{};
  return columns.empty() ? std::move(file.points) : columns_of(file, columns);
}

PointSet widened(PointSet points) {
  if (points.dtype() == DType::f64) return points;
  PointSet wide(DType::f64, points.rows(), points.dims());
  std::ranges::copy(points.values<float>(), wide.values<double>().begin());
  return wide;
}

std::string registration_rule(const RegistrationFlags& flags) {
  const apps::RegistrationOptions& options = flags.options;
  const apps::RegistrationMethod method =
      options.method == apps::RegistrationMethod::automatic ? apps::RegistrationMethod::gicp : options.method;
  std::string text = fmt::format("method {}, ", apps::name_of(method));
  const bool is_global = flags.initial_path.empty() && options.initial == apps::InitialPose::global;
  text += options.max_distance > 0
              ? fmt::format("pairs within {}", options.max_distance)
              : fmt::format("pairs within {}, then three times their RMSE",
                            is_global ? "three voxels of the global start" : "a tenth of the target's diagonal");
  if (options.keep < 1) text += fmt::format(", the nearest {} of them", options.keep);
  if (options.reciprocal) text += ", nearest to each other";
  if (options.kernel != apps::RobustKernel::none) {
    text += fmt::format(", kernel {} at {}", apps::name_of(options.kernel), options.kernel_scale);
  }
  text +=
      fmt::format("; {} degrees of freedom{}; from {}", options.degrees_of_freedom, options.scale ? " and scale" : "",
                  flags.initial_path.empty() ? std::string(apps::name_of(options.initial)) : flags.initial_path);
  return text;
}

nlohmann::ordered_json registration_json(const apps::Registration& result) {
  nlohmann::ordered_json json;
  json["transformation"] = pose_rows(result.transformation);
  json["converged"] = result.converged();
  json["reason"] = apps::explain(result.end);
  json["scale"] = result.scale;
  json["inliers"] = result.inliers;
  json["fitness"] = result.fitness;
  json["inlier_rmse"] = result.inlier_rmse;
  json["iterations"] = nlohmann::ordered_json::array();
  for (const apps::RegistrationIteration& iteration : result.iterations) {
    json["iterations"].push_back({{"stage", iteration.stage},
                                  {"pairs", iteration.pairs},
                                  {"fitness", iteration.fitness},
                                  {"inlier_rmse", iteration.inlier_rmse},
                                  {"error", iteration.error},
                                  {"turned", iteration.turned},
                                  {"shifted", iteration.shifted},
                                  {"max_distance", iteration.max_distance}});
  }
  for (std::size_t i = 0; i < 6; ++i) {
    nlohmann::ordered_json row;
    for (std::size_t j = 0; j < 6; ++j) row.push_back(result.information[i * 6 + j]);
    json["information"].push_back(row);
  }
  json["centre"] = result.centre;
  json["weak"] = nlohmann::ordered_json::array();
  const std::vector<std::string> texts = weak_texts(result);
  for (std::size_t i = 0; i < result.weak.size(); ++i) {
    const apps::WeakDirection& weak = result.weak[i];
    json["weak"].push_back({{"eigenvalue", weak.eigenvalue},
                            {"relative", weak.relative},
                            {"turn", weak.turn},
                            {"shift", weak.shift},
                            {"text", texts[i]}});
  }
  if (result.global) {
    const apps::GlobalStart& start = *result.global;
    json["global"] = {{"found", start.found},
                      {"pose", pose_rows(start.pose)},
                      {"voxel", start.voxel},
                      {"source_points", start.source_points},
                      {"target_points", start.target_points},
                      {"matches", start.matches},
                      {"consistent", start.consistent},
                      {"overlap", start.overlap},
                      {"runner_up", start.runner_up},
                      {"ms", start.milliseconds}};
  }
  json["skipped_source"] = result.skipped_source;
  json["skipped_target"] = result.skipped_target;
  return json;
}

std::string registration_summary(const apps::Registration& result) {
  const std::string end = result.converged()
                              ? fmt::format("converged after {}", counted(result.iterations.size(), "iteration"))
                              : fmt::format("not converged after {}: {}",
                                            counted(result.iterations.size(), "iteration"), apps::explain(result.end));
  std::string text = fmt::format("{}\nfitness {:.4g} ({}), inlier RMSE {:.4g}", end, result.fitness,
                                 counted(result.inliers, "pair"), result.inlier_rmse);
  if (result.scale != 1) text += fmt::format(", scale {:.6g}", result.scale);
  return text;
}

std::string global_start_text(const apps::GlobalStart& start) {
  const std::string seen =
      start.voxel > 0
          ? fmt::format("{} and {} means of voxels of {:.4g}, {} matches", readable_count(start.source_points),
                        readable_count(start.target_points), start.voxel, readable_count(start.matches))
          : "a cloud without extent, or voxels too small for it";
  if (!start.found) {
    return fmt::format("global start: nothing found ({}); the means were put together instead", seen);
  }
  return fmt::format("global start: {}, {} of them consistent, overlap {:.2g}, next best pose {:.2g}, {}", seen,
                     readable_count(start.consistent), start.overlap, start.runner_up,
                     readable_duration(start.milliseconds));
}

void note_global_start(const apps::Registration& result, const std::string& whose, const OutputFlags& output) {
  if (!result.global) return;
  const std::string text = whose + global_start_text(*result.global);
  if (result.global->found) {
    output.explanation(text);
  } else {
    output.note(text);
  }
}

std::vector<std::string> weak_texts(const apps::Registration& result) {
  std::vector<std::string> texts;
  for (const apps::WeakDirection& weak : result.weak) {
    const bool slides = squared(weak.shift) >= squared(weak.turn);
    texts.push_back(
        fmt::format("the clouds can {} {} with hardly any change of the error (eigenvalue {:.3g}, {:.2g} of the "
                    "largest)",
                    slides ? "slide along" : "turn about", direction_text(unit(slides ? weak.shift : weak.turn)),
                    weak.eigenvalue, weak.relative));
  }
  return texts;
}

}  // namespace kith::cli
