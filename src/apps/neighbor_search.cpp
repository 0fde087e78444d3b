// See neighbor_search.hpp.
#include "apps/neighbor_search.hpp"

#include "runtime/memory_limit.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/time_spent.hpp"

#include <algorithm>

namespace kith::apps::inline v0 {
namespace {

/// Entries of lists in memory at one time.
constexpr std::uint64_t kSearchedAtOnce = std::uint64_t{1} << 22;

/// What lists, and searches for them, may take on the CPU besides the index.
std::uint64_t allowed_bytes(const Index& index) {
  const std::uint64_t limit = index.device() == Device::cpu() ? runtime::host_memory_limit() : runtime::kNoLimit;
  return limit - std::min(limit, index.memory_bytes());
}

}  // namespace

Index build_index(PointView points, std::uint64_t queries, const NeighborOptions& options, NeighborWork& work) {
  const runtime::TimeSpent time(&work.build_ms);
  BuildOptions build;
  build.engine = options.engine;
  build.device = options.device;
  build.metric = options.metric;
  build.metric_params = options.metric_params;
  build.expected_queries = std::max<std::uint64_t>(queries, 1);  // 0 would mean unknown
  build.threads = options.threads;
  build.progress = options.progress;
  Index index = Index::build(points, build);
  work.engine = index.engine();
  work.device = index.device();
  work.explanation = index.explain();
  return index;
}

void search_in_order(const Index& index, PointView queries, std::span<const std::uint32_t> index_below,
                     const NeighborOptions& options, std::string_view stage, NeighborWork& work,
                     const TakeLists& take) {
  runtime::ProgressMeter meter(&options.progress, stage, queries.rows());
  std::uint64_t done = 0;
  std::uint64_t first = 0, count = 0;  // of the part that is searched
  SearchOptions search;
  search.threads = options.threads;
  if (options.progress) {
    // A search may have several stages; what is reported here never goes back.
    search.progress = [&](const Progress& progress) {
      if (progress.total == count) done = std::max(done, first + progress.done);
      meter.report(done);
      return true;
    };
  }
  const std::uint64_t list_bytes = options.k * (sizeof(std::uint32_t) + size_of(index.dtype()));
  const std::uint64_t rows_at_once = std::max<std::uint64_t>(
      1, std::min(kSearchedAtOnce / options.k, allowed_bytes(index) / 2 / std::max<std::uint64_t>(1, list_bytes)));
  for (; first < queries.rows(); first += rows_at_once) {
    count = std::min(rows_at_once, queries.rows() - first);
    if (!index_below.empty()) search.index_below = index_below.subspan(first, count);
    const Neighbors lists = [&] {
      const runtime::TimeSpent time(&work.search_ms);
      return index.knn(queries.slice(first, count), options.k, search);
    }();
    const runtime::TimeSpent time(&work.vote_ms);
    take(first, lists);
    done = std::max(done, first + count);
    meter.report(done);
  }
  meter.finish();
}

}  // namespace kith::apps::inline v0
