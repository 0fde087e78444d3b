// Searches over a cover tree for many queries: the k nearest, all within a radius, how many within it.
#pragma once

#include "cpu/cover_tree/collectors.hpp"
#include "cpu/cover_tree/near_queries.hpp"
#include "cpu/cover_tree/prepared_tree.hpp"
#include "cpu/cover_tree/walk.hpp"
#include "cpu/key_list.hpp"
#include "cpu/nearest_keeper.hpp"
#include "cpu/nearest_row.hpp"
#include "engine/searcher.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::cpu {

/// What is asked: things from outside, or the objects themselves.
template <Space S>
struct CoverQueries {
  std::uint64_t count = 0;
  std::function<typename S::Outside(std::uint64_t query)> outside;  ///< none: query i is object i
  engine::PointFilter filter;
  /// Radius searches and counts: a bound for each query instead of the one for all; null: there are none.
  const typename S::Value* bounds = nullptr;

  bool is_self() const { return !outside; }
};

/// Finds the query prepared and returns how many distances it measured.
template <Space S>
using AnswerQuery = std::function<std::uint64_t(std::uint64_t query, CoverScratch<S>& scratch)>;

/// Asks query after query, on all threads. A single query starts no thread and takes no memory, if `answer` is by
/// std::ref.
template <Space S>
void for_each_query(const PreparedTree<S>& tree, const CoverQueries<S>& queries, const engine::RunOptions& run,
                    const AnswerQuery<S>& answer) {
  std::atomic<std::uint64_t> evaluations = 0;
  // One from outside, which may have been measured a little already.
  const auto ask_outside = [&](std::uint64_t query, const typename S::Value* first_values, CoverScratch<S>& scratch) {
    tree.space().ask_outside(scratch.query, queries.outside(query));
    scratch.first_values = first_values;
    return answer(query, scratch);
  };
  const auto for_all = [&](std::uint64_t count, const ProgressCallback* progress, const AnswerQuery<S>& ask) {
    constexpr std::uint64_t kQueriesPerTask = 32;
    const runtime::ParallelOptions options{.threads = run.threads,
                                           .stage = "searching",
                                           .progress = progress,
                                           .units_per_task = kQueriesPerTask,
                                           .total_units = count};
    runtime::parallel_for((count + kQueriesPerTask - 1) / kQueriesPerTask, options, [&](std::uint64_t task) {
      const typename ScratchPool<S>::Lease lease(tree.scratch());
      std::uint64_t measured = 0;
      const std::uint64_t end = std::min(count, (task + 1) * kQueriesPerTask);
      for (std::uint64_t i = task * kQueriesPerTask; i < end; ++i) {
        runtime::look_for_stop();
        measured += ask(i, *lease);
      }
      evaluations += measured;
    });
  };

  if (queries.is_self()) {  // in the order of the tree: neighbours follow each other
    for_all(queries.count, run.progress, [&](std::uint64_t i, CoverScratch<S>& scratch) {
      const std::uint32_t object = tree.tree().order[i];
      tree.space().ask(scratch.query, object);
      scratch.first_values = nullptr;
      return answer(object, scratch);
    });
  } else if (queries.count == 1) {
    const typename ScratchPool<S>::Lease lease(tree.scratch());
    evaluations = ask_outside(0, nullptr, *lease);
  } else if (NearQueries<S>::pays(tree, queries.count)) {
    const std::uint64_t most = NearQueries<S>::most_at_a_time(tree);
    for (std::uint64_t first = 0; first < queries.count; first += most) {
      const bool has_progress = run.progress != nullptr && *run.progress;
      const ProgressCallback of_all = [&](const Progress& part) {
        return !has_progress || (*run.progress)({part.stage, first + part.done, queries.count});
      };
      const std::uint64_t some = std::min(most, queries.count - first);
      const NearQueries<S> near(tree, queries.outside, first, some, run.threads);
      evaluations += near.evaluations();
      for_all(some, has_progress ? &of_all : nullptr, [&](std::uint64_t i, CoverScratch<S>& scratch) {
        return ask_outside(near.query(i), near.values(i), scratch);
      });
    }
  } else {
    for_all(queries.count, run.progress,
            [&](std::uint64_t i, CoverScratch<S>& scratch) { return ask_outside(i, nullptr, scratch); });
  }
  if (run.times != nullptr) run.times->evaluations += evaluations;
}

/// Fills rows of k entries, nearest first; missing ones get the number of objects and infinity. `exact` may be null.
/// Of the rules `max_leaves` is not looked at: an answer is exact but for `shrink`.
template <Space S>
void find_nearest(const PreparedTree<S>& tree, const CoverQueries<S>& queries, std::uint32_t k,
                  const engine::KnnRules<typename S::Value>& rules, const engine::RunOptions& run,
                  std::uint32_t* indices, typename S::Value* values, std::uint8_t* exact) {
  using Value = typename S::Value;
  if (k == 0) {
    if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});
    return;
  }
  const auto walk = [&](auto& keeper, std::uint64_t query, CoverScratch<S>& scratch) {
    CoverNearest<S, std::remove_reference_t<decltype(keeper)>> collector(
        tree.space(), keeper, CoverScope(queries.filter, query), rules.shrink);
    const std::uint64_t measured = CoverWalk<S, decltype(collector)>(tree, scratch, collector).run();
    if (exact != nullptr) exact[query] = collector.is_certain() ? 1 : 0;
    return measured;
  };
  const auto answer = [&](std::uint64_t query, CoverScratch<S>& scratch) {
    std::uint32_t* row_indices = indices + query * k;
    Value* row_values = values + query * k;
    if constexpr (std::is_same_v<Value, float>) {
      if (k <= KeyList::kMost) {
        KeyList keys;
        keys.reset(k, rules.bound);
        const std::uint64_t measured = walk(keys, query, scratch);
        core::Candidate<float> kept[KeyList::kMost];
        const std::uint32_t found = keys.copy_to(kept);
        for (std::uint32_t i = 0; i < k; ++i) {
          row_indices[i] = i < found ? kept[i].index : tree.size();
          row_values[i] = i < found ? kept[i].distance : std::numeric_limits<float>::infinity();
        }
        return measured;
      }
    }
    NearestRow<Value> row(k, rules.bound, row_indices, row_values);
    const std::uint64_t measured = walk(row, query, scratch);
    row.finish(tree.size());
    return measured;
  };
  for_each_query<S>(tree, queries, run, std::ref(answer));
}

/// All objects with a value up to the bound (or the query's own), each list sorted; with `most` > 0 only that many
/// nearest.
template <Space S>
engine::ReducedLists<typename S::Value> find_within(const PreparedTree<S>& tree, const CoverQueries<S>& queries,
                                                    typename S::Value bound, std::uint32_t most,
                                                    const engine::RunOptions& run) {
  using Value = typename S::Value;
  using Candidate = core::Candidate<Value>;
  const engine::Reach<Value> reach{bound, queries.bounds};
  std::vector<std::vector<Candidate>> lists(queries.count);
  const auto answer = [&](std::uint64_t query, CoverScratch<S>& scratch) -> std::uint64_t {
    const CoverScope scope(queries.filter, query);
    if (most > 0 && most < tree.size()) {
      NearestKeeper<Value> keeper(most, tree.size(), reach.of(query));
      CoverNearest<S, NearestKeeper<Value>> collector(tree.space(), keeper, scope, 1);
      const std::uint64_t measured = CoverWalk<S, decltype(collector)>(tree, scratch, collector).run();
      const std::span<const Candidate> found = keeper.finish();
      lists[query].assign(found.begin(), found.end());
      return measured;
    }
    scratch.found.clear();
    CoverList<S> collector(tree.space(), scratch.found, scope, reach.of(query));
    const std::uint64_t measured = CoverWalk<S, CoverList<S>>(tree, scratch, collector).run();
    std::sort(scratch.found.begin(), scratch.found.end());
    lists[query].assign(scratch.found.begin(), scratch.found.end());
    return measured;
  };
  for_each_query<S>(tree, queries, run, std::ref(answer));

  engine::ReducedLists<Value> all;
  all.offsets.resize(queries.count + 1, 0);
  for (std::uint64_t query = 0; query < queries.count; ++query) {
    all.offsets[query + 1] = all.offsets[query] + lists[query].size();
  }
  all.indices.resize(all.offsets.back());
  all.reduced.resize(all.offsets.back());
  for (std::uint64_t query = 0; query < queries.count; ++query) {
    std::uint64_t place = all.offsets[query];
    for (const Candidate& found : lists[query]) {
      all.indices[place] = found.index;
      all.reduced[place++] = found.distance;
    }
    lists[query] = {};  // what was copied is given back at once
  }
  return all;
}

/// How many objects have a value up to the bound (or the query's own).
template <Space S>
void count_within(const PreparedTree<S>& tree, const CoverQueries<S>& queries, typename S::Value bound,
                  const engine::RunOptions& run, std::uint32_t* counts) {
  const engine::Reach<typename S::Value> reach{bound, queries.bounds};
  const auto answer = [&](std::uint64_t query, CoverScratch<S>& scratch) {
    CoverCount<S> collector(tree.space(), CoverScope(queries.filter, query), reach.of(query));
    const std::uint64_t measured = CoverWalk<S, CoverCount<S>>(tree, scratch, collector).run();
    counts[query] = collector.count();
    return measured;
  };
  for_each_query<S>(tree, queries, run, std::ref(answer));
}

}  // namespace kith::cpu
