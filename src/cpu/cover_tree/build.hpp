// Builds the cover tree of any space on all cores: the same tree for every number of threads.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "cpu/cover_tree/choose_centres.hpp"
#include "cpu/cover_tree/finish_tree.hpp"
#include "cpu/cover_tree/neighbor_cells.hpp"
#include "cpu/cover_tree/one_with_many.hpp"
#include "cpu/cover_tree/regroup_cells.hpp"
#include "cpu/cover_tree/split_test.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/searcher.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/time_spent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace kith::cpu {

struct CoverBuildOptions {
  std::uint32_t leaf_size = 32;
  engine::RunOptions run;
  std::uint64_t* evaluations = nullptr;  ///< gets how many distances were measured; the same for all thread counts
  CoverWork* work = nullptr;             ///< the same by phase, and times
};

/// Level by level from the root's: which cells split (`split_test.hpp`), which are near each other
/// (`neighbor_cells.hpp`), the new centres and what they win (`choose_centres.hpp`), cells side by side again
/// (`regroup_cells.hpp`). Cells that have become leaves are not touched again. At the end order and reach
/// (`finish_tree.hpp`).
///
/// | per object                    | clusters, 50 000 x 55 | words, 104 000, by edits |
/// |-------------------------------|----------------------:|-------------------------:|
/// | distances from new centres    |                    63 |                    2 350 |
/// | all other distances           |                    10 |                      105 |
///
/// Memory beyond the tree: a copy of the objects that are in open cells, unless they are measured where they lie, about
/// 60 bytes for each of them, and 8 bytes for each pair of cells that are near each other.
template <Space S>
class CoverBuilder {
 public:
  using Value = typename S::Value;

  CoverBuilder(const S& space, const CoverBuildOptions& options)
      : space_(space),
        options_(options),
        threads_(options.run.threads),
        meter_(options.run.progress, "building", space.size()),
        work_(options.work != nullptr ? *options.work : own_work_),
        state_(space, work_) {}

  engine::CoverTree build() {
    if (space_.size() > 0) {
      start();
      while (!state_.cells.empty()) split_level();
      finish();
    }
    meter_.finish();
    if (options_.evaluations != nullptr) *options_.evaluations = work_.evaluations();
    return {options_.leaf_size,  engine::CoverSeparation::global,
            storage_->nodes,     storage_->order,
            storage_->distances, storage_};
  }

 private:
  void start() {
    measure_root();
    regroup({}, {}, 0);
  }

  /// Everything in one cell.
  void measure_root() {
    const runtime::TimeSpent time(&work_.root.milliseconds);
    const std::uint32_t objects = space_.size();
    std::vector<std::uint64_t> ranked(objects);
    for (std::uint32_t i = 0; i < objects; ++i) ranked[i] = std::uint64_t{core::cover_rank(i)} << 32 | i;
    std::sort(ranked.begin(), ranked.end());
    state_.by_rank.resize(objects);
    for (std::uint32_t i = 0; i < objects; ++i) state_.by_rank[i] = static_cast<std::uint32_t>(ranked[i]);
    const std::uint32_t centre = state_.by_rank[0];
    state_.numbers.resize(objects);
    std::iota(state_.numbers.begin(), state_.numbers.end(), 0u);
    if (!state_.by_few) state_.rows = space_.arrange(state_.numbers, threads_);
    state_.cell_at.assign(objects, 0);
    state_.values.resize(objects);
    state_.distances.resize(objects);
    constexpr std::uint32_t kBlock = 1 << 10;
    runtime::parallel_for((objects + kBlock - 1) / kBlock, {.threads = threads_}, [&](std::uint64_t block) {
      const auto first = static_cast<std::uint32_t>(block * kBlock);
      const std::uint32_t count = std::min(kBlock, objects - first);
      Value* values = state_.values.data() + first;
      if (state_.by_few) {
        OneWithMany<S>().measure(space_, centre, state_.numbers.data() + first, count, values);
      } else {
        typename S::Query query;
        space_.ask(query, centre);
        state_.rows.measure(query, first, count, std::numeric_limits<Value>::infinity(), values);
      }
      for (std::uint32_t i = first; i < first + count; ++i) {
        if (i == centre) state_.values[i] = 0;
        state_.distances[i] = space_.metric(state_.values[i]);
      }
    });
    state_.work->root.evaluations += objects;
    const double largest = *std::max_element(state_.distances.begin(), state_.distances.end());
    const bool is_told = largest <= kFarthestTold<Value>;
    state_.cells.push_back({.centre = centre, .open = is_told});
    state_.nodes.push_back(
        {.centre = centre, .level = largest > 0 && std::isfinite(largest) ? core::cover_level_below(largest) + 1 : 0});
  }

  void split_level() {
    double largest = 0;
    for (const CoverCell& cell : state_.cells) largest = std::max(largest, cell.largest);
    const std::int32_t level = core::cover_level_below(largest);
    const double radius = core::cover_radius(level);
    const Value within = value_within(space_, radius);
    close_where_splits_do_not_pay(space_, state_, radius, within, threads_);
    CentreChoice<S> choice(space_, state_, neighbors_, radius, within, threads_);
    if (std::any_of(state_.cells.begin(), state_.cells.end(), [](const CoverCell& cell) { return cell.open; })) {
      if (!state_.by_few) arrange_objects();
      find_neighbors(2 * radius);
      choice.run();
    }
    regroup(choice.centres, choice.owners, level);
    meter_.report(space_.size() - state_.numbers.size());
  }

  void arrange_objects() {
    const runtime::TimeSpent time(&work_.regroup.milliseconds);
    state_.rows = space_.arrange(state_.numbers, threads_);
  }

  /// The lists for this level; cells that do not split have none.
  void find_neighbors(double radius) {
    const runtime::TimeSpent time(&work_.neighbors.milliseconds);
    std::vector<std::uint32_t> cell_centres;
    for (const CoverCell& cell : state_.cells) cell_centres.push_back(cell.centre);
    state_.centres = space_.arrange(cell_centres, threads_);
    neighbors_ = NeighborCells::below(neighbors_, first_open_, space_, state_, radius, threads_);
  }

  void regroup(const std::vector<typename CentreChoice<S>::Centre>& centres, const std::vector<std::uint32_t>& owners,
               std::int32_t level) {
    const runtime::TimeSpent time(&work_.regroup.milliseconds);
    first_open_ = Regrouping<S>(space_, state_, options_.leaf_size, threads_).run(centres, owners, level);
  }

  void finish() {
    const runtime::TimeSpent time(&work_.reach.milliseconds);
    storage_->nodes = std::move(state_.nodes);
    for (engine::CoverNode& node : storage_->nodes) node.lowest = kNone;
    set_ranges(storage_->nodes, state_.leaves);
    set_leaves(*storage_, state_.leaves, threads_);
    FarthestObjects<S>(space_, *storage_, work_, threads_).run();
  }

  const S& space_;
  const CoverBuildOptions& options_;
  int threads_;
  runtime::ProgressMeter meter_;
  CoverWork own_work_;
  CoverWork& work_;
  CoverState<S> state_;
  std::vector<std::uint32_t> first_open_;  ///< by cell of the level before: where the cells that came out of it begin
  NeighborCells neighbors_;
  std::shared_ptr<CoverStorage> storage_ = std::make_shared<CoverStorage>();
};

/// Throws Interrupted when the progress callback says stop, std::bad_alloc.
template <Space S>
engine::CoverTree build_cover_tree(const S& space, const CoverBuildOptions& options = {}) {
  return CoverBuilder<S>(space, options).build();
}

}  // namespace kith::cpu
