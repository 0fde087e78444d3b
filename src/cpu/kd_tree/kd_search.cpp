// See kd_search.hpp. Here: what a search collects, group by group.
#include "cpu/kd_tree/kd_search.hpp"

#include "core/candidate.hpp"
#include "cpu/kd_tree/build.hpp"
#include "cpu/kd_tree/group_search.hpp"
#include "cpu/kd_tree/key_lists.hpp"
#include "cpu/kd_tree/query_groups.hpp"
#include "cpu/nearest_keeper.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <vector>

namespace kith::cpu {
namespace {

using core::Candidate;
using engine::ChainLists;
using engine::QueryBatch;
using engine::RunOptions;

constexpr std::uint64_t kGroupsPerTask = 64;
constexpr std::uint32_t kLeafSize = 16;

/// Calls `take(candidate)` for each hit but the query itself, if it is excluded.
template <typename T, typename Take>
void for_each_hit(std::uint64_t hits, const T* chains, const std::uint32_t* indices, std::uint32_t excluded,
                  Take&& take) {
  for (; hits != 0; hits &= hits - 1) {
    const int i = std::countr_zero(hits);
    if (indices[i] != excluded) take(Candidate<T>{chains[i], indices[i]});
  }
}

/// Which point each query of a group must not find.
using Excluded = std::uint32_t[kGroupQueries];

template <typename T>
void exclude_self(const QueryBatch<T>& queries, const QueryGroup<T>& group, Excluded& excluded) {
  for (std::uint32_t i = 0; i < kGroupQueries; ++i) {
    excluded[i] = queries.exclude_self && i < group.count ? static_cast<std::uint32_t>(group.queries[i]) : kNoPoint;
  }
}

/// Collects the k nearest of each query of a group.
template <typename T>
struct NearestCollector {
  std::vector<NearestKeeper<T>> keepers;
  Excluded excluded;

  static Limit<T> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const T* chains,
                         const std::uint32_t* indices) {
    auto& collector = *static_cast<NearestCollector*>(self);
    NearestKeeper<T>& keeper = collector.keepers[query];
    for_each_hit(hits, chains, indices, collector.excluded[query], [&](Candidate<T> hit) { keeper.offer(hit); });
    return {keeper.limit().distance, keeper.limit().index};
  }
};

/// The same for f32 and few neighbours.
struct KeyCollector {
  KeyLists lists;
  LeafHitFunction<float> insert;
  Excluded excluded;

  explicit KeyCollector(std::uint32_t k) : lists(k), insert(lists.on_hit()) {}

  static Limit<float> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const float* chains,
                             const std::uint32_t* indices) {
    auto& collector = *static_cast<KeyCollector*>(self);
    return collector.insert(&collector.lists, query, hits, chains, indices);
  }
};

/// Collects everything within a bound.
template <typename T>
struct ListCollector {
  T bound;
  std::vector<Candidate<T>> lists[kGroupQueries];
  Excluded excluded;

  static Limit<T> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const T* chains,
                         const std::uint32_t* indices) {
    auto& collector = *static_cast<ListCollector*>(self);
    for_each_hit(hits, chains, indices, collector.excluded[query],
                 [&](Candidate<T> hit) { collector.lists[query].push_back(hit); });
    return {collector.bound, kNoPoint};
  }
};

/// Counts what lies within a bound.
template <typename T>
struct CountCollector {
  T bound;
  std::uint32_t counts[kGroupQueries];
  Excluded excluded;

  static Limit<T> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const T* chains,
                         const std::uint32_t* indices) {
    auto& collector = *static_cast<CountCollector*>(self);
    for_each_hit(hits, chains, indices, collector.excluded[query], [&](Candidate<T>) { ++collector.counts[query]; });
    return {collector.bound, kNoPoint};
  }
};

template <typename T>
class KdSearch final : public engine::Searcher<T> {
 public:
  explicit KdSearch(const engine::BuildRequest<T>& request)
      : metric_(request.metric),
        tree_(build_kd_tree(request.rows, request.count, request.dims,
                            {.leaf_size = kLeafSize,
                             .threads = request.run.threads,
                             .progress = request.run.progress})) {}

  void knn(const QueryBatch<T>& queries, std::uint32_t k, const RunOptions& run, std::uint32_t* indices,
           T* chains) const override;
  ChainLists<T> radius(const QueryBatch<T>& queries, T bound, std::uint32_t most, const RunOptions& run) const override;
  void count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const override;

  std::uint64_t memory_bytes() const override { return tree_.memory_bytes(); }
  std::string describe() const override {
    return fmt::format("k-d tree: {} points of {} dims, {} levels, {} leaves of up to {} points, {} bytes",
                       tree_.geometry.points, tree_.dims, tree_.geometry.levels, tree_.geometry.leaves(),
                       tree_.geometry.most_per_leaf(), memory_bytes());
  }

 private:
  /// Walks one group; all its queries start with the limit (bound, kNoPoint).
  template <typename Collector>
  void walk(const QueryGroup<T>& group, T bound, Collector& collector) const {
    T limits[kGroupQueries];
    std::uint32_t limit_indices[kGroupQueries];
    for (std::uint32_t i = 0; i < kGroupQueries; ++i) {
      limits[i] = i < group.count ? bound : T(-1);
      limit_indices[i] = i < group.count ? kNoPoint : 0;
    }
    search_group(tree_, GroupSearch<T>{.metric = metric_,
                                       .count = group.count,
                                       .values = group.values.data(),
                                       .limits = limits,
                                       .limit_indices = limit_indices,
                                       .start_leaf = group.start_leaf,
                                       .on_hit = &Collector::on_hit,
                                       .context = &collector});
  }

  /// Runs `task(first group, end)` over all groups.
  template <typename Task>
  static void for_groups(const QueryGroups<T>& groups, std::uint64_t queries, const RunOptions& run, Task&& task) {
    const std::uint64_t tasks = (groups.size() + kGroupsPerTask - 1) / kGroupsPerTask;
    const runtime::ParallelOptions options{.threads = run.threads,
                                           .stage = "searching",
                                           .progress = run.progress,
                                           .units_per_task = tasks == 0 ? 1 : queries / tasks,
                                           .total_units = queries};
    runtime::parallel_for(tasks, options, [&](std::uint64_t t) {
      task(t, t * kGroupsPerTask, std::min(groups.size(), (t + 1) * kGroupsPerTask));
    });
  }

  Metric metric_;
  KdTree<T> tree_;
};

template <typename T>
void KdSearch<T>::knn(const QueryBatch<T>& queries, std::uint32_t k, const RunOptions& run, std::uint32_t* indices,
                      T* chains) const {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const QueryGroups<T> groups(tree_, queries, run.threads);
  if constexpr (sizeof(T) == 4) if (k > 0 && k <= KeyLists::kMost && !queries.exclude_self) {
  for_groups(groups, queries.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    KeyCollector collector(k);
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      for (std::uint32_t i = 0; i < group.count; ++i) collector.lists.reset(i, kInfinity);
      walk(group, kInfinity, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) collector.lists.write(i, static_cast<std::uint32_t>(tree_.geometry.points), indices + group.queries[i] * k, chains + group.queries[i] * k);
    }
  });
  return;
  }
  for_groups(groups, queries.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    NearestCollector<T> collector;
    collector.keepers.reserve(kGroupQueries);
    for (std::uint32_t i = 0; i < kGroupQueries; ++i)
      collector.keepers.emplace_back(k, tree_.geometry.points, kInfinity);
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      exclude_self(queries, group, collector.excluded);
      for (std::uint32_t i = 0; i < group.count; ++i) collector.keepers[i].reset();
      walk(group, kInfinity, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) {
        const std::span<const Candidate<T>> nearest = collector.keepers[i].finish();
        std::uint32_t* row_indices = indices + group.queries[i] * k;
        T* row_chains = chains + group.queries[i] * k;
        for (std::size_t j = 0; j < nearest.size(); ++j) {
          row_indices[j] = nearest[j].index;
          row_chains[j] = nearest[j].distance;
        }
        std::fill(row_indices + nearest.size(), row_indices + k, static_cast<std::uint32_t>(tree_.geometry.points));
        std::fill(row_chains + nearest.size(), row_chains + k, kInfinity);
      }
    }
  });
}

template <typename T>
ChainLists<T> KdSearch<T>::radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                                  const RunOptions& run) const {
  /// What one task found: lists one after the other.
  struct Found {
    std::vector<std::uint64_t> queries;
    std::vector<std::uint64_t> lengths;
    std::vector<Candidate<T>> candidates;
  };
  const QueryGroups<T> groups(tree_, queries, run.threads);
  std::vector<Found> found((groups.size() + kGroupsPerTask - 1) / kGroupsPerTask);
  for_groups(groups, queries.count, run, [&](std::uint64_t task, std::uint64_t first, std::uint64_t end) {
    ListCollector<T> collector;
    collector.bound = bound;
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      exclude_self(queries, group, collector.excluded);
      walk(group, bound, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) {
        std::vector<Candidate<T>>& list = collector.lists[i];
        std::sort(list.begin(), list.end());
        if (most > 0 && list.size() > most) list.resize(most);
        found[task].queries.push_back(group.queries[i]);
        found[task].lengths.push_back(list.size());
        found[task].candidates.insert(found[task].candidates.end(), list.begin(), list.end());
        list.clear();
      }
    }
  });

  ChainLists<T> lists;
  lists.offsets.resize(queries.count + 1, 0);
  for (const Found& part : found) {
    for (std::size_t i = 0; i < part.queries.size(); ++i) lists.offsets[part.queries[i] + 1] = part.lengths[i];
  }
  for (std::uint64_t q = 0; q < queries.count; ++q) lists.offsets[q + 1] += lists.offsets[q];
  lists.indices.resize(lists.offsets.back());
  lists.chains.resize(lists.offsets.back());
  runtime::parallel_for(found.size(), {.threads = run.threads}, [&](std::uint64_t task) {
    const Candidate<T>* next = found[task].candidates.data();
    for (std::size_t i = 0; i < found[task].queries.size(); ++i) {
      const std::uint64_t offset = lists.offsets[found[task].queries[i]];
      for (std::uint64_t j = 0; j < found[task].lengths[i]; ++j, ++next) {
        lists.indices[offset + j] = next->index;
        lists.chains[offset + j] = next->distance;
      }
    }
    found[task] = {};  // what was copied is given back at once
  });
  return lists;
}

template <typename T>
void KdSearch<T>::count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const {
  const QueryGroups<T> groups(tree_, queries, run.threads);
  for_groups(groups, queries.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    CountCollector<T> collector;
    collector.bound = bound;
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      exclude_self(queries, group, collector.excluded);
      std::fill_n(collector.counts, kGroupQueries, 0);
      walk(group, bound, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) counts[group.queries[i]] = collector.counts[i];
    }
  });
}

}  // namespace

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_kd_search(const engine::BuildRequest<T>& request) {
  return std::make_unique<KdSearch<T>>(request);
}

template std::unique_ptr<engine::Searcher<float>> build_kd_search(const engine::BuildRequest<float>&);
template std::unique_ptr<engine::Searcher<double>> build_kd_search(const engine::BuildRequest<double>&);

}  // namespace kith::cpu
