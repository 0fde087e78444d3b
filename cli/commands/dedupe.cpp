// kith dedupe: removes points that are equal to, or too near, one that is kept.
#include "commands/all_commands.hpp"

#include "commands/dedupe_sequences.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "kept_columns.hpp"
#include "named_rows.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/error.hpp>
#include <kith/memory_limit.hpp>
#include <kith/io/row_map_file.hpp>
#include <kith/io/write_points.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace kith::cli {
namespace {

struct DedupeFlags {
  std::string points_path;
  std::string out = "-";
  bool out_given = false;
  std::string map_path;
  ColumnFlags columns;
  bool metric_given = false;
  bool ascii = false;
  io::ReadOptions read;
  SequenceFlags sequences;
  apps::DedupeOptions options;
  OutputFlags output;

  /// auto is the CPU.
  Device device() const { return work_device(options.device); }
  /// Where the points go; empty if only the report was asked for.
  std::string result_path() const { return !out_given && output.json ? "" : out; }
};

/// What was done, and how long it took.
struct Work {
  apps::Deduped deduped;
  std::uint64_t points = 0;
  double read_ms = 0;
  double dedupe_ms = 0;
  double write_ms = 0;

  std::uint64_t removed() const { return points - deduped.kept.size() - deduped.skipped; }
};

void check_flags(const DedupeFlags& flags) {
  if (!flags.sequences.metric && !flags.sequences.reading_given()) check_points_path(flags.out);
  if (flags.metric_given && !flags.sequences.metric && !flags.options.tolerance) {
    throw UsageError("--metric goes with --tolerance; without it only equal points are removed");
  }
  if (flags.options.prefer_low && flags.columns.by.empty()) {
    throw UsageError("--lowest goes with --by COLUMN, the column of scores");
  }
  if (flags.output.json && (flags.result_path() == "-" || flags.map_path == "-")) {
    throw UsageError("--json, --out - and --map - would write to standard output together; give a file");
  }
  if (flags.map_path == "-" && flags.result_path() == "-") {
    throw UsageError("--out and --map would both write to standard output; give one of them a file");
  }
  require_own_files({{"--out", flags.result_path()}, {"--map", flags.map_path}}, {flags.points_path});
}

std::string rule_of(const DedupeFlags& flags) {
  const std::string what = flags.options.tolerance ? fmt::format("within {} ({}) of a kept one",
                                                                 *flags.options.tolerance, flags.options.metric.name())
                                                   : "equal to a kept one";
  if (flags.columns.by.empty()) return fmt::format("points {}, the first stays", what);
  return fmt::format("points {}, the one with the {} {} stays", what, flags.options.prefer_low ? "lowest" : "highest",
                     flags.columns.by);
}

void write_all(const DedupeFlags& flags, const KeptColumns& columns, const apps::Deduped& deduped,
               TerminalProgress& progress) {
  const std::string path = flags.result_path();
  if (!flags.map_path.empty()) {
    const ExitOnInterrupt leave(flags.map_path == "-");
    io::write_row_map(flags.map_path, deduped.map, deduped.kept, progress.callback());
  }
  if (path.empty()) return;
  io::WriteOptions write;
  write.format = check_points_path(path);
  write.ascii = flags.ascii;
  write.progress = progress.callback();
  const ExitOnInterrupt leave(path == "-");
  columns.write(path, deduped.kept, write, flags.output, flags.options.threads);
}

void report(const DedupeFlags& flags, const io::PointFile& file, const Work& work) {
  if (flags.output.json) {
    nlohmann::ordered_json json;
    json["points"] = work.points;
    json["kept"] = work.deduped.kept.size();
    json["removed"] = work.removed();
    json["skipped_points"] = work.deduped.skipped;
    json["dims"] = file.points.dims();
    json["dtype"] = name_of(file.points.dtype());
    json["tolerance"] = flags.options.tolerance ? nlohmann::ordered_json(*flags.options.tolerance) : nullptr;
    json["metric"] = flags.options.metric.name();
    json["by"] = flags.columns.by;
    json["device"] = flags.device().name();
    json["threads"] = threads_in_use(flags.options.threads);
    json["read_ms"] = work.read_ms;
    json["dedupe_ms"] = work.dedupe_ms;
    json["write_ms"] = work.write_ms;
    write_to_stdout(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  flags.output.summary(fmt::format("{} of {} kept, {} removed ({})\nread {}, dedupe {}, write {}",
                                   readable_count(work.deduped.kept.size()), counted(work.points, "point"),
                                   readable_count(work.removed()), rule_of(flags), readable_duration(work.read_ms),
                                   readable_duration(work.dedupe_ms), readable_duration(work.write_ms)));
  if (work.deduped.skipped > 0) {
    flags.output.note(fmt::format("{} with NaN or infinity were left out", counted(work.deduped.skipped, "point")));
  }
  const std::string path = flags.result_path();
  if (path != "-" && !path.empty()) flags.output.summary(fmt::format("points in {}", path));
  if (!flags.map_path.empty() && flags.map_path != "-") {
    flags.output.summary(fmt::format("map in {}", flags.map_path));
  }
}

int run_dedupe(DedupeFlags flags) {
  check_flags(flags);
  if (flags.sequences.metric || flags.sequences.reading_given()) {
    if (!flags.columns.by.empty() || !flags.columns.carry.empty() || !flags.columns.drop.empty()) {
      throw UsageError("--by, --carry and --drop are for columns of points, not for strings and sets; leave them out");
    }
    if (flags.device() != Device::cpu()) {
      throw UsageError("--device is for points: strings and sets are compared on the CPU; leave it out");
    }
    return dedupe_sequences(
        {flags.points_path, flags.result_path(), flags.map_path, flags.options.tolerance, flags.options.threads},
        flags.sequences, flags.output);
  }
  TerminalProgress progress(flags.output.quiet);
  Work work;
  const Stopwatch read_watch;
  const KeptColumns columns(flags.points_path, flags.columns, flags.read, flags.output, progress.callback());
  const io::PointFile& file = columns.file();
  work.points = file.points.rows();
  work.read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch dedupe_watch;
  const std::vector<double> scores = columns.scores();
  flags.options.scores = scores;
  flags.options.want_map = !flags.map_path.empty();
  flags.options.progress = progress.callback();
  flags.output.explanation(fmt::format("removing {}", rule_of(flags)));
  flags.output.explanation(
      flags.options.tolerance
          ? "points come in order; each stays unless a kept one is within the tolerance, found by searches of the index"
          : "rows with equal hashes are compared; -0 equals +0");
  flags.output.explanation(fmt::format("device {}", flags.device().name()));
  const MemoryLimit held(0, bytes_of(file.view()));
  work.deduped = apps::dedupe(file.view(), flags.options);
  work.dedupe_ms = dedupe_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  write_all(flags, columns, work.deduped, progress);
  work.write_ms = write_watch.milliseconds();
  progress.erase();
  report(flags, file, work);
  return 0;
}

FlagGroup rule_flags(DedupeFlags& flags) {
  Flag metric = any_metric_flag(flags.options.metric, flags.sequences, nullptr);
  metric.value = metric_choices("|", &MetricInfo::has_distances) + "|hamming|edit|jaccard";
  metric.text =
      "with --tolerance: how distances are measured; l2 by default. edit, hamming and jaccard: strings and sets";
  metric.take = [&flags, take = metric.take](const std::string& value) {
    flags.metric_given = true;
    take(value);
  };
  return {"What to remove",
          {{"--tolerance", "R", "remove points within distance R of a kept one, not only equal ones",
            [&flags](const std::string& value) { flags.options.tolerance = parse_distance("--tolerance", value); }},
           metric,
           metric_params_flag(flags.options.metric_params),
           {"--by", "COLUMN", "keep the point with the highest number in this column, not the first",
            [&flags](const std::string& value) {
              if (value.empty()) throw UsageError("--by: the name of the column is empty");
              flags.columns.by = value;
            }},
           {"--lowest", "", "with --by: keep the lowest number", &flags.options.prefer_low},
           {"--skip-nonfinite", "", "skip rows with NaN, infinity or missing values",
            [&flags](const std::string&) { flags.options.skip_nonfinite = flags.read.missing_as_nan = true; }},
           work_device_flag(flags.options.device),
           threads_flag([&flags](int threads) { flags.options.threads = flags.read.threads = threads; }),
           memory_flag()}};
}

FlagGroup file_flags(DedupeFlags& flags) {
  return {"Result",
          {{"-o,--out", "FILE",
            "output file for the kept points: .csv, .npy, .npz, .ply, .pcd or .las; by default CSV on standard output",
            [&flags](const std::string& path) {
              check_output_path(path);
              flags.out = path;
              flags.out_given = true;
            }},
           {"--map", "FILE", "for each row of the input, the kept row that represents it: .npy, .npz, .csv or .tsv",
            Take(&flags.map_path, check_map_path)},
           {"--carry", "A,B,C", "keep the coordinates and only these other columns; by default all columns",
            [&flags](const std::string& value) { flags.columns.carry = parse_columns("--carry", value); }},
           {"--drop", "A,B,C", "drop these columns from the result; \"all\" keeps only the coordinates",
            [&flags](const std::string& value) { flags.columns.drop = parse_columns("--drop", value); }},
           {"--ascii", "", "write ply and pcd as text instead of binary", &flags.ascii},
           json_flag(flags.output, "print a report as JSON; the points are then written only with --out"),
           quiet_flag(flags.output),
           explain_flag(flags.output, "print to standard error what was read and what will be removed")}};
}

}  // namespace

Command dedupe_command() {
  const auto flags = std::make_shared<DedupeFlags>();
  Command command;
  command.name = "dedupe";
  command.summary = "remove points that are equal or too close to each other";
  command.synopsis = "POINTS [--out FILE] [--map FILE] [--tolerance R] [--by COLUMN] [flags]";
  command.description =
      "Keeps the first of equal points, in their original order. With --tolerance R points are considered one by one, "
      "and each is kept unless an earlier kept point is within distance R. So no two kept points are within R of each "
      "other, and every removed point is within R of a kept one. With --by the point with the highest score comes "
      "first; ties go to the lower row number. Every other column of the file stays with its point and keeps its type.";
  command.arguments = {{"POINTS", "FILE", "the points; - is standard input", &flags->points_path, true}};
  command.groups = {rule_flags(*flags), file_flags(*flags), input_flags(flags->read), sequence_flags(flags->sequences)};
  command.examples = {
      {"equal points only, and which row represents which", "kith dedupe scan.ply --out clean.ply --map map.npy"},
      {"no two points within a centimetre", "kith dedupe scan.ply --tolerance 0.01 --out thin.ply"},
      {"the best of each group of detections",
       "kith dedupe found.csv --columns x,y --by score --tolerance 5 --out best.csv"},
      {"merge names that differ by one edit", "kith dedupe names.txt --metric edit --tolerance 1 --out different.txt"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->points_path, &flags->read}}, [flags] { return run_dedupe(*flags); });
  };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
