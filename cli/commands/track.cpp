// kith track: registers frame after frame with one model, each from the pose of the last.
#include "commands/all_commands.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "registration_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"

#include <kith/apps/registration.hpp>
#include <kith/apps/transform.hpp>
#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

struct TrackFlags {
  std::string model_path;
  std::vector<std::string> frame_paths;
  RegistrationFlags registration;
  bool predict = false;
  bool to_first = false;
};

void check_flags(const TrackFlags& flags) {
  check_registration_flags(flags.registration);
  int from_stdin = (flags.model_path == "-") + (flags.registration.initial_path == "-");
  for (const std::string& path : flags.frame_paths) from_stdin += path == "-";
  if (from_stdin > 1) throw UsageError("several inputs would be read from standard input; give all but one a file");
}

/// The model in the type of the frames: f64 as soon as one side has it.
class Model {
 public:
  Model(PointSet points, const apps::RegistrationOptions& options)
      : points_(std::move(points)), target_(std::in_place, points_.view(), options) {}

  apps::Registration align(PointSet frame, const apps::RegistrationOptions& options) {
    if (frame.dtype() == points_.dtype()) return target_->align(frame.view(), options);
    if (points_.dtype() == DType::f32 && !wide_) wide_.emplace(widened(points_.clone()).view(), options);
    const PointSet source = widened(std::move(frame));
    return (wide_ ? *wide_ : *target_).align(source.view(), options);
  }

 private:
  PointSet points_;
  std::optional<apps::RegistrationTarget> target_;
  std::optional<apps::RegistrationTarget> wide_;
};

/// The last poses, and where the next frame is expected.
class Track {
 public:
  Track(bool predicts, std::optional<apps::Pose> start) : predicts_(predicts), last_(std::move(start)) {}

  /// Nothing before the first pose, unless one was given.
  std::optional<apps::Pose> expected() const {
    if (!predicts_ || !before_) return last_;
    return apps::then(apps::then(*last_, apps::inverse(*before_)), *last_);  // the last step once more
  }
  /// Poses of frames that did not converge lead nowhere.
  void add(const apps::Registration& result) {
    if (!result.converged()) return;
    if (is_found_) before_ = last_;
    last_ = result.transformation;
    is_found_ = true;
  }

 private:
  bool predicts_;
  bool is_found_ = false;  ///< whether the last pose is that of a frame
  std::optional<apps::Pose> last_;
  std::optional<apps::Pose> before_;
};

/// The upper three rows in one line, as KITTI has them.
std::string line_of(const apps::Pose& pose) {
  std::string line;
  for (std::size_t i = 0; i < 12; ++i) line += fmt::format("{}{}", i == 0 ? "" : " ", pose.matrix[i]);
  return line + "\n";
}

void print(const TrackFlags& flags, std::uint64_t number, const std::string& path, const apps::Registration& result,
           double read_ms, double register_ms) {
  if (!flags.registration.output.json) return write_to_stdout(line_of(result.transformation));
  nlohmann::ordered_json json;
  json["frame"] = number;
  json["path"] = path;
  json.update(registration_json(result));
  json["read_ms"] = read_ms;
  json["register_ms"] = register_ms;
  write_to_stdout(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

int run_track(TrackFlags flags) {
  check_flags(flags);
  RegistrationFlags& registration = flags.registration;
  const OutputFlags& output = registration.output;
  TerminalProgress progress(output.quiet);
  registration.options.progress = progress.callback();
  if (!registration.initial_path.empty()) registration.options.initial_pose = io::read_pose(registration.initial_path);
  output.explanation(registration_rule(registration));
  const Stopwatch whole;
  PointSet points = read_cloud(flags.model_path, registration, progress);
  const MemoryLimit held(0, bytes_of(points.view()));
  Model model(std::move(points), registration.options);
  if (flags.to_first) {
    apps::Registration first;
    first.end = apps::RegistrationEnd::converged;
    print(flags, 0, flags.model_path, first, 0, 0);
  }
  Track track(flags.predict, registration.options.initial_pose);
  std::uint64_t converged = 0, number = 0;
  for (const std::string& path : flags.frame_paths) {
    stop_if_interrupted();
    ++number;
    const Stopwatch read_watch;
    PointSet frame = read_cloud(path, registration, progress);
    const double read_ms = read_watch.milliseconds();
    apps::RegistrationOptions options = registration.options;
    options.initial_pose = track.expected();
    const Stopwatch watch;
    apps::Registration result;
    run_naming_rows({{"source", path, &registration.read}}, [&] {
      result = model.align(std::move(frame), options);
      return 0;
    });
    progress.erase();
    print(flags, number, path, result, read_ms, watch.milliseconds());
    track.add(result);
    converged += result.converged() ? 1 : 0;
    if (!result.converged()) output.note(fmt::format("{}: not converged: {}", path, apps::explain(result.end)));
    note_global_start(result, path + ": ", output);
    for (const std::string& text : weak_texts(result)) output.note(fmt::format("{}: {}", path, text));
  }
  progress.erase();
  output.summary(fmt::format("{} of {} converged, {}", readable_count(converged), counted(number, "frame"),
                             readable_duration(whole.milliseconds())));
  if (!registration.require_convergence || converged == number) return 0;
  throw BadData(
      fmt::format("track: {} of {} did not converge", readable_count(number - converged), counted(number, "frame")));
}

FlagGroup track_flags(TrackFlags& flags) {
  return {"Track",
          {{"--predict", "", "begin each frame where the last step, made once more, would lead", &flags.predict},
           {"--to-first", "", "MODEL is the first frame: its pose, the identity, is printed first", &flags.to_first},
           json_flag(flags.registration.output, "print a line of JSON per frame, with all of its result"),
           quiet_flag(flags.registration.output),
           explain_flag(flags.registration.output, "print to standard error what was read and what is done")}};
}

}  // namespace

Command track_command() {
  const auto flags = std::make_shared<TrackFlags>();
  Command command;
  command.name = "track";
  command.summary = "follow frames against a model: one pose each";
  command.synopsis = "MODEL FRAME… [--predict] [--to-first] [flags]";
  command.description =
      "Registers each FRAME with MODEL, in the order given, and prints one pose per line: the upper three rows of its "
      "matrix, as KITTI writes them. The index and the normals of the model are made once. Each frame begins at the "
      "pose of "
      "the last one that converged, the first one as --initial says.";
  command.arguments = {
      {"MODEL", "FILE", "the points that stay: a model, a map or the first frame", &flags->model_path, true},
      {"FRAME", "FILE", "the points that are moved, file by file",
       [flags](const std::string& path) { flags->frame_paths.push_back(path); }, true, true}};
  command.groups = {track_flags(*flags), registration_pair_flags(flags->registration),
                    registration_run_flags(flags->registration), input_flags(flags->registration.read)};
  command.examples = {
      {"poses of a drive in a map", "kith track map.ply scan_*.ply --predict > poses.txt"},
      {"from a first pose that is not known", "kith track map.ply scan_*.ply --initial global > poses.txt"},
      {"relative to the first scan", "kith track --to-first scan_*.ply > poses.txt"},
      {"with the RMSE of every frame", "kith track map.ply scan_*.ply --json > track.jsonl"}};
  command.run = [flags] {
    return run_naming_rows({{"target", flags->model_path, &flags->registration.read}},
                           [flags] { return run_track(*flags); });
  };
  add_profile_flag(command, flags->registration.output);
  return command;
}

}  // namespace kith::cli
