// kith build: prepares points for search and saves the index to a file.
#include "commands/all_commands.hpp"

#include "commands/build_objects.hpp"
#include "commands/build_stored.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "stopwatch.hpp"
#include "standard_output.hpp"
#include "terminal_progress.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/memory_limit.hpp>
#include <kith/shards/stored_shards.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace kith::cli {
namespace {

/// How long each part took.
struct Times {
  double read_ms = 0;
  double build_ms = 0;
  double write_ms = 0;
  double copy_ms = 0;             ///< to and from a GPU, part of build and write
  std::uint64_t evaluations = 0;  ///< of distances, where they are counted
};

void report(const BuildFlags& flags, const Index& index, const Times& times) {
  const std::uint64_t file_bytes = describe_index_file(flags.out).file_bytes;
  if (flags.output.json) {
    nlohmann::ordered_json json;
    json["points"] = index.size();
    json["skipped_points"] = index.skipped();
    json["dims"] = index.dims();
    json["dtype"] = name_of(index.dtype());
    json["metric"] = index.metric().name();
    json["engine"] = name_of(index.engine());
    json["device"] = index.device().name();
    json["threads"] = threads_in_use(flags.build.threads);
    json["index_bytes"] = index.memory_bytes();
    json["file_bytes"] = file_bytes;
    json["read_ms"] = times.read_ms;
    json["build_ms"] = times.build_ms;
    json["write_ms"] = times.write_ms;
    json["copy_ms"] = times.copy_ms;
    if (times.evaluations > 0) json["evaluations"] = times.evaluations;
    write_to_stdout(json.dump(2) + "\n");
  }
  const std::string copies =
      index.device() == Device::cpu() ? "" : fmt::format(", of that copies {}", readable_duration(times.copy_ms));
  flags.output.summary(fmt::format("index of {} of {} ({}, {} on {}), {}\nread {}, build {}, write {}{}\nindex in {}",
                                   counted(index.size(), "point"), counted(index.dims(), "dimension"),
                                   index.metric().name(), name_of(index.engine()), index.device().name(),
                                   readable_bytes(static_cast<double>(file_bytes)), readable_duration(times.read_ms),
                                   readable_duration(times.build_ms), readable_duration(times.write_ms), copies,
                                   flags.out));
  if (index.skipped() > 0) {
    flags.output.note(fmt::format("{} with NaN or infinity were left out", counted(index.skipped(), "point")));
  }
}

/// What the build will take, before it takes anything.
void explain_plan(const BuildFlags& flags, PointView points, const BuildOptions& options) {
  const BuildPlan plan = Index::plan(points.rows(), points.dims(), points.dtype(), options);
  flags.output.explanation(fmt::format("plan: engine {}, device {}, index {} bytes, peak {} bytes",
                                       name_of(plan.engine), plan.device.name(), plan.index_bytes, plan.peak_bytes));
}

int run_build(const BuildFlags& flags) {
  require_own_files({{"--out", flags.out}}, flags.paths);
  if (wants_shards(flags)) return build_stored(flags);
  if (flags.paths.size() > 1) {
    throw UsageError("an index holds the points of one file; give --shards or --out NAME.shards for several");
  }
  const IndexContent content = content_of(flags.points_path, flags.sequences);
  if (content != IndexContent::points) return build_objects(flags, content);
  refuse_sequence_flags(flags.sequences, "points");
  TerminalProgress progress(flags.output.quiet);
  Times times;
  const Stopwatch read_watch;
  io::PointFile file = read_input(flags.points_path, flags.read, flags.output, progress.callback());
  wrap_input(file, flags.points_path, flags.axes, flags.output);
  times.read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const MemoryLimit held(0, bytes_of(file.view()));
  StageClock copies("copying", progress.callback());
  BuildOptions options = flags.build;
  options.progress = copies.callback();
  // What an index or a tree left out, an index of its points leaves out too.
  options.skip_nonfinite =
      options.skip_nonfinite || is_index_file(flags.points_path) || is_tree_input(flags.points_path, flags.read);
  if (flags.output.explain) explain_plan(flags, file.view(), options);
  WorkTimes work;
  options.times = &work;
  const Stopwatch build_watch;
  const Index index = Index::build(file.view(), options);
  times.evaluations = work.evaluations;
  times.build_ms = build_watch.milliseconds();
  stop_if_interrupted();
  flags.output.explanation(index.explain());

  const Stopwatch write_watch;
  index.save(flags.out, {flags.build.threads, copies.callback()});
  times.write_ms = write_watch.milliseconds();
  times.copy_ms = copies.milliseconds();
  progress.erase();
  report(flags, index, times);
  return 0;
}

}  // namespace

Command build_command() {
  const auto flags = std::make_shared<BuildFlags>();
  Command command;
  command.name = "build";
  command.summary = "prepare points for search and save the index";
  command.synopsis = "POINTS... --out INDEX.kith|FOLDER.shards [--engine E] [--metric M] [flags]";
  command.description =
      "Builds the index that knn and radius would build and saves it. Later searches load it instead: pass INDEX.kith "
      "wherever a command takes POINTS. The same points and flags give the same bytes on every device and with any "
      "number of threads. The file is written completely or not at all. "
      "Points that are larger than memory become a folder of shards (--shards, or --out FOLDER.shards): several .npy "
      "files are one after the other then, and an interrupted build goes on when the command is given again.";
  command.arguments = {{"POINTS", "FILE", "the points; - is standard input; several files only for shards",
                        [flags](const std::string& path) {
                          if (flags->paths.empty()) flags->points_path = path;
                          flags->paths.push_back(path);
                        },
                        true, true}};
  Flag device = device_flag(flags->build.device);
  device.text = "where the index is built; auto, the default, takes a GPU for large jobs";
  command.groups = {
      {"The index",
       {{"-o,--out", "FILE", "output file for the index, or a folder of shards, NAME.shards",
         [flags](const std::string& path) {
           if (!shards::is_stored_shards(path) && !path.ends_with(".shards")) check_output_path(path);
           if (path == "-") throw UsageError("--out: an index is a file, not a stream; name one, e.g. points.kith");
           flags->out = path;
         },
         true},
        whole_flag("--shards", "N", "build a folder of N shards; by default as few as --memory allows", flags->shards,
                   1, 4096),
        engine_flag(flags->build.engine),
        any_metric_flag(flags->build.metric, flags->sequences, nullptr),
        metric_params_flag(flags->build.metric_params),
        leaf_size_flag(flags->build),
        split_flag(flags->build),
        builder_flag(flags->build.builder),
        period_flag(flags->axes, flags->build.period),
        device,
        threads_flag([flags](int threads) { flags->build.threads = flags->read.threads = threads; }),
        memory_flag(),
        {"--skip-nonfinite", "", "skip rows with NaN, infinity or missing values; other rows keep their numbers",
         [flags](const std::string&) { flags->build.skip_nonfinite = flags->read.missing_as_nan = true; }},
        json_flag(flags->output, "print a report as JSON"),
        quiet_flag(flags->output),
        explain_flag(flags->output,
                     "print to standard error what was read, the memory needed, which engine was chosen, and why")}},
      input_flags(flags->read),
      sequence_flags(flags->sequences)};
  command.examples = {
      {"an index of a scan", "kith build scan.ply --out scan.kith"},
      {"search it later, any number of times", "kith knn scan.kith queries.ply -k 8 --out near.npz"},
      {"build it on the GPU; the file is the same", "kith build scan.ply --device cuda --out scan.kith"},
      {"an index of words, by edit distance", "kith build words.txt --metric edit --out words.kith"},
      {"an index for the Manhattan distance", "kith build table.csv --metric l1 --out table.kith"},
      {"shards of points that are larger than memory", "kith build huge.npy --memory 2G --out huge.shards"}};
  command.run = [flags] {
    if (flags->paths.size() > 1) return run_build(*flags);  // rows are numbered over all files
    return run_naming_rows({{"points", flags->points_path, &flags->read}}, [flags] { return run_build(*flags); });
  };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
