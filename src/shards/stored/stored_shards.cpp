// Searches a folder of shards within a limit of memory: queries in blocks, and the requests of each round shard by
// shard, those in memory first. See kith/shards/stored_shards.hpp.
#include "core/metric/metric_params.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/progress_meter.hpp"
#include "shards/carrier.hpp"
#include "shards/check_rules.hpp"
#include "shards/stored/loaded_shards.hpp"
#include "shards/stored/build.hpp"
#include "shards/stored/files.hpp"
#include "shards/stored/memory.hpp"

#include <kith/error.hpp>
#include <kith/memory_limit.hpp>
#include <kith/shards/stored_shards.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <system_error>
#include <utility>

namespace kith::shards::inline v0 {

struct StoredShards::State {
  StoredPaths paths;
  StoredOpenOptions options;
  Manifest manifest;
  LoadedShards loaded;
  std::mutex searching;

  State(const std::string& folder, const StoredOpenOptions& the_options)
      : paths{folder},
        options(the_options),
        manifest(read_manifest(paths)),
        loaded(paths, manifest, options.map, options.threads) {}

  std::uint64_t largest() const {
    std::uint64_t most = 0;
    for (std::uint32_t shard = 0; shard < manifest.map.size(); ++shard) most = std::max(most, loaded.bytes_of(shard));
    return most;
  }
};

namespace {

/// Queries of a block that must be possible: fewer make searches crawl.
constexpr std::uint64_t kLeastBlock = 256;
/// Of a query in a search, besides its coordinates and entries.
constexpr std::uint64_t kQueryBytes = 96;

/// What one search may take, and what it has taken.
class Budget {
 public:
  Budget(const StoredShards::State& state, PointView queries)
      : usable_(usable_memory(state.options.memory)), largest_(state.largest()) {
    const ShardMap& map = state.manifest.map;
    const std::uint64_t row = std::uint64_t{map.dims} * size_of(map.dtype);
    // Without bounds each query is in a request to every shard at once.
    query_bytes_ = kQueryBytes + (map.has_bounds() ? 4 * row : map.size() * (row + 24));
    entry_bytes_ = sizeof(std::uint64_t) + size_of(map.dtype);
    queries_ = queries.rows();
  }

  std::uint64_t entry_bytes() const { return entry_bytes_; }
  std::uint64_t query_bytes() const { return query_bytes_; }
  /// The result takes so many bytes, and a block must be able to have `each` bytes per query. Throws OutOfMemory.
  void take_result(std::uint64_t bytes, std::uint64_t each) {
    result_ = bytes;
    const std::uint64_t needed = bytes + largest_ + std::min(queries_, kLeastBlock) * each;
    if (needed <= usable_) return;
    throw OutOfMemory(fmt::format(
        "not enough memory: the search needs {} bytes: {} for its result, {} for the largest shard; allow as much, "
        "search with fewer queries at a time, or build more shards",
        memory_to_allow(needed), bytes, largest_));
  }
  /// For queries of a block and what they find: half of what is left, so that several shards can be in memory.
  std::uint64_t block_bytes() const { return (usable_ - std::min(usable_, result_ + largest_)) / 2; }
  void begin_block(std::uint64_t bytes) { block_ = bytes; }

  /// For shards in memory, while a block is searched.
  std::uint64_t shard_bytes() const { return usable_ - std::min(usable_, result_ + block_); }
  std::uint64_t usable() const { return usable_; }
  std::uint64_t taken() const { return result_ + block_; }

 private:
  std::uint64_t usable_, largest_;
  std::uint64_t queries_ = 0, query_bytes_ = 0, entry_bytes_ = 0;
  std::uint64_t result_ = 0, block_ = 0;
};

/// One search of a caller, in blocks of queries.
class Searching {
 public:
  Searching(StoredShards::State& state, PointView queries, const ShardSearchOptions& options)
      : state_(state),
        queries_(queries),
        options_(options),
        alone_(state.searching),
        watched_(&options.progress, "searching"),
        meter_(&options.progress, "searching", 0),
        budget_(state, queries) {
    require_view(map(), queries, "queries");  // now, because a block does not know the numbers of its queries
    if (queries.rows() == 0) return;
    const core::RowPreparation preparation(map().rules.metric, map().rules.metric_params, map().dims);
    bad_rows(queries, preparation.map(), options.skip_nonfinite, options.threads);
  }

  Budget& budget() { return budget_; }
  const ShardMap& map() const { return state_.manifest.map; }
  /// Whether the caller said how much memory there is.
  bool is_limited() const { return state_.options.memory != 0 || runtime::host_memory_limit() != runtime::kNoLimit; }

  /// Calls search(queries, options, first) for blocks of `count(first)` queries.
  template <typename Count, typename Search>
  void in_blocks(const Count& count, const Search& search) {
    for (std::uint64_t first = 0; first < queries_.rows();) {
      const std::uint64_t some = count(first);
      ShardSearchOptions options = options_;
      if (!options.index_below.empty()) options.index_below = options.index_below.subspan(first, some);
      search(queries_.slice(first, some), options, first);
      first += some;
    }
  }
  /// As many queries as there is memory for, if each takes `each` bytes.
  std::uint64_t block_of(std::uint64_t each) const {
    const std::uint64_t fit = std::max(budget_.block_bytes() / each, kLeastBlock);
    return std::max<std::uint64_t>(1, std::min(queries_.rows(), fit));
  }

  void run(Search& search) {
    carry(std::array<Search*, 1>{&search}, map().size(), [&](std::vector<std::vector<Job>>& jobs) { answer(jobs); });
  }
  void finish() { meter_.finish(); }

 private:
  /// Shards that are in memory come first.
  void answer(std::vector<std::vector<Job>>& jobs) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t shard = 0; shard < jobs.size(); ++shard) {
      if (!jobs[shard].empty()) order.push_back(shard);
    }
    std::stable_partition(order.begin(), order.end(), [&](std::uint32_t shard) { return state_.loaded.holds(shard); });
    for (const std::uint32_t number : order) {
      const Shard shard = load(number);
      const std::vector<std::uint64_t> allowed = shard.allowed_here(options_.allowed);
      const std::uint64_t others = state_.loaded.bytes() - state_.loaded.bytes_of(number);
      const MemoryLimit limit(budget_.usable(), others + budget_.taken() / 2);
      for (Job& job : jobs[number]) {
        job.search->take(reply_of(shard, job, allowed, options_.threads));
        meter_.report(++answered_);
      }
    }
  }
  Shard load(std::uint32_t number) {
    const MemoryLimit limit(budget_.usable());
    return state_.loaded.get(number, budget_.shard_bytes());
  }

  StoredShards::State& state_;
  PointView queries_;
  const ShardSearchOptions& options_;
  std::lock_guard<std::mutex> alone_;
  runtime::Watched watched_;
  runtime::ProgressMeter meter_;
  Budget budget_;
  std::uint64_t answered_ = 0;
};

/// Values of a block into their places among all.
void place(const Distances& from, Distances& to, std::uint64_t first) {
  if (from.size() == 0) return;
  if (to.dtype() == DType::f32) {
    std::ranges::copy(from.values<float>(), to.values<float>().data() + first);
  } else {
    std::ranges::copy(from.values<double>(), to.values<double>().data() + first);
  }
}

std::vector<std::uint64_t> counts_of(Searching& all, PointView queries, const Radii& radii) {
  Budget& budget = all.budget();
  const std::uint64_t each = budget.query_bytes();
  budget.take_result(queries.rows() * sizeof(std::uint64_t), each);
  const std::uint64_t block = all.block_of(each);
  budget.begin_block(block * each);
  std::vector<std::uint64_t> counts(queries.rows());
  all.in_blocks([&](std::uint64_t first) { return std::min(block, queries.rows() - first); },
                [&](PointView some, const ShardSearchOptions& options, std::uint64_t first) {
                  ShardSearchOptions of_count = options;
                  of_count.max_neighbors = 0;
                  CountSearch search(all.map(), some, radii.slice(first, some.rows()), of_count);
                  all.run(search);
                  std::ranges::copy(search.result(), counts.begin() + static_cast<std::ptrdiff_t>(first));
                });
  return counts;
}

WideNeighborLists lists_of(Searching& all, PointView queries, const Radii& radii, const ShardSearchOptions& options) {
  const std::vector<std::uint64_t> counts = counts_of(all, queries, radii);
  Budget& budget = all.budget();
  const std::uint64_t most = options.max_neighbors == 0 ? kMostRows : options.max_neighbors;
  std::vector<std::uint64_t> offsets(counts.size() + 1, 0);
  for (std::size_t q = 0; q < counts.size(); ++q) offsets[q + 1] = offsets[q] + std::min(counts[q], most);
  // A list is in the replies of shards, put together, and in the answer of the block.
  const std::uint64_t found_bytes = 4 * budget.entry_bytes();
  const auto bytes_of = [&](std::uint64_t q) {
    return budget.query_bytes() + std::min(counts[q], most * all.map().size()) * found_bytes;
  };
  std::uint64_t longest = budget.query_bytes();
  for (std::uint64_t q = 0; q < counts.size(); ++q) longest = std::max(longest, bytes_of(q));
  budget.take_result(16 * counts.size() + offsets.back() * budget.entry_bytes(), 0);
  if (longest > 2 * budget.block_bytes()) {
    throw OutOfMemory(fmt::format("not enough memory: the neighbours of one query alone take {} bytes", longest));
  }
  std::vector<std::uint64_t> numbers(offsets.back());
  Distances distances(all.map().dtype, offsets.back());
  all.in_blocks(
      [&](std::uint64_t first) {
        std::uint64_t end = first, bytes = 0;
        while (end < counts.size() && (end == first || bytes + bytes_of(end) <= budget.block_bytes())) {
          bytes += bytes_of(end++);
        }
        budget.begin_block(bytes);
        return end - first;
      },
      [&](PointView some, const ShardSearchOptions& own, std::uint64_t first) {
        RadiusSearch search(all.map(), some, radii.slice(first, some.rows()), own);
        all.run(search);
        const WideNeighborLists found = search.result();
        std::ranges::copy(found.indices(), numbers.data() + offsets[first]);
        place(found.distances(), distances, offsets[first]);
      });
  return WideNeighborLists(all.map().rows, std::move(offsets), std::move(numbers), std::move(distances));
}

}  // namespace

StoredShards::StoredShards(std::shared_ptr<State> state) : state_(std::move(state)) {}

StoredShards StoredShards::build(std::span<const io::PointRows> files, const std::string& folder,
                                 const StoredBuildOptions& options) {
  with_memory("the shards", [&] { build_folder({{files.begin(), files.end()}}, folder, options); });
  return open(folder, {.memory = options.memory, .threads = options.build.threads});
}

StoredShards StoredShards::open(const std::string& folder, const StoredOpenOptions& options) {
  const StoredPaths paths{folder};
  if (std::error_code unknown; !std::filesystem::exists(paths.manifest(), unknown) && is_stored_shards(folder)) {
    throw CorruptFile(fmt::format("{}: its shards are not finished; build them again, which goes on", folder));
  }
  return StoredShards(std::make_shared<State>(folder, options));
}

WideNeighbors StoredShards::knn(PointView queries, std::uint32_t k, const ShardSearchOptions& options) const {
  require_options(map(), options, SearchKind::knn, false, queries.rows());
  return with_memory("the result", [&] {
    Searching all(*state_, queries, options);
    Budget& budget = all.budget();
    if (k != 0 && queries.rows() > (std::uint64_t{1} << 56) / k) {
      throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", queries.rows(), k));
    }
    // Lists are here, in the replies of a shard, and in the answer of its index.
    const std::uint64_t each = budget.query_bytes() + 3 * k * budget.entry_bytes();
    budget.take_result(queries.rows() * k * budget.entry_bytes(), each);
    const std::uint64_t block = all.block_of(each);
    budget.begin_block(block * each);
    ValueArray<std::uint64_t> numbers(queries.rows() * k);
    Distances distances(dtype(), queries.rows() * k);
    all.in_blocks([&](std::uint64_t first) { return std::min(block, queries.rows() - first); },
                  [&](PointView some, const ShardSearchOptions& own, std::uint64_t first) {
                    KnnSearch search(map(), some, k, own);
                    all.run(search);
                    const WideNeighbors found = search.result();
                    std::ranges::copy(found.indices(), numbers.data() + first * k);
                    place(found.distances(), distances, first * k);
                  });
    all.finish();
    return WideNeighbors(queries.rows(), k, size(), std::move(numbers), std::move(distances));
  });
}

WideNeighborLists StoredShards::radius(PointView queries, const Radii& radii, const ShardSearchOptions& options) const {
  require_radii(radii, queries.rows());
  require_options(map(), options, SearchKind::radius, false, queries.rows());
  return with_memory("the result", [&] {
    Searching all(*state_, queries, options);
    if (!all.is_limited()) {
      RadiusSearch search(map(), queries, radii, options);
      all.run(search);
      all.finish();
      return search.result();
    }
    WideNeighborLists found = lists_of(all, queries, radii, options);
    all.finish();
    return found;
  });
}

std::vector<std::uint64_t> StoredShards::count(PointView queries, const Radii& radii,
                                               const ShardSearchOptions& options) const {
  require_radii(radii, queries.rows());
  require_options(map(), options, SearchKind::radius, false, queries.rows());
  return with_memory("the result", [&] {
    Searching all(*state_, queries, options);
    std::vector<std::uint64_t> counts = counts_of(all, queries, radii);
    all.finish();
    return counts;
  });
}

const ShardMap& StoredShards::map() const { return state_->manifest.map; }
const std::string& StoredShards::folder() const { return state_->paths.folder; }
std::uint64_t StoredShards::largest_shard_bytes() const { return state_->largest(); }
std::uint64_t StoredShards::loads() const {
  const std::lock_guard<std::mutex> alone(state_->searching);
  return state_->loaded.loads();
}

std::uint64_t StoredShards::file_bytes() const {
  std::uint64_t bytes = map().points() * sizeof(std::uint64_t);
  for (const ShardFile& file : state_->manifest.files) bytes += file.index_bytes;
  return bytes;
}

std::string StoredShards::explain() const {
  std::string text = fmt::format("{} shards on the disk, cut at medians, {} points, {} bytes; the largest takes {}",
                                 map().size(), map().points(), file_bytes(), largest_shard_bytes());
  if (skipped() > 0) text += fmt::format("\nleft out: {} of {} points hold NaN or infinity", skipped(), size());
  return text;
}

bool is_stored_shards(const std::string& path) {
  std::error_code unknown;
  const StoredPaths paths{path};
  return std::filesystem::is_directory(path, unknown) && (std::filesystem::is_regular_file(paths.manifest(), unknown) ||
                                                          std::filesystem::is_directory(paths.building(), unknown));
}

}  // namespace kith::shards::inline v0
