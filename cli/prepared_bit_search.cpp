// See prepared_bit_search.hpp.
#include "prepared_bit_search.hpp"

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

void require_fitting_bits(const SearchFlags& flags, const IndexFileInfo& info) {
  const auto refuse = [&](const std::string& has, const std::string& flag) {
    throw UsageError(
        fmt::format("{} is an index {}; leave {} out, or build an index that fits", flags.points_path, has, flag));
  };
  if (flags.metric_given && flags.sequences.metric != SequenceMetric::hamming) {
    refuse("of bits for hamming", fmt::format("--metric {}", flags.sequences.metric ? name_of(*flags.sequences.metric)
                                                                                    : flags.build.metric.name()));
  }
  if (flags.build.engine != Engine::automatic && flags.build.engine != info.engine) {
    refuse(fmt::format("of engine {}", name_of(info.engine)), fmt::format("--engine {}", name_of(flags.build.engine)));
  }
  if (flags.build.leaf_size != 0) refuse("that has its leaves", "--leaf-size");
}

}  // namespace

PreparedBitSearch::PreparedBitSearch(const SearchFlags& flags, TerminalProgress& progress,
                                     const PreparedSearch::Check& check)
    : flags_(flags), loaded_(flags.points_path != "-" && is_index_file(flags.points_path)) {
  const bool may_be_tree = flags.build.engine == Engine::cover_tree || loaded_;
  refuse_flags_of_points(flags, "rows of bits", {.eps = may_be_tree, .map = loaded_, .leaf_size = may_be_tree});
  refuse_sequence_flags(flags.sequences, "bits");
  if (!flags.self() && flags.queries_path != "-" && is_index_file(flags.queries_path)) {
    throw UsageError(fmt::format("{} is an index file; QUERIES are a .npy of bits", flags.queries_path));
  }
  if (loaded_) {
    load(progress, check);
  } else {
    read_and_build(progress, check);
  }
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
}

void PreparedBitSearch::read_and_build(TerminalProgress& progress, const PreparedSearch::Check& check) {
  const Stopwatch read_watch;
  const io::BitFile points = read(flags_.points_path, progress);
  read_others(points.rows, points.bits, progress);
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, DType::f32);
  index_ = BitIndex::build(points.view(), {.engine = flags_.build.engine,
                                           .device = flags_.build.device,
                                           .leaf_size = flags_.build.leaf_size,
                                           .threads = flags_.build.threads,
                                           .progress = progress.callback(),
                                           .times = &build_times_});
}

void PreparedBitSearch::load(TerminalProgress& progress, const PreparedSearch::Check& check) {
  const IndexFileInfo info = describe_index_file(flags_.points_path);
  require_fitting_bits(flags_, info);
  const Stopwatch read_watch;
  read_others(info.rows, info.dims, progress);
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, DType::f32);
  LoadOptions options;
  options.times = &build_times_;
  options.device = flags_.build.device;
  options.threads = flags_.build.threads;
  options.map = flags_.map;
  options.progress = progress.callback();
  index_ = BitIndex::load(flags_.points_path, options);
}

void PreparedBitSearch::read_others(std::uint64_t rows, std::uint32_t bits, TerminalProgress& progress) {
  query_count_ = rows;
  if (!flags_.self()) {
    queries_file_ = read(flags_.queries_path, progress);
    queries_ = queries_file_.view();
    query_count_ = queries_.rows();
    if (queries_.bits() != bits) {
      throw UsageError(fmt::format("{} has {}, but {} has {}", flags_.queries_path, counted(queries_.bits(), "bit"),
                                   flags_.points_path, counted(bits, "bit")));
    }
  }
  if (!flags_.allow_path.empty()) {
    allowed_ = read_allowed_points(flags_.allow_path, rows, flags_.output, progress.callback());
  }
}

io::BitFile PreparedBitSearch::read(const std::string& path, TerminalProgress& progress) const {
  io::BitFile file = io::read_bits(path, progress.callback());
  flags_.output.explanation(fmt::format("read {}: npy, {} of {}, {}", path, counted(file.rows, "row"),
                                        counted(file.bits, "bit"),
                                        readable_bytes(static_cast<double>(file.bytes.size()))));
  return file;
}

BitSearchOptions PreparedBitSearch::options(const ProgressCallback& progress) const {
  return {.exclude_self = flags_.search.exclude_self,
          .earlier_only = flags_.search.earlier_only,
          .max_neighbors = flags_.search.max_neighbors,
          .max_distance = flags_.search.max_distance,
          .eps = flags_.search.eps,
          .allowed = allowed_,
          .threads = flags_.search.threads,
          .progress = progress};
}

nlohmann::ordered_json PreparedBitSearch::report() const {
  nlohmann::ordered_json report;
  report["points"] = index_->size();
  report["queries"] = query_count();
  report["bits"] = index_->bits();
  report["metric"] = "hamming";
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

std::string PreparedBitSearch::engine_text() const {
  return fmt::format("{} on {}, {}", name_of(index_->engine()), index_->device().name(),
                     counted(static_cast<std::uint64_t>(threads_in_use(flags_.search.threads)), "thread"));
}

SearchTimes PreparedBitSearch::times() const {
  SearchTimes times;
  times.read_ms = read_ms_;
  times.is_loaded = loaded_;
  times.build = build_times_;
  return times;
}

}  // namespace kith::cli
