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

void require_fitting_flags(const SearchFlags& flags) {
  const std::pair<bool, const char*> given[] = {
      {flags.build.engine != Engine::automatic && flags.build.engine != Engine::brute_force, "--engine"},
      {flags.search.squared, "--squared"},
      {flags.search.skip_nonfinite, "--skip-nonfinite"},
      {!flags.build.period.empty(), "--period"},
      {flags.build.leaf_size != 0, "--leaf-size"},
      {flags.build.split != SplitRule::widest, "--split"},
      {flags.build.builder != CoverBuilder::batch, "--builder"},
      {flags.map, "--map"},
      {flags.search.eps != 0, "--eps"},
      {flags.search.max_leaves != 0, "--max-leaves"},
      {flags.search.select != SelectMethod::automatic, "--select"},
      {!flags.radius_path.empty(), "--radius-file"},
      {flags.read.format != io::Format::automatic && flags.read.format != io::Format::npy, "--format"},
      {flags.read.dtype.has_value(), "--dtype"},
      {!flags.read.columns.empty(), "--columns"},
      {!flags.read.label.empty(), "--label"},
      {flags.read.delimiter != 0, "--delimiter"},
      {flags.read.header.has_value(), "--header"},
      {!flags.read.array.empty(), "--array"}};
  for (const auto& [is_given, flag] : given) {
    if (is_given) throw UsageError(fmt::format("{} means nothing for rows of bits; leave it out", flag));
  }
  for (const std::string& path : {flags.points_path, flags.queries_path}) {
    if (!path.empty() && path != "-" && is_index_file(path)) {
      throw UsageError(fmt::format("{} is an index file, which holds no bits; give the .npy itself", path));
    }
  }
}

}  // namespace

PreparedBitSearch::PreparedBitSearch(const SearchFlags& flags, TerminalProgress& progress,
                                     const PreparedSearch::Check& check)
    : flags_(flags) {
  require_fitting_flags(flags);
  const Stopwatch read_watch;
  const io::BitFile points = read(flags.points_path, progress);
  query_count_ = points.rows;
  if (!flags.self()) {
    queries_file_ = read(flags.queries_path, progress);
    queries_ = queries_file_.view();
    query_count_ = queries_.rows();
    if (queries_.bits() != points.bits) {
      throw UsageError(fmt::format("{} has {}, but {} has {}", flags.queries_path, counted(queries_.bits(), "bit"),
                                   flags.points_path, counted(points.bits, "bit")));
    }
  }
  if (!flags.allow_path.empty()) {
    allowed_ = read_allowed_points(flags.allow_path, points.rows, flags.output, progress.callback());
  }
  read_ms_ = read_watch.milliseconds();
  stop_if_interrupted();
  check(query_count_, DType::f32);
  index_ = BitIndex::build(points.view(), {.device = flags.build.device,
                                           .threads = flags.build.threads,
                                           .progress = progress.callback(),
                                           .times = &build_times_});
  stop_if_interrupted();
  flags.output.explanation(index_->explain());
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
  report["engine"] = name_of(Engine::brute_force);
  report["device"] = index_->device().name();
  report["threads"] = threads_in_use(flags_.search.threads);
  report["index_bytes"] = index_->memory_bytes();
  report["read_ms"] = read_ms_;
  report["build_ms"] = build_times_.total_ms;
  return report;
}

std::string PreparedBitSearch::engine_text() const {
  return fmt::format("{} on {}, {}", name_of(Engine::brute_force), index_->device().name(),
                     counted(static_cast<std::uint64_t>(threads_in_use(flags_.search.threads)), "thread"));
}

SearchTimes PreparedBitSearch::times() const {
  SearchTimes times;
  times.read_ms = read_ms_;
  times.build = build_times_;
  return times;
}

}  // namespace kith::cli
