// See prepared_sequence_search.hpp.
#include "prepared_sequence_search.hpp"

#include "allowed_points.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace kith::cli {
namespace {

void require_fitting_sequences(const SearchFlags& flags, const IndexFileInfo& info) {
  const auto refuse = [&](const std::string& has, const std::string& flag) {
    throw UsageError(
        fmt::format("{} is an index {}; leave {} out, or build an index that fits", flags.points_path, has, flag));
  };
  if (flags.metric_given && flags.sequences.metric != info.sequence_metric) {
    refuse(fmt::format("for {}", info.metric_name),
           fmt::format("--metric {}",
                       flags.sequences.metric ? name_of(*flags.sequences.metric) : flags.build.metric.name()));
  }
  if (flags.build.engine != Engine::automatic && flags.build.engine != info.engine) {
    refuse(fmt::format("of engine {}", name_of(info.engine)), fmt::format("--engine {}", name_of(flags.build.engine)));
  }
  if (flags.build.leaf_size != 0) refuse("that has its leaves", "--leaf-size");
  if (flags.sequences.text && *flags.sequences.text != info.sequence_kind) {
    refuse(fmt::format("of {}", name_of(info.sequence_kind)), "--text");
  }
  if (flags.self() && flags.sequences.from) refuse("that has its sequences", "--from");
}

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

}  // namespace

PreparedSequenceSearch::PreparedSequenceSearch(const SearchFlags& flags, TerminalProgress& progress,
                                               const PreparedSearch::Check& check)
    : flags_(flags), loaded_(flags.points_path != "-" && is_index_file(flags.points_path)) {
  refuse_flags_of_points(flags, "sequences", {.eps = true, .map = loaded_, .leaf_size = true});
  if (!flags.self() && flags.queries_path != "-" && is_index_file(flags.queries_path)) {
    throw UsageError(fmt::format("{} is an index; QUERIES are a file of strings or sets", flags.queries_path));
  }
  if (loaded_) {
    load(progress, check);
  } else {
    read_and_build(progress, check);
  }
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
}

void PreparedSequenceSearch::read_and_build(TerminalProgress& progress, const PreparedSearch::Check& check) {
  if (!flags_.sequences.metric) {
    throw UsageError(
        "--from, --text, --text-column, --shingle and --words are for strings and sets; say --metric edit, hamming or "
        "jaccard");
  }
  const SequenceMetric metric = *flags_.sequences.metric;
  const Stopwatch read_watch;
  const io::SequenceFile file =
      read_sequence_file(flags_.points_path, metric, flags_.sequences, {}, flags_.output, progress.callback());
  if (flags_.wants_columns()) columns_.points = columns_of(file.strings ? *file.strings : file.view(), file.names);
  read_others(metric, file.sequences.kind(), file.sequences.size(), progress);
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, DType::f32);
  index_ = SequenceIndex::build(file.view(), metric,
                                {.engine = flags_.build.engine,
                                 .device = flags_.build.device,
                                 .leaf_size = flags_.build.leaf_size,
                                 .expected_queries = query_count_,
                                 .threads = flags_.build.threads,
                                 .progress = progress.callback(),
                                 .times = &build_times_});
}

void PreparedSequenceSearch::load(TerminalProgress& progress, const PreparedSearch::Check& check) {
  const IndexFileInfo info = describe_index_file(flags_.points_path);
  require_fitting_sequences(flags_, info);
  const Stopwatch read_watch;
  read_others(info.sequence_metric, info.sequence_kind, info.rows, progress);
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, DType::f32);
  LoadOptions options;
  options.times = &build_times_;
  options.device = flags_.build.device;
  options.threads = flags_.build.threads;
  options.map = flags_.map;
  options.progress = progress.callback();
  index_ = SequenceIndex::load(flags_.points_path, options);
  if (flags_.wants_columns()) columns_.points = columns_of(index_->sequences(), {});
}

void PreparedSequenceSearch::read_others(SequenceMetric metric, SequenceKind kind, std::uint64_t sequences,
                                         TerminalProgress& progress) {
  query_count_ = sequences;
  if (!flags_.self()) {
    queries_ =
        read_sequence_file(flags_.queries_path, metric, flags_.sequences, kind, flags_.output, progress.callback());
    query_count_ = queries_.sequences.size();
    const SequenceView shown = queries_.strings ? *queries_.strings : queries_.view();
    if (flags_.wants_columns()) columns_.queries = columns_of(shown, queries_.names);
  }
  if (!flags_.allow_path.empty()) {
    allowed_ = read_allowed_points(flags_.allow_path, sequences, flags_.output, progress.callback());
  }
}

SequenceSearchOptions PreparedSequenceSearch::options(const ProgressCallback& progress) const {
  return {.exclude_self = flags_.search.exclude_self,
          .earlier_only = flags_.search.earlier_only,
          .max_neighbors = flags_.search.max_neighbors,
          .max_distance = flags_.search.max_distance,
          .eps = flags_.search.eps,
          .allowed = allowed_,
          .threads = flags_.search.threads,
          .progress = progress};
}

nlohmann::ordered_json PreparedSequenceSearch::report() const {
  nlohmann::ordered_json report;
  report["points"] = index_->size();
  report["queries"] = query_count();
  report["kind"] = name_of(index_->kind());
  report["items"] = index_->sequences().item_count();
  report["metric"] = name_of(index_->metric());
  report["exclude_self"] = flags_.search.exclude_self;
  if (!flags_.allow_path.empty()) {
    std::uint64_t allowed = 0;
    for (const std::uint64_t word : allowed_) allowed += static_cast<std::uint64_t>(std::popcount(word));
    report["allowed_points"] = allowed;
  }
  if (flags_.search.earlier_only) report["earlier_only"] = true;
  report["engine"] = name_of(index_->engine());
  report["device"] = index_->device().name();
  report["threads"] = threads_in_use(flags_.search.threads);
  report["index_bytes"] = index_->memory_bytes();
  report["read_ms"] = read_ms_;
  report["build_ms"] = build_times_.total_ms;
  return report;
}

std::string PreparedSequenceSearch::engine_text() const {
  return fmt::format("{} on {}, {}", name_of(index_->engine()), index_->device().name(),
                     counted(static_cast<std::uint64_t>(threads_in_use(flags_.search.threads)), "thread"));
}

SearchTimes PreparedSequenceSearch::times() const {
  SearchTimes times;
  times.read_ms = read_ms_;
  times.is_loaded = loaded_;
  times.build = build_times_;
  return times;
}

}  // namespace kith::cli
