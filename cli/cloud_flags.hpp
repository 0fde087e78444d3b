// What the commands on point clouds share: which points are read, and where and how the result is written.
#pragma once

#include "command.hpp"
#include "kept_columns.hpp"
#include "output_flags.hpp"
#include "terminal_progress.hpp"

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::cli {

struct CloudFlags {
  std::string points_path;
  std::string out = "-";
  bool out_given = false;
  ColumnFlags columns;
  bool ascii = false;
  bool skip_nonfinite = false;
  int threads = 0;
  io::ReadOptions read;
  OutputFlags output;

  /// Where the points go; empty if only the report was asked for.
  std::string result_path() const { return !out_given && output.json ? "" : out; }
};

/// The argument POINTS.
Argument cloud_argument(CloudFlags& flags);
/// --skip-nonfinite; `text` says what becomes of such rows.
Flag skip_rows_flag(CloudFlags& flags, const std::string& text);
/// --threads.
Flag cloud_threads_flag(CloudFlags& flags);
/// --out.
Flag cloud_out_flag(CloudFlags& flags, const std::string& what);
/// --carry, --drop, --ascii, --json, --quiet, --explain.
std::vector<Flag> cloud_result_flags(CloudFlags& flags, const std::string& explained);

/// The cloud of the flags with its columns, and how long reading took.
struct ReadCloud {
  KeptColumns columns;
  double read_ms = 0;
};
/// Throws as `KeptColumns`, and Interrupted.
ReadCloud read_cloud(const CloudFlags& flags, TerminalProgress& progress);

/// What the options of all applications on clouds have in common.
template <typename Options>
void take_common(const CloudFlags& flags, TerminalProgress& progress, Options& options) {
  options.skip_nonfinite = flags.skip_nonfinite;
  options.threads = flags.threads;
  options.progress = progress.callback();
}

/// Writes these rows, unless the path is empty. Throws as `KeptColumns::write`.
void write_cloud(const CloudFlags& flags, const std::string& path, const KeptColumns& columns,
                 std::span<const std::uint32_t> rows, const NewColumns& fresh, TerminalProgress& progress);

/// 0, 1, …, count - 1.
std::vector<std::uint32_t> every_row(std::uint64_t count);

}  // namespace kith::cli
