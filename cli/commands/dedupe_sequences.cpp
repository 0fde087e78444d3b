// See dedupe_sequences.hpp.
#include "commands/dedupe_sequences.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/dedupe_sequences.hpp>
#include <kith/error.hpp>
#include <kith/io/row_map_file.hpp>
#include <kith/io/write_sequences.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kith::cli {
namespace {

/// The strings as they stand in the file, which is what is written, and the sets that are compared if others are.
struct ReadSequences {
  io::SequenceFile file;
  SequenceSet sets;
  bool compares_sets = false;

  SequenceView compared() const { return compares_sets ? sets.view() : file.view(); }
};

ReadSequences read(const SequenceDedupe& work, const SequenceFlags& flags, SequenceMetric metric,
                   const OutputFlags& output, const ProgressCallback& progress) {
  ReadSequences read;
  if (!flags.makes_sets()) {
    read.file = read_sequence_file(work.path, metric, flags, {}, output, progress);
    return read;
  }
  if (metric != SequenceMetric::jaccard) {
    throw UsageError("--shingle and --words make sets of strings, which --metric jaccard compares");
  }
  SequenceFlags strings = flags;
  strings.shingle = 0;
  strings.words = false;
  read.file = read_sequence_file(work.path, SequenceMetric::edit, strings, {}, output, progress);
  read.sets = flags.words ? io::words_of(read.file.view()) : io::shingles_of(read.file.view(), flags.shingle);
  read.compares_sets = true;
  return read;
}

}  // namespace

int dedupe_sequences(const SequenceDedupe& work, const SequenceFlags& flags, const OutputFlags& output) {
  if (content_of(work.path, flags) == IndexContent::bits) {
    throw UsageError("dedupe does not know bits; strings are read with --from lines");
  }
  TerminalProgress progress(output.quiet);
  const bool are_sets = flags.makes_sets() || flags.from == io::SequenceFormat::sets;
  const SequenceMetric metric = flags.metric.value_or(are_sets ? SequenceMetric::jaccard : SequenceMetric::edit);
  const Stopwatch read_watch;
  const ReadSequences sequences = read(work, flags, metric, output, progress.callback());
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch dedupe_watch;
  apps::SequenceDedupeOptions options;
  options.tolerance = work.tolerance;
  options.metric = metric;
  options.threads = work.threads;
  options.progress = progress.callback();
  const MemoryLimit held(0, bytes_of(sequences.compared()));
  const apps::Deduped deduped = apps::dedupe(sequences.compared(), options);
  const double dedupe_ms = dedupe_watch.milliseconds();
  stop_if_interrupted();

  if (!work.map_path.empty()) {
    const ExitOnInterrupt leave(work.map_path == "-");
    io::write_row_map(work.map_path, deduped.map, deduped.kept, progress.callback());
  }
  if (!work.out.empty()) {
    const ExitOnInterrupt leave(work.out == "-");
    io::write_sequences(work.out, sequences.file, deduped.kept);
  }
  progress.erase();
  const std::uint64_t count = sequences.file.sequences.size();
  if (output.json) {
    nlohmann::ordered_json json;
    json["sequences"] = count;
    json["kept"] = deduped.kept.size();
    json["removed"] = count - deduped.kept.size();
    json["tolerance"] = work.tolerance ? nlohmann::ordered_json(*work.tolerance) : nullptr;
    json["metric"] = name_of(metric);
    json["read_ms"] = read_ms;
    json["dedupe_ms"] = dedupe_ms;
    write_to_stdout(json.dump(2) + "\n");
  }
  const std::string rule = work.tolerance
                               ? fmt::format("within {} ({}) of a kept one", *work.tolerance, name_of(metric))
                               : std::string("equal to a kept one");
  output.summary(fmt::format("{} of {} kept, {} removed (those {}, the first stays)\nread {}, dedupe {}",
                             readable_count(deduped.kept.size()), counted(count, "sequence"),
                             readable_count(count - deduped.kept.size()), rule, readable_duration(read_ms),
                             readable_duration(dedupe_ms)));
  return 0;
}

}  // namespace kith::cli
