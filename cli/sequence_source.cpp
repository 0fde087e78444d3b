// Strings and sets for knn and radius: see prepared_search.hpp.
#include "sources.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace kith::cli {
namespace {

/// A string as it was, or the members of a set.
std::string text_of(SequenceView sequences, std::uint64_t i) {
  const SequenceKind kind = sequences.kind();
  if (kind == SequenceKind::numbers || kind == SequenceKind::sets) {
    return fmt::format("{}", fmt::join(sequences.sequence(i), " "));
  }
  SequenceSet one(kind);
  one.add(sequences.sequence(i));
  return one.string(0);
}

/// The names, if there are any, and the strings or sets themselves.
io::Table columns_of(SequenceView sequences, const std::vector<std::string>& names) {
  io::Table table;
  table.named = true;
  io::TextValues texts;
  for (const std::string& name : names) texts.push_back(name);
  if (!names.empty()) table.columns.emplace_back("name", std::move(texts));
  texts = {};
  for (std::uint64_t i = 0; i < sequences.size(); ++i) texts.push_back(text_of(sequences, i));
  table.columns.emplace_back(sequences.kind() == SequenceKind::sets ? "set" : "text", std::move(texts));
  table.coordinates = {static_cast<std::uint32_t>(table.columns.size() - 1)};  // what is compared
  return table;
}
io::Table columns_of(const io::SequenceFile& file) {
  return columns_of(file.strings ? *file.strings : file.view(), file.names);
}

}  // namespace

void SequenceSource::require_flags(const SourceInput& input, bool is_index) const {
  const SearchFlags& flags = input.flags;
  refuse_flags_of_points(flags, "sequences", {.eps = true, .map = is_index, .leaf_size = true});
  if (!flags.self() && is_index_file(flags.queries_path)) {
    throw UsageError(fmt::format("{} is an index; QUERIES are a file of strings or sets", flags.queries_path));
  }
  if (is_index || flags.sequences.metric) return;
  throw UsageError(
      "--from, --text, --text-column, --shingle and --words are for strings and sets; say --metric edit, hamming or "
      "jaccard");
}

void SequenceSource::read_points(const SourceInput& input) {
  const SearchFlags& flags = input.flags;
  metric_ = *flags.sequences.metric;
  points_ =
      read_sequence_file(flags.points_path, metric_, flags.sequences, {}, flags.output, input.progress.callback());
  rows_ = points_.sequences.size();
  kind_ = points_.sequences.kind();
  if (flags.wants_columns()) input.columns.points = columns_of(points_);
}

void SequenceSource::require_fitting(const SourceInput& input, const IndexFileInfo& info) {
  const SearchFlags& flags = input.flags;
  if (flags.sequences.text && *flags.sequences.text != info.sequence_kind) {
    refuse_for_index(flags, fmt::format("of {}", name_of(info.sequence_kind)), "--text");
  }
  if (flags.self() && flags.sequences.from) refuse_for_index(flags, "that has its sequences", "--from");
  metric_ = info.sequence_metric;
  kind_ = info.sequence_kind;
  rows_ = info.rows;
}

void SequenceSource::read_queries(const SourceInput& input) {
  const SearchFlags& flags = input.flags;
  queries_ =
      read_sequence_file(flags.queries_path, metric_, flags.sequences, kind_, flags.output, input.progress.callback());
  if (flags.wants_columns()) input.columns.queries = columns_of(queries_);
}

SequenceIndex SequenceSource::build(const SourceInput&, const BuildOptions& options) {
  const io::SequenceFile points = std::move(points_);  // it is copied, and not needed any more
  return SequenceIndex::build(points.view(), metric_, options);
}

void SequenceSource::take_columns(const SourceInput& input, const SequenceIndex& index) const {
  if (input.flags.wants_columns()) input.columns.points = columns_of(index.sequences(), {});
}

void SequenceSource::add_facts(nlohmann::ordered_json& report, const SequenceIndex& index) const {
  report["kind"] = name_of(index.kind());
  report["items"] = index.sequences().item_count();
  report["metric"] = name_of(index.metric());
}

}  // namespace kith::cli
