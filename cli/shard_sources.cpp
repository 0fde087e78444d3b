// See shard_sources.hpp.
#include "shard_sources.hpp"

#include "stopwatch.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
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
  same.exclude_self = options.exclude_self;
  same.max_neighbors = options.max_neighbors;
  same.max_distance = options.max_distance;
  same.allowed = options.allowed;
  same.earlier_only = options.earlier_only;
  same.index_below = below;
  same.skip_nonfinite = options.skip_nonfinite;
  same.threads = options.threads;
  same.progress = options.progress;
  return same;
}

/// What `search` finds with the options of shards; tells how long it took, if that is asked for.
template <typename Search>
auto found_by(const SearchOptions& options, const Search& search) {
  std::vector<std::uint64_t> below;
  const TimedSearch timed(options.times);
  return search(options_of(options, below));
}

/// The same with numbers of another width.
template <typename Number>
NeighborsOf<Number> narrowed(WideNeighbors found, std::uint64_t points) {
  if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return found;
  } else {
    ValueArray<Number> numbers(found.indices().size());
    std::ranges::transform(found.indices(), numbers.data(),
                           [](std::uint64_t number) { return static_cast<Number>(number); });
    const std::uint64_t queries = found.queries();
    const std::uint32_t k = found.k();
    return {queries, k, static_cast<Number>(points), std::move(numbers), std::move(found).distances()};
  }
}

template <typename Number>
NeighborListsOf<Number> narrowed(WideNeighborLists found, std::uint64_t points) {
  if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return found;
  } else {
    std::vector<std::uint64_t> offsets(found.offsets().begin(), found.offsets().end());
    std::vector<Number> numbers(found.indices().begin(), found.indices().end());
    return {static_cast<Number>(points), std::move(offsets), std::move(numbers), std::move(found).distances()};
  }
}

std::vector<std::uint32_t> narrowed(const std::vector<std::uint64_t>& counts) {
  if (std::ranges::any_of(counts, [](std::uint64_t count) { return count > kMostNarrow; })) {
    throw UsageError("--count: a query has more than 2^32 - 2 neighbours; choose a smaller radius");
  }
  return {counts.begin(), counts.end()};
}

[[noreturn]] void refuse_self() {
  throw UsageError("POINTS are shards on the disk, whose points are not searched among themselves; give QUERIES");
}

template <typename Shards>
constexpr bool kIsStored = std::is_same_v<Shards, shards::StoredShards>;

template <typename Shards>
std::string path_text() {
  return std::string("each query asks the shard whose box is nearest, then all in reach; ") +
         (kIsStored<Shards> ? "shards are loaded one after the other, as many as the memory holds"
                            : "shards of different devices work at the same time");
}

/// Throws UsageError for the first flag that was given.
void refuse(std::string_view what, std::initializer_list<std::pair<bool, const char*>> given) {
  for (const auto& [is_given, flag] : given) {
    if (is_given) throw UsageError(fmt::format("{} not have {}; leave it out", what, flag));
  }
}

}  // namespace

bool has_narrow_numbers(const std::string& folder) { return shards::StoredShards::open(folder).size() <= kMostNarrow; }

template <typename Shards, typename Number>
ShardsAsIndex<Shards, Number> ShardsAsIndex<Shards, Number>::load(const std::string& path, const LoadOptions& options) {
  if constexpr (kIsStored<Shards>) {
    shards::StoredShards stored = shards::StoredShards::open(path, {.map = options.map, .threads = options.threads});
    const Engine engine = engine_of(stored);
    return ShardsAsIndex(std::move(stored), engine, Device::cpu().name());
  } else {
    throw UsageError("--device: an index file is searched on one device");
  }
}

template <typename Shards, typename Number>
NeighborsOf<Number> ShardsAsIndex<Shards, Number>::knn(PointView queries, std::uint32_t k,
                                                       const SearchOptions& options) const {
  return narrowed<Number>(found_by(options, [&](const auto& own) { return shards_.knn(queries, k, own); }), size());
}

template <typename Shards, typename Number>
NeighborListsOf<Number> ShardsAsIndex<Shards, Number>::radius(PointView queries, const Radii& radii,
                                                              const SearchOptions& options) const {
  return narrowed<Number>(found_by(options, [&](const auto& own) { return shards_.radius(queries, radii, own); }),
                          size());
}

template <typename Shards, typename Number>
std::vector<std::uint32_t> ShardsAsIndex<Shards, Number>::count(PointView queries, const Radii& radii,
                                                                const SearchOptions& options) const {
  return narrowed(found_by(options, [&](const auto& own) { return shards_.count(queries, radii, own); }));
}

template <typename Shards, typename Number>
NeighborsOf<Number> ShardsAsIndex<Shards, Number>::knn_self(std::uint32_t k, const SearchOptions& options) const {
  if constexpr (kIsStored<Shards>) {
    refuse_self();
  } else {
    return narrowed<Number>(found_by(options, [&](const auto& own) { return shards_.knn_self(k, own); }), size());
  }
}

template <typename Shards, typename Number>
NeighborListsOf<Number> ShardsAsIndex<Shards, Number>::radius_self(const Radii& radii,
                                                                   const SearchOptions& options) const {
  if constexpr (kIsStored<Shards>) {
    refuse_self();
  } else {
    return narrowed<Number>(found_by(options, [&](const auto& own) { return shards_.radius_self(radii, own); }),
                            size());
  }
}

template <typename Shards, typename Number>
std::vector<std::uint32_t> ShardsAsIndex<Shards, Number>::count_self(const Radii& radii,
                                                                     const SearchOptions& options) const {
  if constexpr (kIsStored<Shards>) {
    refuse_self();
  } else {
    return narrowed(found_by(options, [&](const auto& own) { return shards_.count_self(radii, own); }));
  }
}

template <typename Shards, typename Number>
std::uint64_t ShardsAsIndex<Shards, Number>::memory_bytes() const {
  if constexpr (kIsStored<Shards>) {
    return shards_.file_bytes();
  } else {
    return shards_.memory_bytes();
  }
}

template <typename Shards, typename Number>
std::string ShardsAsIndex<Shards, Number>::explain_knn(std::uint32_t, std::optional<std::uint64_t>,
                                                       const SearchOptions&) const {
  return path_text<Shards>();
}

template <typename Shards, typename Number>
std::string ShardsAsIndex<Shards, Number>::explain_radius(std::optional<std::uint64_t>, const SearchOptions&) const {
  return path_text<Shards>();
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
  constexpr bool is_wide = std::is_same_v<Number, std::uint64_t>;
  refuse(fmt::format("{} is a folder of shards, which does", flags.points_path),
         {{flags.build.engine != Engine::automatic, "--engine"},
          {flags.build.device.kind() == Device::Kind::cuda || !flags.devices.empty(), "--device cuda"},
          {flags.search.eps != 0, "--eps"},
          {flags.search.max_leaves != 0, "--max-leaves"},
          {!flags.with.empty(), "--with"},
          {!flags.table_points.empty(), "--points"},
          {is_wide && flags.stats, "--stats (there are more than 2^32 points)"},
          {is_wide && !flags.report.empty(), "--report (there are more than 2^32 points)"}});
  if (!flags.self()) return;
  throw UsageError(fmt::format("{} is a folder of shards, whose points are not searched among themselves; give QUERIES",
                               flags.points_path));
}

void SeveralDevicesSource::require_flags(const SourceInput& input, bool is_index) const {
  const SearchFlags& flags = input.flags;
  if (is_index) {
    throw UsageError(fmt::format("{} is an index, which is searched on one device; give the points, or name one device",
                                 flags.points_path));
  }
  refuse("a search on several devices does", {{flags.search.eps != 0, "--eps"},
                                              {flags.search.max_leaves != 0, "--max-leaves"},
                                              {flags.map, "--map"},
                                              {!flags.table_points.empty(), "--points"}});
  PointSource::require_flags(input, is_index);
}

SeveralDevicesSource::Index SeveralDevicesSource::build(const SourceInput& input, const BuildOptions& options) const {
  if (is_tree()) {
    throw UsageError(fmt::format("{} is a tree, which is searched on one device; give the points, or name one device",
                                 input.flags.points_path));
  }
  shards::ShardedIndex index =
      shards::ShardedIndex::build(points(), {.devices = input.flags.devices, .build = options});
  Engine engine = Engine::brute_force;
  std::string devices;
  for (std::uint32_t shard = 0; shard < index.map().size(); ++shard) {
    const kith::Index& own = index.shard(shard).index();
    if (own.size() > 0) engine = own.engine();
    devices += (devices.empty() ? "" : ",") + own.device().name();
  }
  return {std::move(index), engine, std::move(devices)};
}

template class ShardsAsIndex<shards::StoredShards, std::uint32_t>;
template class ShardsAsIndex<shards::StoredShards, std::uint64_t>;
template class ShardsAsIndex<shards::ShardedIndex, std::uint32_t>;
template class StoredSource<std::uint32_t>;
template class StoredSource<std::uint64_t>;

}  // namespace kith::cli
