// See stored_source.hpp.
#include "stored_source.hpp"

#include "stopwatch.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace kith::cli {
namespace {

constexpr std::uint64_t kMostNarrow = 0xffff'fffe;

/// Tells how long a search took, if that is asked for.
class TimedSearch {
 public:
  explicit TimedSearch(WorkTimes* times) : times_(times) {}
  ~TimedSearch() {
    if (times_ != nullptr) times_->total_ms = watch_.milliseconds();
  }
  TimedSearch(const TimedSearch&) = delete;
  TimedSearch& operator=(const TimedSearch&) = delete;

 private:
  WorkTimes* times_;
  Stopwatch watch_;
};

/// All shards have the same engine: they differ by a point at most.
Engine engine_of(const shards::StoredShards& stored) {
  for (std::uint32_t shard = 0; shard < stored.map().size(); ++shard) {
    const std::string file = fmt::format("{}/shard-{:04}.kith", stored.folder(), shard);
    if (stored.map().shards[shard].points > 0) return describe_index_file(file).engine;
  }
  return Engine::brute_force;
}

shards::ShardSearchOptions options_of(const SearchOptions& options, std::vector<std::uint64_t>& below) {
  below.assign(options.index_below.begin(), options.index_below.end());
  shards::ShardSearchOptions same;
  same.squared = options.squared;
  same.max_neighbors = options.max_neighbors;
  same.max_distance = options.max_distance;
  same.allowed = options.allowed;
  same.index_below = below;
  same.skip_nonfinite = options.skip_nonfinite;
  same.threads = options.threads;
  same.progress = options.progress;
  return same;
}

/// Numbers of another width.
template <typename Number>
ValueArray<Number> as_numbers(std::span<const std::uint64_t> wide) {
  ValueArray<Number> numbers(wide.size());
  std::transform(wide.begin(), wide.end(), numbers.data(),
                 [](std::uint64_t number) { return static_cast<Number>(number); });
  return numbers;
}

}  // namespace

bool has_narrow_numbers(const std::string& folder) { return shards::StoredShards::open(folder).size() <= kMostNarrow; }

template <typename Number>
StoredIndex<Number> StoredIndex<Number>::load(const std::string& path, const LoadOptions& options) {
  shards::StoredShards stored = shards::StoredShards::open(path, {.map = options.map, .threads = options.threads});
  const Engine engine = engine_of(stored);
  return StoredIndex(std::move(stored), engine);
}

template <typename Number>
NeighborsOf<Number> StoredIndex<Number>::knn(PointView queries, std::uint32_t k, const SearchOptions& options) const {
  std::vector<std::uint64_t> below;
  const TimedSearch timed(options.times);
  WideNeighbors found = stored_.knn(queries, k, options_of(options, below));
  if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return found;
  } else {
    ValueArray<Number> numbers = as_numbers<Number>(found.indices());
    return {queries.rows(), k, static_cast<Number>(size()), std::move(numbers), std::move(found).distances()};
  }
}

template <typename Number>
NeighborListsOf<Number> StoredIndex<Number>::radius(PointView queries, const Radii& radii,
                                                    const SearchOptions& options) const {
  std::vector<std::uint64_t> below;
  const TimedSearch timed(options.times);
  WideNeighborLists found = stored_.radius(queries, radii, options_of(options, below));
  if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return found;
  } else {
    std::vector<std::uint64_t> offsets(found.offsets().begin(), found.offsets().end());
    std::vector<Number> numbers(found.indices().begin(), found.indices().end());
    return {static_cast<Number>(size()), std::move(offsets), std::move(numbers), std::move(found).distances()};
  }
}

template <typename Number>
std::vector<std::uint32_t> StoredIndex<Number>::count(PointView queries, const Radii& radii,
                                                      const SearchOptions& options) const {
  std::vector<std::uint64_t> below;
  const TimedSearch timed(options.times);
  const std::vector<std::uint64_t> found = stored_.count(queries, radii, options_of(options, below));
  if (std::ranges::any_of(found, [](std::uint64_t count) { return count > kMostNarrow; })) {
    throw UsageError("--count: a query has more than 2^32 - 2 neighbours; choose a smaller radius");
  }
  return {found.begin(), found.end()};
}

template <typename Number>
void StoredIndex<Number>::refuse_self() {
  throw UsageError("POINTS are shards on the disk, whose points are not searched among themselves; give QUERIES");
}

template <typename Number>
std::string StoredIndex<Number>::path_text() {
  return "each query asks the shard whose box is nearest, then all in reach; shards are loaded one after the other, as "
         "many as the memory holds";
}

template <typename Number>
IndexFileInfo StoredSource<Number>::describe(const std::string& path) {
  const shards::StoredShards stored = shards::StoredShards::open(path);
  IndexFileInfo info;
  info.content = IndexContent::points;
  info.engine = engine_of(stored);
  info.metric = stored.metric();
  info.metric_name = info.metric.name();
  info.dtype = stored.dtype();
  info.dims = stored.dims();
  info.rows = stored.size();
  info.points = stored.size() - stored.skipped();
  return info;
}

template <typename Number>
void StoredSource<Number>::require_flags(const SourceInput& input, bool) const {
  const SearchFlags& flags = input.flags;
  const std::pair<bool, const char*> given[] = {
      {flags.build.engine != Engine::automatic, "--engine"},
      {flags.build.device.kind() == Device::Kind::cuda, "--device cuda"},
      {flags.search.eps != 0, "--eps"},
      {flags.search.max_leaves != 0, "--max-leaves"},
      {!flags.with.empty(), "--with"},
      {!flags.table_points.empty(), "--points"},
      {std::is_same_v<Number, std::uint64_t> && flags.stats, "--stats (there are more than 2^32 points)"},
      {std::is_same_v<Number, std::uint64_t> && !flags.report.empty(), "--report (there are more than 2^32 points)"}};
  for (const auto& [is_given, flag] : given) {
    if (!is_given) continue;
    throw UsageError(
        fmt::format("{} is a folder of shards, which does not have {}; leave it out", flags.points_path, flag));
  }
  if (!flags.self()) return;
  throw UsageError(fmt::format("{} is a folder of shards, whose points are not searched among themselves; give QUERIES",
                               flags.points_path));
}

template class StoredIndex<std::uint32_t>;
template class StoredIndex<std::uint64_t>;
template class StoredSource<std::uint32_t>;
template class StoredSource<std::uint64_t>;

}  // namespace kith::cli
