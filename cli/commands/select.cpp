// kith select: some rows of a file, with all their columns.
#include "commands/all_commands.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "readable.hpp"
#include "row_conditions.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "table_input.hpp"
#include "terminal_progress.hpp"

#include <kith/error.hpp>
#include <kith/io/row_map_file.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <memory>

namespace kith::cli {
namespace {

struct SelectFlags {
  std::string path;
  std::string out = "-";
  bool out_given = false;
  std::string map_path;
  std::vector<std::string> columns;  // of the result
  std::vector<std::string> drop;
  bool ascii = false;
  RowConditions conditions;
  io::ReadOptions read;
  OutputFlags output;

  /// Where the rows go; empty if only the report was asked for.
  std::string result_path() const { return !out_given && output.json ? "" : out; }
};

void check_flags(const SelectFlags& flags) {
  if (!flags.conditions.any_given()) {
    throw UsageError("select: say which rows: --where, --box, --range, --mask, --every or --random");
  }
  if (flags.output.json && (flags.result_path() == "-" || flags.map_path == "-")) {
    throw UsageError("--json, --out - and --map - would write to standard output together; give a file");
  }
  if (flags.map_path == "-" && flags.result_path() == "-") {
    throw UsageError("--out and --map would both write to standard output; give one of them a file");
  }
  require_own_files({{"--out", flags.result_path()}, {"--map", flags.map_path}},
                    {flags.path, flags.conditions.mask_path});
}

/// Per row of the file its place in the result.
std::vector<std::uint32_t> places_in_result(const std::vector<std::uint32_t>& rows, std::uint64_t all) {
  std::vector<std::uint32_t> places(static_cast<std::size_t>(all), std::numeric_limits<std::uint32_t>::max());
  for (std::size_t i = 0; i < rows.size(); ++i) places[rows[i]] = static_cast<std::uint32_t>(i);
  return places;
}

void write_all(const SelectFlags& flags, const io::Table& table, const std::vector<std::uint32_t>& rows,
               TerminalProgress& progress) {
  const std::string path = flags.result_path();
  if (!flags.map_path.empty()) {
    const ExitOnInterrupt leave(flags.map_path == "-");
    io::write_row_map(flags.map_path, places_in_result(rows, table.rows()), rows, progress.callback());
  }
  if (path.empty()) return;
  io::Table taken = io::take_rows(table, rows);
  if (!flags.columns.empty()) {
    std::vector<std::uint32_t> positions;
    for (const std::string& name : flags.columns) positions.push_back(taken.require(name, flags.path));
    taken.keep(positions);
  }
  if (!flags.drop.empty()) drop_columns(taken, flags.drop, flags.path);
  io::WriteOptions write;
  write.format = check_points_path(path);
  write.ascii = flags.ascii;
  write.progress = progress.callback();
  const ExitOnInterrupt leave(path == "-");
  write_table_output(path, taken, write, flags.output);
}

int run_select(SelectFlags flags) {
  check_flags(flags);
  flags.columns = std::move(flags.read.columns);  // conditions may use every column of the file
  flags.read.columns.clear();
  TerminalProgress progress(flags.output.quiet);
  const Stopwatch read_watch;
  const io::Table table = read_table_input(flags.path, flags.read, flags.output, progress.callback());
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch select_watch;
  flags.conditions.threads = flags.read.threads;
  const std::vector<std::uint32_t> rows =
      chosen_rows(table, flags.conditions, flags.path, flags.output, progress.callback());
  const double select_ms = select_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  write_all(flags, table, rows, progress);
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  if (flags.output.json) {
    nlohmann::ordered_json report;
    report["rows"] = table.rows();
    report["selected"] = rows.size();
    if (flags.conditions.random) report["seed"] = flags.conditions.seed;
    report["read_ms"] = read_ms;
    report["select_ms"] = select_ms;
    report["write_ms"] = write_ms;
    write_to_stdout(report.dump(2) + "\n");
  }
  flags.output.summary(fmt::format("{} of {} selected\nread {}, select {}, write {}", readable_count(rows.size()),
                                   counted(table.rows(), "row"), readable_duration(read_ms),
                                   readable_duration(select_ms), readable_duration(write_ms)));
  if (flags.out_given && flags.out != "-") flags.output.summary(fmt::format("rows in {}", flags.out));
  if (!flags.map_path.empty() && flags.map_path != "-") {
    flags.output.summary(fmt::format("map in {}", flags.map_path));
  }
  return 0;
}

}  // namespace

Command select_command() {
  const auto flags = std::make_shared<SelectFlags>();
  Command command;
  command.name = "select";
  command.summary = "select rows of a file, with all their columns";
  command.synopsis = "FILE [--where CONDITION] [--box LO:HI,…] [--range A:B] [--every N] [--random N] [--out FILE]";
  command.description =
      "Writes the rows that satisfy all of --where, --box, --range and --mask, in file order; --every and --random "
      "then take some of them. All columns are kept, with their types. A condition compares columns, numbers and "
      "strings with == != < <= > >=, computes with + - * / and abs, sqrt, floor, min, max, isnan, isfinite, and "
      "combines with and, or, not and parentheses. row is the row number; put column names that are not plain words in "
      "backticks.";
  command.arguments = {{"FILE", "FILE", "the rows; - is standard input", &flags->path, true}};
  command.groups = {
      condition_flags(flags->conditions),
      {"Result",
       {{"-o,--out", "FILE",
         "output file for the rows: .csv, .npy, .npz, .ply, .pcd or .las; by default CSV on standard output",
         [flags](const std::string& path) {
           check_points_path(path);
           flags->out = path;
           flags->out_given = true;
         }},
        {"--map", "FILE", "for each row of the file, its number in the result: .npy, .npz, .csv or .tsv",
         Take(&flags->map_path, check_map_path)},
        drop_flag(flags->drop, "drop these columns"),
        {"--ascii", "", "write ply and pcd as text instead of binary", &flags->ascii},
        threads_flag([flags](int threads) { flags->read.threads = threads; }),
        json_flag(flags->output, "print a report as JSON; the rows are then written only with --out"),
        quiet_flag(flags->output),
        explain_flag(flags->output, "print to standard error what was read")}},
      table_input_flags(flags->read)};
  command.examples = {{"remove outliers, after kith knn scan.ply -k 8 --stats --out stats.ply",
                       "kith select stats.ply --where \"mean_distance < 0.2\" --out clean.ply"},
                      {"rows labelled as cars", "kith select found.csv --where \"label == 'car' and score > 0.5\""},
                      {"the points in a box", "kith select scan.las --box 0:10,0:10,:2.5 --out corner.las"},
                      {"a thousand rows at random", "kith select big.csv --random 1000 --seed 7 --out some.csv"}};
  command.run = [flags] { return run_select(*flags); };
  return command;
}

}  // namespace kith::cli
