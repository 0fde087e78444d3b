// See build_objects.hpp.
#include "commands/build_objects.hpp"

#include "interrupt.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "stopwatch.hpp"
#include "standard_output.hpp"
#include "terminal_progress.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/io/read_bits.hpp>
#include <kith/memory_limit.hpp>
#include <kith/sequence_index.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kith::cli {
namespace {

/// How long each part took.
struct ObjectTimes {
  double read_ms = 0;
  WorkTimes build;
  double write_ms = 0;
};

void require_fitting_flags(const BuildFlags& flags, const std::string& what) {
  SearchFlags as_search;
  as_search.build = flags.build;
  as_search.read = flags.read;
  as_search.search.skip_nonfinite = flags.build.skip_nonfinite;
  refuse_flags_of_points(as_search, what, {.leaf_size = true});
}

/// `facts` is what the report tells of bits or sequences alone, `what` the same for people.
template <typename Index>
int save_and_report(const BuildFlags& flags, const Index& index, nlohmann::ordered_json facts, const std::string& what,
                    ObjectTimes& times, TerminalProgress& progress) {
  stop_if_interrupted();
  flags.output.explanation(index.explain());
  const Stopwatch write_watch;
  StageClock copies("copying", progress.callback());
  index.save(flags.out, {flags.build.threads, copies.callback()});
  times.write_ms = write_watch.milliseconds();
  progress.erase();
  const std::uint64_t file_bytes = describe_index_file(flags.out).file_bytes;
  if (flags.output.json) {
    nlohmann::ordered_json json;
    json["points"] = index.size();
    json.update(facts);
    json["engine"] = name_of(index.engine());
    json["device"] = index.device().name();
    json["threads"] = threads_in_use(flags.build.threads);
    json["index_bytes"] = index.memory_bytes();
    json["file_bytes"] = file_bytes;
    if (times.build.evaluations > 0) json["build_evaluations"] = times.build.evaluations;
    json["read_ms"] = times.read_ms;
    json["build_ms"] = times.build.total_ms;
    json["write_ms"] = times.write_ms;
    json["copy_ms"] = times.build.copy_in_ms + copies.milliseconds();
    write_to_stdout(json.dump(2) + "\n");
  }
  flags.output.summary(fmt::format(
      "index of {} ({} on {}), {}\nread {}, build {}, write {}\nindex in {}", what, name_of(index.engine()),
      index.device().name(), readable_bytes(static_cast<double>(file_bytes)), readable_duration(times.read_ms),
      readable_duration(times.build.total_ms), readable_duration(times.write_ms), flags.out));
  return 0;
}

int build_bits(const BuildFlags& flags, TerminalProgress& progress) {
  require_fitting_flags(flags, "rows of bits");
  refuse_sequence_flags(flags.sequences, "bits");
  if (flags.points_path != "-" && is_index_file(flags.points_path)) {
    throw UsageError(fmt::format("{} is an index of bits already; give the .npy itself", flags.points_path));
  }
  ObjectTimes times;
  const Stopwatch read_watch;
  const io::BitFile file = io::read_bits(flags.points_path, progress.callback());
  times.read_ms = read_watch.milliseconds();
  stop_if_interrupted();
  const MemoryLimit held(0, file.bytes.size());
  const BitIndex index = BitIndex::build(file.view(), {.engine = flags.build.engine,
                                                       .device = flags.build.device,
                                                       .leaf_size = flags.build.leaf_size,
                                                       .threads = flags.build.threads,
                                                       .progress = progress.callback(),
                                                       .times = &times.build});
  return save_and_report(flags, index, {{"bits", index.bits()}, {"metric", "hamming"}},
                         fmt::format("{} of {}, hamming", counted(index.size(), "row"), counted(index.bits(), "bit")),
                         times, progress);
}

int build_sequences(const BuildFlags& flags, TerminalProgress& progress) {
  require_fitting_flags(flags, "sequences");
  if (flags.points_path != "-" && is_index_file(flags.points_path)) {
    throw UsageError(fmt::format("{} is an index of sequences already; give the file itself", flags.points_path));
  }
  if (!flags.sequences.metric) {
    throw UsageError(
        "--from, --text, --text-column, --shingle and --words are for strings and sets; say --metric edit, hamming or "
        "jaccard");
  }
  const SequenceMetric metric = *flags.sequences.metric;
  ObjectTimes times;
  const Stopwatch read_watch;
  const io::SequenceFile file =
      read_sequence_file(flags.points_path, metric, flags.sequences, {}, flags.output, progress.callback());
  times.read_ms = read_watch.milliseconds();
  stop_if_interrupted();
  // Who saves an index means to search it often.
  const Engine engine = flags.build.engine == Engine::automatic ? Engine::cover_tree : flags.build.engine;
  const MemoryLimit held(0, bytes_of(file.view()));
  const SequenceIndex index = SequenceIndex::build(file.view(), metric,
                                                   {.engine = engine,
                                                    .device = flags.build.device,
                                                    .leaf_size = flags.build.leaf_size,
                                                    .threads = flags.build.threads,
                                                    .progress = progress.callback(),
                                                    .times = &times.build});
  return save_and_report(
      flags, index,
      {{"kind", name_of(index.kind())}, {"items", index.sequences().item_count()}, {"metric", name_of(index.metric())}},
      fmt::format("{} of {}, {}", counted(index.size(), "sequence"), name_of(index.kind()), name_of(index.metric())),
      times, progress);
}

}  // namespace

int build_objects(const BuildFlags& flags, IndexContent content) {
  TerminalProgress progress(flags.output.quiet);
  return content == IndexContent::bits ? build_bits(flags, progress) : build_sequences(flags, progress);
}

}  // namespace kith::cli
