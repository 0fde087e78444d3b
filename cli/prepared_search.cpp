// See prepared_search.hpp.
#include "prepared_search.hpp"

#include "value_file.hpp"
#include "sources.hpp"
#include "shard_sources.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace kith::cli {
namespace {

/// Throws UsageError for flags that contradict what the index was built with.
void require_fitting_flags(const SearchFlags& flags, const IndexFileInfo& info) {
  const bool is_same = info.content == IndexContent::points ? flags.build.metric == info.metric
                                                            : flags.sequences.metric == info.sequence_metric;
  if (flags.metric_given && !is_same) {
    refuse_for_index(flags,
                     fmt::format("{}for {}", info.content == IndexContent::bits ? "of bits " : "", info.metric_name),
                     fmt::format("--metric {}", flags.sequences.metric ? name_of(*flags.sequences.metric)
                                                                       : flags.build.metric.name()));
  }
  if (flags.build.engine != Engine::automatic && flags.build.engine != info.engine) {
    refuse_for_index(flags, fmt::format("of engine {}", name_of(info.engine)),
                     fmt::format("--engine {}", name_of(flags.build.engine)));
  }
  if (flags.build.leaf_size != 0) refuse_for_index(flags, "that has its leaves", "--leaf-size");
}

}  // namespace

template <typename Source>
PreparedSearch<Source>::PreparedSearch(const SearchFlags& flags, TerminalProgress& progress, const Check& check)
    : flags_(flags), is_loaded_(Source::is_index(flags.points_path)) {
  const SourceInput input{flags, progress, columns_};
  source_.require_flags(input, is_loaded_);
  std::optional<IndexFileInfo> info;
  if (is_loaded_) {
    info = Source::describe(flags.points_path);
    require_fitting_flags(flags, *info);
  }
  const Stopwatch read_watch;
  if (info) {
    source_.require_fitting(input, *info);
  } else {
    source_.read_points(input);
  }
  query_count_ = source_.rows();
  if (!flags.self()) {
    source_.read_queries(input);
    query_count_ = source_.query_count();
  }
  if (!flags.allow_path.empty()) {
    allowed_ = read_row_mask("--allow", flags.allow_path, source_.rows(), flags.output, progress.callback());
  }
  if (!flags.radius_path.empty()) {
    radii_ = read_query_radii(flags.radius_path, query_count_, flags.output, progress.callback());
  }
  read_ms_ = read_watch.milliseconds();
  held_.emplace(0, source_.bytes());
  stop_if_interrupted();
  check(query_count_, source_.dtype());

  if (is_loaded_) {
    index_.emplace(Index::load(flags.points_path, {.device = flags.build.device,
                                                   .expected_queries = query_count_,
                                                   .threads = flags.build.threads,
                                                   .map = flags.map,
                                                   .progress = progress.callback(),
                                                   .times = &build_times_}));
    source_.take_columns(input, *index_);
  } else {
    BuildOptions build = flags.build;
    build.times = &build_times_;
    build.progress = progress.callback();
    build.expected_queries = query_count_;
    index_.emplace(source_.build(input, build));
  }
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
}

template <typename Source>
SearchOptions PreparedSearch<Source>::options(const ProgressCallback& progress) const {
  SearchOptions options = flags_.search;
  options.allowed = allowed_;
  options.progress = progress;
  return options;
}

template <typename Source>
nlohmann::ordered_json PreparedSearch<Source>::report() const {
  nlohmann::ordered_json report;
  report["points"] = index_->size();
  report["queries"] = query_count();
  source_.add_facts(report, *index_);
  report["exclude_self"] = flags_.search.exclude_self;
  if (!flags_.allow_path.empty()) {
    std::uint64_t allowed = 0;
    for (const std::uint64_t word : allowed_) allowed += static_cast<std::uint64_t>(std::popcount(word));
    report["allowed_points"] = allowed;
  }
  if (flags_.search.earlier_only) report["earlier_only"] = true;
  source_.add_skipped(report, *index_);
  report["engine"] = name_of(index_->engine());
  report["device"] = index_->device().name();
  report["threads"] = threads_in_use(flags_.search.threads);
  report["index_bytes"] = index_->memory_bytes();
  report["read_ms"] = read_ms_;
  report["build_ms"] = build_times_.total_ms;
  return report;
}

template <typename Source>
std::string PreparedSearch<Source>::engine_text() const {
  return fmt::format("{} on {}, {}", name_of(index_->engine()), index_->device().name(),
                     counted(static_cast<std::uint64_t>(threads_in_use(flags_.search.threads)), "thread"));
}

template class PreparedSearch<PointSource>;
template class PreparedSearch<SeveralDevicesSource>;
template class PreparedSearch<StoredSource<std::uint32_t>>;
template class PreparedSearch<StoredSource<std::uint64_t>>;
template class PreparedSearch<BitSource>;
template class PreparedSearch<SequenceSource>;

void refuse_for_index(const SearchFlags& flags, const std::string& has, const std::string& flag) {
  throw UsageError(
      fmt::format("{} is an index {}; leave {} out, or build an index that fits", flags.points_path, has, flag));
}

int threads_in_use(int threads) {
  if (threads > 0) return threads;
  return std::max(1, available_devices().front().threads);
}

}  // namespace kith::cli
