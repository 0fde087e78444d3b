// kith convert: files from any format that is read to any that is written, with all their columns and types.
#include "commands/all_commands.hpp"

#include "column_types.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "number_arguments.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "table_input.hpp"
#include "terminal_progress.hpp"

#include <kith/error.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <memory>
#include <numeric>

namespace kith::cli {
namespace {

struct ConvertFlags {
  std::vector<std::string> paths;  // the last one is written
  std::vector<std::string> drop;
  ColumnTypes types;
  bool skip_nonfinite = false;
  bool ascii = false;
  std::uint64_t rows_per_file = 0;  // 0: all into one
  io::ReadOptions read;
  OutputFlags output;

  std::vector<std::string> inputs() const { return {paths.begin(), paths.end() - 1}; }
  const std::string& out() const { return paths.back(); }
};

/// "scan.ply" becomes "scan-0001.ply", and "scan.csv.gz" "scan-0001.csv.gz".
std::string numbered_path(const std::string& path, std::uint64_t number) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  std::size_t end = path.rfind('.');
  if (path.ends_with(".gz")) end = path.rfind('.', end - 1);
  if (end == std::string::npos || end <= name) end = path.size();
  return fmt::format("{}-{:04}{}", path.substr(0, end), number, path.substr(end));
}

io::Table read_all(const ConvertFlags& flags, TerminalProgress& progress) {
  io::Table all;
  const std::vector<std::string> inputs = flags.inputs();
  for (const std::string& path : inputs) {
    io::Table table = read_table_input(path, flags.read, flags.output, progress.callback());
    if (!flags.drop.empty()) drop_columns(table, flags.drop, path);
    convert_columns(table, flags.types, path);
    if (&path == &inputs.front()) {
      all = std::move(table);
    } else {
      io::append_rows(all, table, path);
    }
    stop_if_interrupted();
  }
  return all;
}

/// Missing values of a text file are NaN elsewhere; a note tells how many.
void note_missing(const ConvertFlags& flags, const io::Table& table, io::Format format) {
  if (format == io::Format::text) return;
  std::uint64_t missing = 0;
  for (const io::Column& column : table.columns) {
    if (!io::is_float(column.type()) || column.texts().empty()) continue;
    for (std::uint64_t row = 0; row < column.rows(); ++row) missing += column.number(row) != column.number(row) ? 1 : 0;
  }
  if (missing > 0) {
    flags.output.note(fmt::format("{} written as NaN; --skip-nonfinite leaves such rows out",
                                  counted(missing, "missing value is", "missing values are")));
  }
}

/// The files that were written.
std::vector<std::string> write_all(const ConvertFlags& flags, const io::Table& table, TerminalProgress& progress) {
  io::WriteOptions write;
  write.format = check_points_path(flags.out());
  write.ascii = flags.ascii;
  write.progress = progress.callback();
  const ExitOnInterrupt leave(flags.out() == "-");
  if (flags.rows_per_file == 0) {
    write_table_output(flags.out(), table, write, flags.output);
    return {flags.out()};
  }
  std::vector<std::string> written;
  OutputFlags output = flags.output;
  for (std::uint64_t row = 0; row == 0 || row < table.rows(); row += flags.rows_per_file) {
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(std::min(flags.rows_per_file, table.rows() - row)));
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(row));
    written.push_back(numbered_path(flags.out(), written.size() + 1));
    write_table_output(written.back(), io::take_rows(table, rows), write, output);
    output.quiet = true;  // what is left out is the same in all of them
    stop_if_interrupted();
  }
  return written;
}

void check_flags(const ConvertFlags& flags) {
  if (flags.paths.size() < 2) {
    throw UsageError("convert: name what to read and, last, what to write: kith convert IN... OUT");
  }
  check_points_path(flags.out());
  if (flags.output.json && flags.out() == "-") {
    throw UsageError("--json and OUT - would write to standard output together; give a file");
  }
  if (flags.rows_per_file > 0 && flags.out() == "-") {
    throw UsageError("--rows-per-file writes several files; give OUT a name, not -");
  }
  require_own_files({{"OUT", flags.out()}}, flags.inputs());
}

int run_convert(const ConvertFlags& flags) {
  check_flags(flags);
  TerminalProgress progress(flags.output.quiet);
  const Stopwatch read_watch;
  io::Table table = read_all(flags, progress);
  std::uint64_t skipped = 0;
  if (flags.skip_nonfinite) {
    const std::vector<std::uint32_t> rows = finite_rows(table);
    skipped = table.rows() - rows.size();
    if (skipped > 0) table = io::take_rows(table, rows);
  }
  const double read_ms = read_watch.milliseconds();

  const Stopwatch write_watch;
  const std::vector<std::string> written = write_all(flags, table, progress);
  const double write_ms = write_watch.milliseconds();
  progress.erase();
  note_missing(flags, table, check_points_path(flags.out()));
  if (flags.output.json) {
    nlohmann::ordered_json report;
    report["rows"] = table.rows();
    report["skipped_rows"] = skipped;
    report["columns"] = nlohmann::ordered_json::array();
    for (const io::Column& column : table.columns) {
      report["columns"].push_back({{"name", column.name()}, {"type", io::name_of(column.type())}});
    }
    report["files"] = written;
    report["read_ms"] = read_ms;
    report["write_ms"] = write_ms;
    write_to_stdout(report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  flags.output.summary(fmt::format("{} of {} from {}, read {}, write {}", counted(table.rows(), "row"),
                                   counted(table.columns.size(), "column"), counted(flags.paths.size() - 1, "file"),
                                   readable_duration(read_ms), readable_duration(write_ms)));
  if (skipped > 0) flags.output.note(fmt::format("{} with NaN or infinity were left out", counted(skipped, "row")));
  if (flags.out() != "-") {
    flags.output.summary(written.size() == 1 ? fmt::format("result in {}", written.front())
                                             : fmt::format("result in {} to {}", written.front(), written.back()));
  }
  return 0;
}

}  // namespace

Command convert_command() {
  const auto flags = std::make_shared<ConvertFlags>();
  Command command;
  command.name = "convert";
  command.summary = "write files in another format, with all columns and types";
  command.synopsis = "IN... OUT [--columns A,B,C] [--drop A,B] [--dtype T] [--rows-per-file N] [flags]";
  command.description =
      "Reads every column of IN, in any format that kith reads, and writes OUT: .csv, .tsv, .txt, .xyz, .npy, .npz, "
      ".ply, .pcd or .las, each also compressed (.gz). Columns keep their names and types, and text is kept unchanged; "
      "a note says what the output format cannot hold. Several input files are concatenated, with columns matched by "
      "name.";
  command.arguments = {{"FILES", "FILE",
                        "input files, then the output file; - is standard input or, as CSV, standard output",
                        [flags](const std::string& path) { flags->paths.push_back(path); }, true, true}};
  command.groups = {
      {"What to write",
       {drop_flag(flags->drop, "drop these columns"),
        column_types_flag(flags->types),
        {"--skip-nonfinite", "", "skip rows with NaN, infinity or missing values in numeric columns",
         [flags](const std::string&) { flags->skip_nonfinite = flags->read.missing_as_nan = true; }},
        whole_flag("--rows-per-file", "N", "write several files of at most N rows: out-0001.ply, out-0002.ply, …",
                   flags->rows_per_file, 1),
        {"--ascii", "", "write ply and pcd as text instead of binary", &flags->ascii},
        threads_flag([flags](int threads) { flags->read.threads = threads; }),
        json_flag(flags->output, "print a report as JSON"),
        quiet_flag(flags->output),
        explain_flag(flags->output, "print to standard error what was read")}},
      table_input_flags(flags->read)};
  command.examples = {
      {"a scan for another program, with its colours and intensities", "kith convert scan.las scan.ply"},
      {"the coordinates of a table as a NumPy array", "kith convert cities.csv cities.npy --columns lon,lat"},
      {"three scans in one", "kith convert a.ply b.ply c.ply all.ply"},
      {"a large table in pieces, compressed", "kith convert all.csv part.csv.gz --rows-per-file 1M"}};
  command.run = [flags] { return run_convert(*flags); };
  return command;
}

}  // namespace kith::cli
