// kith register: the pose that moves one cloud onto another.
#include "commands/all_commands.hpp"

#include "commands/register_pairs.hpp"

#include "cloud_flags.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "registration_flags.hpp"
#include "report/register_report.hpp"
#include "report/report_flag.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "turned_columns.hpp"

#include <kith/apps/registration.hpp>
#include <kith/apps/transform.hpp>
#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace kith::cli {
namespace {

struct RegisterFlags {
  std::string source_path;
  std::string target_path;
  RegistrationFlags registration;
  std::string pairs_path;  ///< a list of pairs instead of two files
  std::string out;         ///< of the pose; empty: standard output, unless --json
  std::string apply_path;  ///< of the moved source
  std::string report;      ///< a page that shows the result; empty: none
  bool ascii = false;

  /// Where the pose goes; empty if only the report was asked for.
  std::string pose_path() const { return out.empty() && !registration.output.json ? "-" : out; }
};

struct Times {
  double read_ms = 0;
  double register_ms = 0;
  double write_ms = 0;
};

void check_flags(const RegisterFlags& flags) {
  const RegistrationFlags& registration = flags.registration;
  check_registration_flags(registration);
  if (!flags.pairs_path.empty()) {
    if (!flags.source_path.empty()) throw UsageError("register: --pairs names the clouds; leave SOURCE and TARGET out");
    if (!flags.apply_path.empty()) throw UsageError("--apply is for one pair; leave it out with --pairs");
  } else if (flags.source_path.empty() || flags.target_path.empty()) {
    throw UsageError("register: give SOURCE and TARGET, or --pairs LIST");
  } else if (!flags.out.empty() && flags.out != "-") {
    check_output_path(flags.out);
  }
  const int from_stdin = (flags.source_path == "-") + (flags.target_path == "-") + (registration.initial_path == "-") +
                         (flags.pairs_path == "-");
  if (from_stdin > 1) throw UsageError("several inputs would be read from standard input; give all but one a file");
  if (registration.output.json && (flags.out == "-" || flags.apply_path == "-")) {
    throw UsageError("--json, --out - and --apply - would write to standard output together; give a file");
  }
  if (flags.apply_path == "-" && flags.pose_path() == "-") {
    throw UsageError("--out and --apply would both write to standard output; give one of them a file");
  }
  require_own_files({{"--out", flags.out}, {"--apply", flags.apply_path}, {"--report", flags.report}},
                    {flags.source_path, flags.target_path, registration.initial_path, flags.pairs_path});
}

/// The moved source, with all its columns; normals are turned along.
void write_moved(const RegisterFlags& flags, const KeptColumns& columns, const apps::Pose& pose,
                 TerminalProgress& progress) {
  const RegistrationFlags& registration = flags.registration;
  const apps::TransformOptions options{.skip_nonfinite = registration.options.skip_nonfinite,
                                       .threads = registration.options.threads,
                                       .progress = progress.callback()};
  const PointSet moved = apps::transform(columns.file().view(), pose, options);
  NewColumns fresh{&moved};
  std::vector<std::string> turned;
  fresh.columns = turned_normals(columns, pose, options, turned);
  io::WriteOptions write;
  write.format = check_points_path(flags.apply_path);
  write.ascii = flags.ascii;
  write.progress = progress.callback();
  const ExitOnInterrupt leave(flags.apply_path == "-");
  columns.write(flags.apply_path, every_row(columns.file().points.rows()), fresh, write, registration.output,
                registration.options.threads);
}

void report(const RegisterFlags& flags, const apps::Registration& result, std::uint64_t source, std::uint64_t target,
            const Times& times) {
  const OutputFlags& output = flags.registration.output;
  if (output.json) {
    nlohmann::ordered_json json;
    json["source"] = flags.source_path;
    json["target"] = flags.target_path;
    json["source_points"] = source;
    json["target_points"] = target;
    json.update(registration_json(result));
    json["method"] = apps::name_of(flags.registration.options.method);
    json["device"] = flags.registration.options.device.name();
    json["threads"] = threads_in_use(flags.registration.options.threads);
    json["read_ms"] = times.read_ms;
    json["register_ms"] = times.register_ms;
    json["write_ms"] = times.write_ms;
    write_to_stdout(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  output.summary(fmt::format("{}\nread {}, register {}, write {}", registration_summary(result),
                             readable_duration(times.read_ms), readable_duration(times.register_ms),
                             readable_duration(times.write_ms)));
  note_global_start(result, "", output);
  for (const std::string& text : weak_texts(result)) output.note(text);
  if (result.skipped_source + result.skipped_target > 0) {
    output.note(fmt::format("{} of the source and {} of the target with NaN or infinity were left out",
                            counted(result.skipped_source, "point"), readable_count(result.skipped_target)));
  }
  if (!flags.out.empty() && flags.out != "-") output.summary(fmt::format("pose in {}", flags.out));
  if (!flags.apply_path.empty() && flags.apply_path != "-") {
    output.summary(fmt::format("moved points in {}", flags.apply_path));
  }
}

int run_register(RegisterFlags flags) {
  check_flags(flags);
  RegistrationFlags& registration = flags.registration;
  TerminalProgress progress(registration.output.quiet);
  registration.options.progress = progress.callback();
  if (!registration.initial_path.empty()) registration.options.initial_pose = io::read_pose(registration.initial_path);
  registration.output.explanation(registration_rule(registration));
  if (!flags.pairs_path.empty()) {
    return register_pairs(flags.pairs_path, {flags.pose_path(), flags.report}, registration, progress);
  }

  Times times;
  const Stopwatch read_watch;
  std::unique_ptr<KeptColumns> columns;
  PointSet source;
  if (flags.apply_path.empty()) {
    source = read_cloud(flags.source_path, registration, progress);
  } else {
    columns = std::make_unique<KeptColumns>(flags.source_path, ColumnFlags{},
                                            cloud_reading(flags.source_path, registration, progress),
                                            registration.output, progress.callback());
    source = columns->file().points.clone();
  }
  PointSet target = read_cloud(flags.target_path, registration, progress);
  if (source.dtype() != target.dtype()) {
    registration.output.explanation("the clouds are of f32 and f64: both are registered as f64");
    source = widened(std::move(source));
    target = widened(std::move(target));
  }
  times.read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  registration.options.want_pairs = !flags.report.empty();
  const Stopwatch watch;
  const MemoryLimit held(0, bytes_of(source.view()) + bytes_of(target.view()));
  const apps::Registration result = apps::register_clouds(source.view(), target.view(), registration.options);
  times.register_ms = watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  progress.erase();
  if (columns) write_moved(flags, *columns, result.transformation, progress);
  if (!flags.pose_path().empty()) io::write_pose(flags.pose_path(), result.transformation);
  times.write_ms = write_watch.milliseconds();
  progress.erase();
  report(flags, result, source.rows(), target.rows(), times);
  if (!flags.report.empty()) {
    write_register_report(
        flags.report,
        {.source = flags.source_path,
         .target = flags.target_path,
         .source_points = source.view(),
         .target_points = target.view(),
         .result = result,
         .times = {{"read", times.read_ms}, {"register", times.register_ms}, {"write", times.write_ms}}},
        registration);
  }
  if (!registration.require_convergence || result.converged()) return 0;
  throw BadData(fmt::format("register: not converged: {}", apps::explain(result.end)));
}

FlagGroup result_group(RegisterFlags& flags) {
  return {
      "Result",
      {{"-o,--out", "FILE", "the pose: text, .npy or .json; by default text on standard output. With --pairs a table",
        [&flags](const std::string& path) {
          check_output_path(path);
          flags.out = path;
        }},
       {"--apply", "FILE", "also write the moved source with all its columns: .csv, .npy, .npz, .ply, .pcd or .las",
        [&flags](const std::string& path) {
          check_points_path(path);
          flags.apply_path = path;
        }},
       {"--ascii", "", "with --apply: write ply and pcd as text instead of binary", &flags.ascii},
       report_flag(flags.report, "write a page for a browser: the pose, its quality, and both clouds to turn around"),
       {"--pairs", "LIST", "register many pairs: a table with columns source, target and, if wanted, initial",
        &flags.pairs_path},
       json_flag(flags.registration.output,
                 "print all of the result as JSON; the pose is then written only with --out"),
       quiet_flag(flags.registration.output),
       explain_flag(flags.registration.output, "print to standard error what was read and what is done")}};
}

}  // namespace

Command register_command() {
  const auto flags = std::make_shared<RegisterFlags>();
  Command command;
  command.name = "register";
  command.summary = "find the pose that moves one cloud onto another";
  command.synopsis = "SOURCE TARGET [--method M] [--initial FILE] [--out POSE] [--apply FILE] [flags]";
  command.description =
      "Iterative closest points by exact neighbours: prints the 4 x 4 matrix that moves SOURCE onto TARGET. Clouds "
      "have 2 "
      "or 3 dimensions. The pose has the same bytes with any number of threads and on every device. What a summary on "
      "standard error says of the end: converged or why not, the share of points with a match, their RMSE, and "
      "directions "
      "in which the clouds can slide.";
  command.arguments = {{"SOURCE", "FILE", "the points that are moved; - is standard input", &flags->source_path, false},
                       {"TARGET", "FILE", "the points that stay", &flags->target_path, false}};
  command.groups = {registration_pair_flags(flags->registration), registration_run_flags(flags->registration),
                    result_group(*flags), input_flags(flags->registration.read)};
  command.examples = {
      {"the pose, and the moved scan", "kith register scan.ply map.ply --out pose.txt --apply moved.ply"},
      {"from a rough pose, with a tenth of the pairs left out",
       "kith register scan.ply map.ply --initial rough.txt --keep 0.9"},
      {"nothing is known of the pose", "kith register scan.ply map.ply --initial global --out pose.txt"},
      {"many pairs in one call", "kith register --pairs pairs.csv --out poses.csv"},
      {"a page to look at", "kith register scan.ply map.ply --out pose.txt --report report.html"},
      {"all of the result for a program", "kith register scan.ply map.ply --json"}};
  command.run = [flags] {
    const io::ReadOptions* read = &flags->registration.read;
    return run_naming_rows({{"source", flags->source_path, read}, {"target", flags->target_path, read}},
                           [flags] { return run_register(*flags); });
  };
  add_profile_flag(command, flags->registration.output);
  return command;
}

}  // namespace kith::cli
