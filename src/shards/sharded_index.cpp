// Points in several shards of one process: builds them, and carries requests and replies between them by function
// calls. See kith/shards/sharded_index.hpp.
#include "core/metric/metric_params.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "shards/carrier.hpp"
#include "shards/check_rules.hpp"
#include "shards/self_answers.hpp"

#include <kith/error.hpp>
#include <kith/shards/cut.hpp>
#include <kith/shards/sharded_index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

namespace kith::shards::inline v0 {
struct ShardedIndex::State {
  ShardMap map;
  std::vector<Shard> shards;
  /// Shards of each device: several devices work at the same time.
  std::vector<std::vector<std::uint32_t>> by_device;

  /// Those of each shard; empty without a filter.
  std::vector<std::vector<std::uint64_t>> allowed(const ShardSearchOptions& options) const {
    std::vector<std::vector<std::uint64_t>> allowed(shards.size());
    if (options.allowed.empty()) return allowed;
    runtime::parallel_for(shards.size(), {.threads = options.threads},
                          [&](std::uint64_t s) { allowed[s] = shards[s].allowed_here(options.allowed); });
    return allowed;
  }

  void run(std::span<Search* const> searches, const std::vector<std::vector<std::uint64_t>>& allowed,
           const ShardSearchOptions& options) const {
    carry(searches, map.size(), [&](std::vector<std::vector<Job>>& jobs) { answer(jobs, allowed, options); });
  }

  void answer(std::vector<std::vector<Job>>& jobs, const std::vector<std::vector<std::uint64_t>>& allowed,
              const ShardSearchOptions& options) const {
    const auto reply_to = [&](std::uint32_t shard, Job& job) {
      return reply_of(shards[shard], job, allowed[shard], options.threads);
    };
    if (by_device.size() == 1) {
      for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
        for (Job& job : jobs[shard]) job.search->take(reply_to(shard, job));
      }
      return;
    }
    std::vector<std::vector<SearchReply>> replies(shards.size());
    runtime::parallel_for(by_device.size(),
                          {.threads = static_cast<int>(by_device.size()), .nanoseconds_per_task = kLongTask},
                          [&](std::uint64_t device) {
                            for (const std::uint32_t shard : by_device[device]) {
                              for (Job& job : jobs[shard]) replies[shard].push_back(reply_to(shard, job));
                            }
                          });
    for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
      for (std::size_t i = 0; i < jobs[shard].size(); ++i) jobs[shard][i].search->take(std::move(replies[shard][i]));
    }
  }

  /// Enough that each device gets a thread.
  static constexpr double kLongTask = 1e9;

  /// Searches of the points of all shards: `make(shard)`, whose results `take(shard, search)` takes; one shard of each
  /// device at a time, so that lists of few are in memory.
  template <typename S, typename Make, typename Take>
  void search_own(const ShardSearchOptions& options, const Make& make, const Take& take) const {
    const auto filters = allowed(options);
    std::size_t most = 0;
    for (const auto& of_device : by_device) most = std::max(most, of_device.size());
    for (std::size_t turn = 0; turn < most; ++turn) {
      std::vector<std::pair<std::uint32_t, S>> searches;
      for (const auto& of_device : by_device) {
        if (turn < of_device.size()) searches.emplace_back(of_device[turn], make(of_device[turn]));
      }
      std::vector<Search*> all;
      for (auto& [shard, search] : searches) all.push_back(&search);
      run(all, filters, options);
      for (auto& [shard, search] : searches) take(shard, search);
    }
  }

  void run_one(Search& search, const ShardSearchOptions& options) const {
    run(std::array<Search*, 1>{&search}, allowed(options), options);
  }
};

ShardedIndex::ShardedIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}

ShardedIndex ShardedIndex::build(PointView points, const ShardedBuildOptions& options) {
  const NumberedPoints all{.points = points};
  return build(std::span(&all, 1), options);
}

ShardedIndex ShardedIndex::build(std::span<const NumberedPoints> parts, const ShardedBuildOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const runtime::Watched watched(&options.build.progress, "building");
  const int threads = options.build.threads;
  if (threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", threads));
  const auto state = with_memory("the shards", [&] {
    const std::size_t devices = std::max<std::size_t>(options.devices.size(), 1);
    CutRules rules =
        CutRules::of(options.shards == 0 ? static_cast<std::uint32_t>(devices) : options.shards, options.build);
    require_rules(rules);
    if (parts.size() == 1 && parts[0].points.device() == Device::cpu() && rules.metric_params.empty() &&
        !core::has_plain_rows(rules.metric)) {
      rules.metric_params = core::params_for(rules.metric, {}, parts[0].points);
    }
    std::vector<PointFacts> each;
    for (const NumberedPoints& part : parts) each.push_back(PointFacts::of(part, rules, threads));
    const PointFacts facts = PointFacts::joined(each);
    CutPlan plan(facts, rules);
    std::vector<PointCutter> cutters;
    for (const NumberedPoints& part : parts) cutters.emplace_back(part, rules, threads);
    while (!plan.is_done()) {
      std::vector<std::uint64_t> sums(plan.counts(), 0);
      for (PointCutter& cutter : cutters) {
        const std::vector<std::uint64_t> counts = cutter.counts(plan);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
      }
      plan.take(sums);
    }
    auto result = std::make_shared<State>();
    std::map<std::string, std::vector<std::uint32_t>> by_device;
    std::vector<ShardFacts> told;
    runtime::ProgressMeter meter(&options.build.progress, "building shards", rules.shards);
    for (std::uint32_t shard = 0; shard < rules.shards; ++shard) {
      std::vector<ShardPoints> points;
      for (PointCutter& cutter : cutters) points.push_back(cutter.points_of(plan, shard));
      BuildOptions own = options.build;
      own.progress = {};
      own.times = nullptr;
      if (!options.devices.empty()) own.device = options.devices[shard % devices];
      result->shards.push_back(Shard::build(std::move(points), rules, own));
      told.push_back(result->shards.back().facts());
      by_device[result->shards.back().index().device().name()].push_back(shard);
      meter.report(shard + 1);
    }
    meter.finish();
    result->map = ShardMap(facts, rules, std::move(told));
    for (auto& [name, shards] : by_device) result->by_device.push_back(std::move(shards));
    return std::shared_ptr<const State>(std::move(result));
  });
  if (options.build.times != nullptr) {
    *options.build.times = {};
    options.build.times->total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  return ShardedIndex(state);
}

WideNeighbors ShardedIndex::knn(PointView queries, std::uint32_t k, const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    KnnSearch search(state_->map, queries, k, options);
    state_->run_one(search, options);
    return search.result();
  });
}

WideNeighbors ShardedIndex::knn_self(std::uint32_t k, const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    require_options(state_->map, options, SearchKind::knn, true, size());
    SelfNeighbors all(state_->map, k, options.threads);
    state_->search_own<KnnSearch>(
        options,
        [&](std::uint32_t shard) {
          return KnnSearch(state_->map, SearchQueries(state_->shards[shard], shard), k, options);
        },
        [&](std::uint32_t shard, KnnSearch& search) { all.place(state_->shards[shard].numbers(), search.result()); });
    return std::move(all).take();
  });
}

WideNeighborLists ShardedIndex::radius(PointView queries, const Radii& radii, const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    RadiusSearch search(state_->map, queries, radii, options);
    state_->run_one(search, options);
    return search.result();
  });
}

WideNeighborLists ShardedIndex::radius_self(const Radii& radii, const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    require_radii(radii, size());
    require_options(state_->map, options, SearchKind::radius, true, size());
    SelfRadii own_radii(radii, state_->shards);
    SelfLists all(state_->map, options.threads);
    state_->search_own<RadiusSearch>(
        options,
        [&](std::uint32_t shard) {
          return RadiusSearch(state_->map, SearchQueries(state_->shards[shard], shard), own_radii.of(shard), options);
        },
        [&](std::uint32_t shard, RadiusSearch& search) { all.add(state_->shards[shard], search.result()); });
    return std::move(all).take();
  });
}

std::vector<std::uint64_t> ShardedIndex::count(PointView queries, const Radii& radii,
                                               const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    CountSearch search(state_->map, queries, radii, options);
    state_->run_one(search, options);
    return search.result();
  });
}

std::vector<std::uint64_t> ShardedIndex::count_self(const Radii& radii, const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    require_radii(radii, size());
    require_options(state_->map, options, SearchKind::radius, true, size());
    SelfRadii own_radii(radii, state_->shards);
    std::vector<std::uint64_t> all(size(), 0);
    state_->search_own<CountSearch>(
        options,
        [&](std::uint32_t shard) {
          return CountSearch(state_->map, SearchQueries(state_->shards[shard], shard), own_radii.of(shard), options);
        },
        [&](std::uint32_t shard, CountSearch& search) {
          const std::vector<std::uint64_t> counts = search.result();
          const std::span<const std::uint64_t> numbers = state_->shards[shard].numbers();
          for (std::size_t i = 0; i < counts.size(); ++i) all[numbers[i]] = counts[i];
        });
    return all;
  });
}

WidePointLists ShardedIndex::box(PointView lower, PointView upper, const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    BoxSearch search(state_->map, lower, upper, false, options);
    state_->run_one(search, options);
    return search.lists();
  });
}

std::vector<std::uint64_t> ShardedIndex::box_count(PointView lower, PointView upper,
                                                   const ShardSearchOptions& options) const {
  const runtime::Watched watched(&options.progress, "searching");
  return with_memory("the result", [&] {
    BoxSearch search(state_->map, lower, upper, true, options);
    state_->run_one(search, options);
    return search.counts();
  });
}

const ShardMap& ShardedIndex::map() const { return state_->map; }
const Shard& ShardedIndex::shard(std::uint32_t number) const { return state_->shards.at(number); }

std::uint64_t ShardedIndex::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Shard& shard : state_->shards) bytes += shard.memory_bytes();
  return bytes;
}

std::string ShardedIndex::explain() const {
  std::string text = fmt::format("{} shards, cut at medians, {} points", state_->shards.size(), state_->map.points());
  for (std::size_t s = 0; s < state_->shards.size(); ++s) {
    const Index& index = state_->shards[s].index();
    text += fmt::format("\nshard {}: {} points, {} on {}, {} bytes", s, index.size(), name_of(index.engine()),
                        index.device().name(), state_->shards[s].memory_bytes());
  }
  if (skipped() > 0) text += fmt::format("\nleft out: {} of {} points hold NaN or infinity", skipped(), size());
  return text;
}

}  // namespace kith::shards::inline v0
