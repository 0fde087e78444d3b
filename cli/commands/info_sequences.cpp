// See info_sequences.hpp.
#include "commands/info_sequences.hpp"

#include "readable.hpp"
#include "standard_output.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/dedupe_sequences.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_set>

namespace kith::cli {
namespace {

struct SequenceSummary {
  std::uint64_t count = 0;
  std::uint64_t items = 0;
  std::uint64_t shortest = 0;
  std::uint64_t longest = 0;
  std::uint64_t empty = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t different_items = 0;
};

SequenceSummary summarize(SequenceView sequences) {
  SequenceSummary summary;
  summary.count = sequences.size();
  summary.items = sequences.item_count();
  std::unordered_set<std::uint32_t> items;
  for (std::uint64_t i = 0; i < sequences.size(); ++i) {
    const std::uint64_t length = sequences.length(i);
    summary.shortest = i == 0 ? length : std::min(summary.shortest, length);
    summary.longest = std::max(summary.longest, length);
    summary.empty += length == 0 ? 1 : 0;
    for (const std::uint32_t item : sequences.sequence(i)) items.insert(item);
  }
  summary.different_items = items.size();
  summary.duplicates = summary.count - apps::dedupe(sequences).kept.size();
  return summary;
}

}  // namespace

int show_sequences(const std::string& path, const SequenceFlags& flags, const OutputFlags& output) {
  TerminalProgress progress(output.quiet);
  const bool are_sets = flags.makes_sets() || flags.from == io::SequenceFormat::sets ||
                        (flags.metric == SequenceMetric::jaccard && !flags.from && flags.text_column.empty());
  const io::SequenceFile file =
      read_sequence_file(path, are_sets ? SequenceMetric::jaccard : flags.metric.value_or(SequenceMetric::edit), flags,
                         {}, output, progress.callback());
  const SequenceSummary summary = summarize(file.view());
  progress.erase();
  const std::string format =
      flags.text_column.empty() ? std::string(io::name_of(file.format)) : fmt::format("column {}", flags.text_column);
  if (output.json) {
    nlohmann::ordered_json report;
    report["format"] = format;
    report["sequences"] = summary.count;
    report["kind"] = name_of(file.sequences.kind());
    report["items"] = summary.items;
    report["different_items"] = summary.different_items;
    report["shortest"] = summary.shortest;
    report["longest"] = summary.longest;
    report["empty"] = summary.empty;
    report["duplicates"] = summary.duplicates;
    report["bytes"] = file.sequences.bytes();
    write_to_stdout(report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    return 0;
  }
  std::string text = fmt::format("file          {}\nformat        {}\n", path == "-" ? "standard input" : path, format);
  text += fmt::format("sequences     {}\nkind          {}\n", readable_count(summary.count),
                      name_of(file.sequences.kind()));
  text += fmt::format("items         {}, {} different\n", readable_count(summary.items),
                      readable_count(summary.different_items));
  text += fmt::format("lengths       {} to {}\n", readable_count(summary.shortest), readable_count(summary.longest));
  text += fmt::format("empty         {}\nduplicates    {}\n", readable_count(summary.empty),
                      readable_count(summary.duplicates));
  text += fmt::format("memory        {}\n", readable_bytes(static_cast<double>(file.sequences.bytes())));
  write_to_stdout(text);
  return 0;
}

}  // namespace kith::cli
