// See build_stored.hpp.
#include "commands/build_stored.hpp"

#include "commands/all_commands.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/error.hpp>
#include <kith/io/point_rows.hpp>
#include <kith/shards/stored_shards.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kith::cli {
namespace {

void report(const BuildFlags& flags, const shards::StoredShards& stored, double build_ms) {
  if (flags.output.json) {
    nlohmann::ordered_json json;
    json["points"] = stored.size();
    json["skipped_points"] = stored.skipped();
    json["dims"] = stored.dims();
    json["dtype"] = name_of(stored.dtype());
    json["metric"] = stored.metric().name();
    json["shards"] = stored.map().size();
    json["largest_shard_bytes"] = stored.largest_shard_bytes();
    json["threads"] = threads_in_use(flags.build.threads);
    json["file_bytes"] = stored.file_bytes();
    json["build_ms"] = build_ms;
    write_to_stdout(json.dump(2) + "\n");
  }
  flags.output.summary(
      fmt::format("{} of {} of {} ({}), {}\nbuild {}\nshards in {}", counted(stored.map().size(), "shard"),
                  counted(stored.size(), "point"), counted(stored.dims(), "dimension"), stored.metric().name(),
                  readable_bytes(static_cast<double>(stored.file_bytes())), readable_duration(build_ms), flags.out));
  if (stored.skipped() > 0) {
    flags.output.note(fmt::format("{} with NaN or infinity were left out", counted(stored.skipped(), "point")));
  }
}

}  // namespace

bool wants_shards(const BuildFlags& flags) {
  return flags.shards != 0 || flags.out.ends_with(".shards") || shards::is_stored_shards(flags.out);
}

int build_stored(const BuildFlags& flags) {
  refuse_sequence_flags(flags.sequences, "points");
  if (flags.sequences.metric) {
    throw UsageError(fmt::format("--metric {} is not for shards, which hold points", name_of(*flags.sequences.metric)));
  }
  if (flags.build.device.kind() == Device::Kind::cuda) {
    throw UsageError("--device: shards on the disk are built on the CPU; leave it out");
  }
  if (std::ranges::any_of(flags.axes, [](const apps::PeriodicAxis& axis) { return axis.lower != 0; })) {
    throw UsageError("--period: the axes of shards begin at 0; give their lengths");
  }
  std::vector<io::PointRows> files;
  for (const std::string& path : flags.paths) files.emplace_back(path, flags.read);
  TerminalProgress progress(flags.output.quiet);
  left_by_interrupt() = fmt::format("the same command goes on with what is in {}", flags.out);
  shards::StoredBuildOptions options;
  options.shards = flags.shards;
  options.build = flags.build;
  options.build.progress = progress.callback();
  options.note = [&](const std::string& text) {
    progress.erase();
    flags.output.note(text);
  };
  const Stopwatch watch;
  const shards::StoredShards stored = shards::StoredShards::build(files, flags.out, options);
  progress.erase();
  flags.output.explanation(stored.explain());
  report(flags, stored, watch.milliseconds());
  return 0;
}

}  // namespace kith::cli
