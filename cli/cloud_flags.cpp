// See cloud_flags.hpp.
#include "cloud_flags.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "stopwatch.hpp"

#include <kith/io/write_points.hpp>

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace kith::cli {

Argument cloud_argument(CloudFlags& flags) {
  return {"POINTS", "FILE", "the points; - is standard input", &flags.points_path, true};
}

Flag skip_rows_flag(CloudFlags& flags, const std::string& text) {
  return {"--skip-nonfinite", "", text,
          [&flags](const std::string&) { flags.skip_nonfinite = flags.read.missing_as_nan = true; }};
}

Flag cloud_threads_flag(CloudFlags& flags) {
  return threads_flag([&flags](int threads) { flags.threads = flags.read.threads = threads; });
}

Flag cloud_out_flag(CloudFlags& flags, const std::string& what) {
  return {
      "-o,--out", "FILE",
      fmt::format("output file for {}: .csv, .npy, .npz, .ply, .pcd or .las; by default CSV on standard output", what),
      [&flags](const std::string& path) {
        check_points_path(path);
        flags.out = path;
        flags.out_given = true;
      }};
}

std::vector<Flag> cloud_result_flags(CloudFlags& flags, const std::string& explained) {
  return {{"--carry", "A,B,C", "keep the coordinates and only these other columns; by default all columns",
           [&flags](const std::string& value) { flags.columns.carry = parse_columns("--carry", value); }},
          {"--drop", "A,B,C", "drop these columns from the result; \"all\" keeps only the coordinates",
           [&flags](const std::string& value) { flags.columns.drop = parse_columns("--drop", value); }},
          {"--ascii", "", "write ply and pcd as text instead of binary", &flags.ascii},
          json_flag(flags.output, "print a report as JSON; the points are then written only with --out"),
          quiet_flag(flags.output),
          explain_flag(flags.output, explained)};
}

ReadCloud read_cloud(const CloudFlags& flags, TerminalProgress& progress) {
  const Stopwatch watch;
  KeptColumns columns(flags.points_path, flags.columns, flags.read, flags.output, progress.callback());
  const double read_ms = watch.milliseconds();
  stop_if_interrupted();
  return {std::move(columns), read_ms};
}

void write_cloud(const CloudFlags& flags, const std::string& path, const KeptColumns& columns,
                 std::span<const std::uint32_t> rows, const NewColumns& fresh, TerminalProgress& progress) {
  if (path.empty()) return;
  io::WriteOptions write;
  write.format = check_points_path(path);
  write.ascii = flags.ascii;
  write.progress = progress.callback();
  const ExitOnInterrupt leave(path == "-");
  columns.write(path, rows, fresh, write, flags.output, flags.threads);
}

std::vector<std::uint32_t> every_row(std::uint64_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

}  // namespace kith::cli
