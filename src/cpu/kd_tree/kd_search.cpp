// The k-d tree engine on the CPU: exact search through the unique tree. This file says which walk serves which search,
// and where its answers go.
#include "cpu/engines.hpp"

#include "cpu/instruction_set.hpp"
#include "cpu/kd_tree/alive_nodes.hpp"
#include "cpu/kd_tree/box_search.hpp"
#include "cpu/kd_tree/build.hpp"
#include "cpu/kd_tree/collectors.hpp"
#include "cpu/kd_tree/found_lists.hpp"
#include "cpu/kd_tree/group_search.hpp"
#include "cpu/kd_tree/query_groups.hpp"
#include "cpu/kd_tree/second_tree.hpp"
#include "cpu/kd_tree/single_search.hpp"
#include "cpu/kd_tree/tiny_coordinates.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "engine/kd_tree/tree_sections.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kith::cpu {
namespace {

using core::Candidate;
using engine::KnnRules;
using engine::QueryBatch;
using engine::ReducedLists;
using engine::RunOptions;

template <typename T>
class KdSearch final : public engine::Searcher<T> {
 public:
  explicit KdSearch(const engine::BuildRequest<T>& request)
      : metric_(request.metric),
        lengths_(request.period),
        tree_(make_tree(request)),
        is_contracts_(request.order == nullptr),
        without_tiny_(search_without_tiny(request.run.threads)) {}
  explicit KdSearch(const engine::LoadRequest& request)
      : metric_(request.file.facts().metric),
        lengths_(request.lengths<T>()),
        tree_(engine::load_tree<T>(request)),
        without_tiny_(search_without_tiny(request.run.threads)) {}
  KdSearch(KdTree<T> tree, Metric metric, std::vector<T> period, bool is_for_exact = true)
      : metric_(metric),
        lengths_(std::move(period)),
        tree_(std::move(tree)),
        without_tiny_(is_for_exact ? search_without_tiny(0) : nullptr) {}

  void knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
           std::uint32_t* indices, T* reduced, std::uint8_t* exact) const override;
  ReducedLists<T> radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                         const RunOptions& run) const override;
  void count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const override;

  engine::IndexLists box(const engine::BoxBatch<T>& boxes, const RunOptions& run) const override {
    return search_boxes(tree_, boxes, run);
  }
  void box_count(const engine::BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const override {
    count_in_boxes(tree_, boxes, run, counts);
  }
  void copy_rows(T* rows, int threads) const override { engine::copy_tree_rows(tree_, rows, threads); }
  void save(engine::IndexFileWriter& writer, const RunOptions& run) const override {
    engine::save_tree(contracts(run).tree_, writer);
  }

  std::uint64_t memory_bytes() const override {
    return tree_.memory_bytes() + (without_tiny_ ? without_tiny_->memory_bytes() : 0) + contracts_bytes_;
  }
  std::uint64_t search_bytes(const engine::SearchShape& shape, int threads) const override {
    const bool is_exact = shape.is_radius || shape.is_exact;
    const bool makes_tree = !is_contracts_ && !is_exact && contracts_bytes_ == 0;
    const std::uint64_t tree = makes_tree ? second_tree_bytes(tree_, threads) - tree_.memory_bytes() : 0;
    if (shape.is_self) return tree;
    const std::uint64_t changed = serves_without_tiny(is_exact) ? shape.queries * tree_.dims * sizeof(T) : 0;
    return tree + changed + QueryGroups<T>::bytes_of(tree_.geometry, shape.queries);
  }
  std::string describe() const override {
    return fmt::format("k-d tree{}: {} points of {} dims, {} levels, {} leaves of up to {} points ({}), {} bytes",
                       is_contracts_ ? "" : " in the order of another", tree_.geometry.points, tree_.dims,
                       tree_.geometry.levels, tree_.geometry.leaves(), tree_.geometry.most_per_leaf(),
                       instruction_set(), memory_bytes());
  }
  std::string explain(const engine::SearchShape& shape) const override {
    if (serves_without_tiny(shape.is_radius || shape.is_exact)) {
      return "coordinates that L2 cannot tell from zero as zero; " + without_tiny_->explain(shape);
    }
    if (is_alone(shape.queries, shape.is_self)) return "one query, on the caller's thread";
    if (!shape.is_radius && !shape.is_exact) {
      return "queries one by one; groups do not apply: what eps and max_leaves find depends on each query's own walk";
    }
    const char* kept = shape.is_radius ? "" : has_key_lists(shape.k) ? ", lists of keys" : ", lists of candidates";
    return fmt::format("groups of up to {} queries that lie together{}", kGroupQueries, kept);
  }

 private:
  const T* lengths() const { return lengths_.empty() ? nullptr : lengths_.data(); }

  /// A search over the same points with tiny coordinates as zeros, if there are enough that have no others and memory
  /// allows it: it gives the same answers sooner. Axes that wrap have differences of their own.
  std::unique_ptr<const KdSearch> search_without_tiny(int threads) const {
    if (!lengths_.empty() || !has_tiny_leaves(tree_, metric_)) return nullptr;
    // Those who build may have a copy of the points, too.
    const std::uint64_t copy = tree_.geometry.points * tree_.dims * sizeof(T);
    if (second_tree_bytes(tree_, threads) + copy > runtime::host_memory_limit()) return nullptr;
    return std::make_unique<const KdSearch>(second_tree(tree_, {.threads = threads}, without_tiny<T>), metric_,
                                            lengths_);
  }
  /// What approximate searches find depends on the tree itself.
  bool serves_without_tiny(bool is_exact) const { return without_tiny_ != nullptr && is_exact; }
  template <typename Collector>
  void knn_in_groups(const QueryBatch<T>& queries, std::uint32_t k, T bound, const RunOptions& run,
                     std::uint32_t* indices, T* reduced) const;
  ReducedLists<T> radius_alone(const QueryBatch<T>& queries, T bound, std::uint32_t most) const;
  bool knn_alone(const QueryBatch<T>& queries, std::uint64_t query, const T* row, std::uint32_t k,
                 const KnnRules<T>& rules, std::uint32_t* indices, T* reduced) const;

  /// Nodes without an allowed point, if there are enough queries to pay for finding them.
  std::vector<std::uint64_t> alive(const QueryBatch<T>& queries, int threads) const {
    if (queries.filter.allowed == nullptr || queries.count < tree_.geometry.leaves() / kLeavesPerQuery) return {};
    return alive_nodes(tree_, queries.filter.allowed, threads);
  }

  /// Walks one group, then those that walk alone; all start with the limits (reach, core::kNoPoint).
  template <typename Collector>
  void walk(const QueryBatch<T>& queries, const QueryGroup<T>& group, engine::Reach<T> reach,
            const std::vector<std::uint64_t>& alive, Collector& collector) const {
    T limits[kGroupQueries];
    std::uint32_t limit_indices[kGroupQueries];
    NodeFilter filter;
    filter.alive = alive.empty() ? nullptr : alive.data();
    filter.end = collector.scope.is_open ? filter.end : 0;
    for (std::uint32_t i = 0; i < kGroupQueries; ++i) {
      const bool is_used = i < group.near;
      limits[i] = is_used ? reach.of(group.queries[i]) : T(-1);
      limit_indices[i] = is_used ? core::kNoPoint : 0;
      if (is_used && !collector.scope.is_open) {
        filter.end = std::max(filter.end, collector.scope.filter.end(group.queries[i]));
      }
    }
    collector.scope.queries = group.queries;
    if (group.near > 0) {
      search_group(tree_, GroupSearch<T>{.metric = metric_,
                                         .lengths = lengths(),
                                         .count = group.near,
                                         .values = group.values.data(),
                                         .limits = limits,
                                         .limit_indices = limit_indices,
                                         .start_leaf = group.start_leaf,
                                         .filter = filter,
                                         .on_hit = collector.function(),
                                         .context = collector.context()});
    }
    for (std::uint32_t i = group.near; i < group.count; ++i) {
      walk_alone(queries, group.queries[i], i, reach.of(group.queries[i]), filter.alive, collector);
    }
  }

  /// One query of a batch, as the `place`-th of the collector.
  template <typename Collector>
  void walk_alone(const QueryBatch<T>& queries, std::uint64_t query, std::uint32_t place, T reach,
                  const std::uint64_t* alive, Collector& collector) const {
    search_single(tree_, SingleSearch<T>{.metric = metric_,
                                         .lengths = lengths(),
                                         .query = queries.row(query),
                                         .place = place,
                                         .limit = {reach, core::kNoPoint},
                                         .filter = {.end = queries.filter.end(query), .alive = alive},
                                         .on_hit = collector.function(),
                                         .context = collector.context()});
  }
  /// The only query of a batch.
  template <typename Collector>
  void walk_only(const QueryBatch<T>& queries, T bound, Collector& collector) const {
    constexpr std::uint64_t kQuery = 0;
    collector.scope.queries = &kQuery;
    walk_alone(queries, kQuery, 0, queries.reach(bound).of(kQuery), nullptr, collector);
  }
  static bool is_alone(std::uint64_t queries, bool is_self) { return queries == 1 && !is_self; }
  static bool is_alone(const QueryBatch<T>& queries) { return is_alone(queries.count, queries.is_self()); }
  /// Whether exact kNN in groups keeps keys instead of candidates.
  static bool has_key_lists(std::uint32_t k) { return sizeof(T) == 4 && k > 0 && k <= KeyLists::kMost; }

  /// Runs `task(number, first group, end)` over all groups, `per_task` of them at a time.
  template <typename Task>
  static void for_groups(const QueryGroups<T>& groups, std::uint64_t queries, const RunOptions& run, Task&& task,
                         std::uint64_t per_task = tuning().groups_per_task) {
    const std::uint64_t tasks = (groups.size() + per_task - 1) / per_task;
    const runtime::ParallelOptions options{.threads = run.threads,
                                           .stage = "searching",
                                           .progress = run.progress,
                                           .units_per_task = tasks == 0 ? 1 : queries / tasks,
                                           .total_units = queries};
    runtime::parallel_for(tasks, options,
                          [&](std::uint64_t t) { task(t, t * per_task, std::min(groups.size(), (t + 1) * per_task)); });
  }

  static KdTree<T> make_tree(const engine::BuildRequest<T>& request) {
    const KdBuildOptions options{.leaf_size = engine::leaf_size_of(request.leaf_size, request.dims),
                                 .cycles = request.split == SplitRule::cycle,
                                 .builder = request.builder,
                                 .threads = request.run.threads,
                                 .progress = request.run.progress};
    if (request.order == nullptr) return build_kd_tree(request.rows, request.count, request.dims, options);
    return arrange_kd_tree(*request.order, request.count, request.dims, options);
  }

  /// The searcher with the contract's tree over the same points: what approximate searches find depends on the tree,
  /// and so does a file. Built when it is first needed.
  const KdSearch& contracts(const RunOptions& run) const {
    if (is_contracts_) return *this;
    std::call_once(contracts_made_, [&] {
      runtime::require_allowed(second_tree_bytes(tree_, run.threads), "the tree of approximate searches and files");
      contracts_ =
          std::make_unique<KdSearch>(second_tree(tree_, run, [](T value) { return value; }), metric_, lengths_, false);
      contracts_bytes_ = contracts_->memory_bytes();
    });
    return *contracts_;
  }

  Metric metric_;
  std::vector<T> lengths_;  ///< of periodic axes; empty: plain axes
  KdTree<T> tree_;
  bool is_contracts_ = true;  ///< the tree
  mutable std::once_flag contracts_made_;
  mutable std::unique_ptr<KdSearch> contracts_;
  mutable std::atomic<std::uint64_t> contracts_bytes_ = 0;
  std::unique_ptr<const KdSearch> without_tiny_;  ///< takes the place of `tree_` where it is there
};

/// Fetches a row that a walk later will write: rows of a group lie anywhere.
template <typename T>
void prefetch_row(const T* row, std::uint32_t k) {
  constexpr std::uint32_t kLine = 64 / sizeof(T), kLines = 4;
  for (std::uint32_t i = 0; i < std::min(k, kLines * kLine); i += kLine) __builtin_prefetch(row + i, 1);
}

/// One query by itself, without allocating memory. Returns whether the answer is certain.
template <typename T>
bool KdSearch<T>::knn_alone(const QueryBatch<T>& queries, std::uint64_t query, const T* row, std::uint32_t k,
                            const KnnRules<T>& rules, std::uint32_t* indices, T* reduced) const {
  const auto missing = static_cast<std::uint32_t>(tree_.geometry.points);
  const bool uses_keys = sizeof(T) == 4 && k > 0 && k <= KeyLists::kMost;
  double storage[KeyLists::storage_size(KeyLists::kMost, 1)];
  KeyLists keys(uses_keys ? k : 1, storage);
  AloneCollector<T> alone{GroupScope(queries.filter), NearestRow<T>(k, rules.bound, indices, reduced),
                          uses_keys ? &keys : nullptr};
  alone.scope.queries = &query;
  if constexpr (sizeof(T) == 4) keys.reset(0, rules.bound);

  const bool is_certain = search_single(tree_, SingleSearch<T>{.metric = metric_,
                                                               .lengths = lengths(),
                                                               .query = row,
                                                               .limit = {rules.bound, k == 0 ? 0 : core::kNoPoint},
                                                               .shrink = rules.shrink,
                                                               .max_leaves = rules.max_leaves,
                                                               .filter = {.end = queries.filter.end(query)},
                                                               .on_hit = &AloneCollector<T>::on_hit,
                                                               .context = &alone});
  if constexpr (sizeof(T) == 4) {
    if (uses_keys) {
      keys.write(0, missing, indices, reduced);
      return is_certain;
    }
  }
  alone.list.finish(missing);
  return is_certain;
}

template <typename T>
template <typename Collector>
void KdSearch<T>::knn_in_groups(const QueryBatch<T>& queries, std::uint32_t k, T bound, const RunOptions& run,
                                std::uint32_t* indices, T* reduced) const {
  const QueryGroups<T> groups(tree_, queries, run.threads);
  const std::vector<std::uint64_t> alive = this->alive(queries, run.threads);
  for_groups(groups, queries.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    Collector collector(queries.filter, k, tree_.geometry.points, bound);
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      for (std::uint32_t i = 0; i < group.count; ++i) {
        collector.reset(i);
        prefetch_row(indices + group.queries[i] * k, k);
        prefetch_row(reduced + group.queries[i] * k, k);
      }
      walk(queries, group, {bound}, alive, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) {
        collector.write(i, indices + group.queries[i] * k, reduced + group.queries[i] * k);
      }
    }
  });
}

template <typename T>
void KdSearch<T>::knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
                      std::uint32_t* indices, T* reduced, std::uint8_t* exact) const {
  if (serves_without_tiny(rules.is_exact())) {
    const QueriesWithoutTiny<T> changed(queries, tree_.dims);
    return without_tiny_->knn(changed.batch, k, rules, run, indices, reduced, exact);
  }
  if (!is_contracts_ && !rules.is_exact() && !rules.is_probe) {
    return contracts(run).knn(queries, k, rules, run, indices, reduced, exact);
  }
  const auto alone = [&](std::uint64_t query, const T* row) {
    const bool is_certain = knn_alone(queries, query, row, k, rules, indices + query * k, reduced + query * k);
    if (exact != nullptr) exact[query] = is_certain ? 1 : 0;
  };
  if (is_alone(queries)) {
    alone(0, queries.row(0));
  } else if (!rules.is_exact()) {  // one by one, in the order of the leaves
    const QueryGroups<T> groups(tree_, queries, run.threads);
    for_groups(groups, queries.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      QueryGroup<T> group;
      std::vector<T> row(tree_.dims);
      for (std::uint64_t g = first; g < end; ++g) {
        groups.load(g, group);
        for (std::uint32_t i = 0; i < group.count; ++i) {
          for (std::uint32_t d = 0; d < tree_.dims; ++d) row[d] = group.values[std::size_t{d} * kGroupQueries + i];
          alone(group.queries[i], queries.is_self() ? row.data() : queries.row(group.queries[i]));
        }
      }
    });
  } else {
    if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});
    if constexpr (sizeof(T) == 8) {
      if (k > 0 && k <= DistanceLists::kMost) {
        knn_in_groups<DistanceCollector>(queries, k, rules.bound, run, indices, reduced);
        return;
      }
      knn_in_groups<KeeperCollector<T>>(queries, k, rules.bound, run, indices, reduced);
    } else if (has_key_lists(k)) {
      knn_in_groups<KeyCollector>(queries, k, rules.bound, run, indices, reduced);
    } else {
      knn_in_groups<BufferCollector>(queries, k, rules.bound, run, indices, reduced);
    }
  }
}

template <typename T>
ReducedLists<T> KdSearch<T>::radius_alone(const QueryBatch<T>& queries, T bound, std::uint32_t most) const {
  ListCollector<T> collector(queries.filter, queries.reach(bound));
  walk_only(queries, bound, collector);
  auto& found = collector.list(0);
  ListEntry<T>::sort(found.data(), found.size());
  if (most > 0 && found.size() > most) found.resize(most);
  ReducedLists<T> lists{{0, found.size()}, std::vector<std::uint32_t>(found.size()), std::vector<T>(found.size())};
  for (std::size_t j = 0; j < found.size(); ++j) {
    const Candidate<T> candidate = ListEntry<T>::candidate(found[j]);
    lists.indices[j] = candidate.index;
    lists.reduced[j] = candidate.distance;
  }
  return lists;
}

template <typename T>
ReducedLists<T> KdSearch<T>::radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                                    const RunOptions& run) const {
  if (serves_without_tiny(true)) {
    return without_tiny_->radius(QueriesWithoutTiny<T>(queries, tree_.dims).batch, bound, most, run);
  }
  if (is_alone(queries)) return radius_alone(queries, bound, most);
  const QueryGroups<T> groups(tree_, queries, run.threads);
  const std::vector<std::uint64_t> alive = this->alive(queries, run.threads);
  const std::uint64_t per_task = tuning().groups_per_task;
  FoundLists<T> found((groups.size() + per_task - 1) / per_task);
  const auto find = [&](std::uint64_t task, std::uint64_t first, std::uint64_t end) {
    ListCollector<T> collector(queries.filter, queries.reach(bound));
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      walk(queries, group, queries.reach(bound), alive, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) {
        auto& list = collector.list(i);
        ListEntry<T>::sort(list.data(), list.size());
        if (most > 0 && list.size() > most) list.resize(most);
        found.add(task, group.queries[i], list);
        list.clear();
      }
    }
  };
  for_groups(groups, queries.count, run, find, per_task);
  return found.joined(queries.count, run.threads);
}

template <typename T>
void KdSearch<T>::count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const {
  if (serves_without_tiny(true)) {
    return without_tiny_->count(QueriesWithoutTiny<T>(queries, tree_.dims).batch, bound, run, counts);
  }
  if (is_alone(queries)) {
    CountCollector<T> collector(queries.filter, queries.reach(bound));
    walk_only(queries, bound, collector);
    counts[0] = collector.count(0);
    return;
  }
  const QueryGroups<T> groups(tree_, queries, run.threads);
  const std::vector<std::uint64_t> alive = this->alive(queries, run.threads);
  for_groups(groups, queries.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    CountCollector<T> collector(queries.filter, queries.reach(bound));
    QueryGroup<T> group;
    for (std::uint64_t g = first; g < end; ++g) {
      groups.load(g, group);
      if (group.count == 0) continue;
      collector.reset();
      walk(queries, group, queries.reach(bound), alive, collector);
      for (std::uint32_t i = 0; i < group.count; ++i) counts[group.queries[i]] = collector.count(i);
    }
  });
}

template <typename T>
engine::BuildBytes kd_search_bytes(const engine::PlanRequest& request) {
  const std::uint32_t leaf_size = engine::leaf_size_of(request.leaf_size, request.dims);
  return kd_tree_bytes<T>(request.count, request.dims,
                          {.leaf_size = leaf_size, .builder = request.builder, .threads = request.threads});
}

template <typename T>
std::uint64_t kd_knn_bytes(const engine::PlanRequest& request, const engine::SearchShape& shape) {
  const std::uint32_t leaf_size = engine::leaf_size_of(request.leaf_size, request.dims);
  return shape.is_self ? 0 : QueryGroups<T>::bytes_of(core::KdGeometry::of(request.count, leaf_size), shape.queries);
}

}  // namespace

template <typename T>
std::unique_ptr<engine::Searcher<T>> adopt_kd_tree(KdTree<T> tree, Metric metric, std::vector<T> period) {
  return std::make_unique<KdSearch<T>>(std::move(tree), metric, std::move(period));
}

template <typename T>
engine::PointEngine<T> kd_tree() {
  return {kd_search_bytes<T>, engine::make_searcher<KdSearch<T>, engine::BuildRequest<T>>,
          engine::make_searcher<KdSearch<T>, engine::LoadRequest>, kd_knn_bytes<T>};
}

template engine::PointEngine<float> kd_tree();
template engine::PointEngine<double> kd_tree();
template std::unique_ptr<engine::Searcher<float>> adopt_kd_tree(KdTree<float>, Metric, std::vector<float>);
template std::unique_ptr<engine::Searcher<double>> adopt_kd_tree(KdTree<double>, Metric, std::vector<double>);

}  // namespace kith::cpu
