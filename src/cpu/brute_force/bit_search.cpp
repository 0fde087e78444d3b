// Rows of bits searched on the CPU: every query is compared with every row. This file says how scans are cut, and how
// the results of several ranges of rows become one.
#include "cpu/engines.hpp"

#include "core/order/candidate.hpp"
#include "cpu/brute_force/bit_scan.hpp"
#include "cpu/brute_force/scan_collectors.hpp"
#include "cpu/brute_force/scan_plan.hpp"
#include "cpu/instruction_set.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::cpu {
namespace {

using core::Candidate;
using engine::BitQueries;
using engine::RunOptions;
using Nearest = std::vector<Candidate<float>>;

class BitSearch final : public engine::BitSearcher {
 public:
  explicit BitSearch(const engine::BitBuildRequest& request)
      : count_(request.rows.count),
        words_(request.rows.words_per_row),
        panels_((count_ + kBitPanel - 1) / kBitPanel),
        memory_(panels_ * words_ * kBitPanel * sizeof(std::uint64_t)),
        values_(memory_.as<std::uint64_t>().data()) {
    constexpr std::uint64_t kPanelsPerBlock = 1024;
    runtime::parallel_for(
        (panels_ + kPanelsPerBlock - 1) / kPanelsPerBlock, {.threads = request.run.threads}, [&](std::uint64_t block) {
          const std::uint64_t end = std::min(panels_, (block + 1) * kPanelsPerBlock);
          for (std::uint64_t panel = block * kPanelsPerBlock; panel < end; ++panel) {
            for (std::uint32_t i = 0; i < kBitPanel; ++i) {
              const std::uint64_t row = std::min(panel * kBitPanel + i, count_ - 1);  // behind the last it comes again
              for (std::uint32_t w = 0; w < words_; ++w) values_[place(panel, w, i)] = request.rows.row(row)[w];
            }
          }
        });
  }

  void knn(const BitQueries& queries, std::uint32_t k, const engine::KnnRules<float>& rules, const RunOptions& run,
           std::uint32_t* indices, float* distances, std::uint8_t* exact) const override {
    if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});
    const auto kept = static_cast<std::uint32_t>(std::min<std::uint64_t>(k, count_));
    nearest_of(queries, kept, rules.bound, run, [&](std::uint64_t query, std::span<const Candidate<float>> nearest) {
      std::uint32_t* row_indices = indices + query * k;
      float* row_distances = distances + query * k;
      for (std::size_t j = 0; j < nearest.size(); ++j) {
        row_indices[j] = nearest[j].index;
        row_distances[j] = nearest[j].distance;
      }
      std::fill(row_indices + nearest.size(), row_indices + k, static_cast<std::uint32_t>(count_));
      std::fill(row_distances + nearest.size(), row_distances + k, std::numeric_limits<float>::infinity());
    });
  }

  engine::ReducedLists<float> radius(const BitQueries& queries, float bound, std::uint32_t most,
                                     const RunOptions& run) const override {
    std::vector<Nearest> found(queries.count);
    if (most > 0 && most < count_) {
      nearest_of(queries, most, bound, run, [&](std::uint64_t query, std::span<const Candidate<float>> nearest) {
        found[query].assign(nearest.begin(), nearest.end());
      });
    } else {
      list_all(queries, bound, run, found);
    }
    engine::ReducedLists<float> lists;
    lists.offsets.resize(found.size() + 1, 0);
    for (std::uint64_t q = 0; q < found.size(); ++q) lists.offsets[q + 1] = lists.offsets[q] + found[q].size();
    lists.indices.resize(lists.offsets.back());
    lists.reduced.resize(lists.offsets.back());
    for (std::uint64_t q = 0; q < found.size(); ++q) {
      for (std::size_t i = 0; i < found[q].size(); ++i) {
        lists.indices[lists.offsets[q] + i] = found[q][i].index;
        lists.reduced[lists.offsets[q] + i] = found[q][i].distance;
      }
      found[q] = {};  // what was copied is given back at once
    }
    return lists;
  }

  void count(const BitQueries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const override {
    const ScanPlan plan = this->plan(queries, sizeof(std::uint32_t), run);
    std::vector<std::uint32_t> partial(plan.queries * plan.ranges);
    for_each_task(plan, run, [&](std::uint64_t task, runtime::Worker& worker) {
      const std::uint64_t first = plan.first_query(task / plan.ranges);
      const std::uint32_t size = plan.block_size(task / plan.ranges);
      ScanCount<float> collector{{}, {bound, queries.bounds}, std::vector<std::uint32_t>(size, 0)};
      scan_task(plan, task, queries, bound, collector, worker);
      for (std::uint32_t i = 0; i < size; ++i) {
        partial[(first + i) * plan.ranges + task % plan.ranges] = collector.counts[i];
      }
    });
    for (std::uint64_t query = 0; query < plan.queries; ++query) {
      counts[query] = 0;
      for (std::uint64_t range = 0; range < plan.ranges; ++range) counts[query] += partial[query * plan.ranges + range];
    }
  }

  void copy_rows(std::uint64_t* words, const RunOptions& run) const override {
    constexpr std::uint64_t kRowsPerTask = 8192;
    runtime::parallel_for(
        (count_ + kRowsPerTask - 1) / kRowsPerTask, {.threads = run.threads}, [&](std::uint64_t task) {
          const std::uint64_t end = std::min(count_, (task + 1) * kRowsPerTask);
          for (std::uint64_t i = task * kRowsPerTask; i < end; ++i) {
            for (std::uint32_t w = 0; w < words_; ++w) {
              words[i * words_ + w] = values_[place(i / kBitPanel, w, static_cast<std::uint32_t>(i % kBitPanel))];
            }
          }
        });
  }
  void save(engine::IndexFileWriter&, const RunOptions&) const override {}  // the rows are all there is
  std::uint64_t memory_bytes() const override { return memory_.bytes(); }
  std::uint64_t search_bytes(const engine::SearchShape& shape, int threads) const override {
    const std::uint64_t kept = std::min<std::uint64_t>(shape.k, count_) * sizeof(Candidate<float>);
    const ScanPlan plan = plan_scan(shape.queries, panels_, words_, sizeof(std::uint64_t), 2 * kept, threads);
    const auto workers = std::min(plan.tasks(), static_cast<std::uint64_t>(runtime::resolve_threads(threads)));
    return (plan.ranges > 1 ? plan.queries * plan.ranges * (kept + sizeof(Nearest)) : 0) +
           workers * plan.queries_per_block * (2 * kept + words_ * sizeof(std::uint64_t) + 64);
  }
  std::string describe() const override {
    return fmt::format("bits: {} rows of {} words in panels of {} ({}), {} bytes", count_, words_, kBitPanel,
                       instruction_set(), memory_bytes());
  }

 private:
  std::uint64_t place(std::uint64_t panel, std::uint32_t word, std::uint32_t i) const {
    return (panel * words_ + word) * kBitPanel + i;
  }
  ScanPlan plan(const BitQueries& queries, std::uint64_t bytes_per_query, const RunOptions& run) const {
    return plan_scan(queries.count, panels_, words_, sizeof(std::uint64_t), bytes_per_query, run.threads);
  }
  template <typename Task>
  static void for_each_task(const ScanPlan& plan, const RunOptions& run, const Task& task) {
    runtime::parallel_for_workers(plan.tasks(),
                                  {.threads = run.threads,
                                   .stage = "searching",
                                   .progress = run.progress,
                                   .units_per_task = plan.queries_per_block,
                                   .total_units = plan.queries * plan.ranges,
                                   .nanoseconds_per_task = plan.nanoseconds_per_task},
                                  task);
  }

  /// The queries of a block in groups, [group][word][kGroup]; places without a query repeat the last one.
  std::vector<std::uint64_t> packed(const BitQueries& queries, std::uint64_t first, std::uint32_t count) const {
    const std::uint32_t groups = (count + kGroup - 1) / kGroup;
    std::vector<std::uint64_t> values(std::size_t{groups} * words_ * kGroup);
    for (std::uint32_t i = 0; i < groups * kGroup; ++i) {
      const std::uint64_t query = first + std::min(i, count - 1);
      std::uint64_t* to = values.data() + std::size_t{i / kGroup} * words_ * kGroup + i % kGroup;
      for (std::uint32_t w = 0; w < words_; ++w) {
        to[std::size_t{w} * kGroup] =
            queries.is_self() ? values_[place(query / kBitPanel, w, static_cast<std::uint32_t>(query % kBitPanel))]
                              : queries.rows.row(query)[w];
      }
    }
    return values;
  }

  /// Scans one task of a plan into a collector.
  template <typename Collector>
  void scan_task(const ScanPlan& plan, std::uint64_t task, const BitQueries& queries, float bound, Collector& collector,
                 runtime::Worker& worker) const {
    const std::uint64_t first = plan.first_query(task / plan.ranges), range = task % plan.ranges;
    const std::uint32_t size = plan.block_size(task / plan.ranges);
    collector.scope = {count_, first, queries.filter};
    const std::vector<std::uint64_t> values = packed(queries, first, size);
    BitScan scan{.panels = values_,
                 .words = words_,
                 .queries = values.data(),
                 .groups = (size + kGroup - 1) / kGroup,
                 .on_hit = &Collector::on_hit,
                 .context = &collector};
    std::vector<float> bounds(std::size_t{scan.groups} * kGroup, -1.0f);  // places without a query find nothing
    for (std::uint32_t i = 0; i < size; ++i) bounds[i] = queries.reach(bound).of(first + i);
    scan.bounds = bounds.data();
    std::uint64_t last_row = 0;  // no query of the block may find one past it
    for (std::uint32_t i = 0; i < size; ++i) {
      last_row = std::max<std::uint64_t>(last_row, queries.filter.end(first + i));
    }
    // In steps of a fraction of a millisecond, so that a stop is noticed.
    constexpr std::uint64_t kWordsPerStep = 1 << 20;
    const std::uint64_t per_panel = std::uint64_t{scan.groups} * kGroup * kBitPanel * words_;
    const std::uint64_t step = std::max<std::uint64_t>(1, kWordsPerStep / per_panel);
    const std::uint64_t begin = plan.first_panel(range);
    const std::uint64_t end = std::min(plan.first_panel(range + 1), (last_row + kBitPanel - 1) / kBitPanel);
    for (std::uint64_t panel = begin; panel < end; panel += scan.panel_count) {
      scan.first_panel = panel;
      scan.panel_count = std::min(step, end - panel);
      scan_bits(scan);
      worker.checkpoint(static_cast<double>(panel + scan.panel_count - begin) / static_cast<double>(end - begin));
    }
  }

  /// Calls write(query, the nearest `kept` in order), from several threads.
  template <typename Write>
  void nearest_of(const BitQueries& queries, std::uint32_t kept, float bound, const RunOptions& run,
                  const Write& write) const {
    const ScanPlan plan = this->plan(queries, 2 * sizeof(Candidate<float>) * std::uint64_t{kept}, run);
    std::vector<Nearest> partial(plan.ranges > 1 ? plan.queries * plan.ranges : 0);  // [query][range]
    for_each_task(plan, run, [&](std::uint64_t task, runtime::Worker& worker) {
      const std::uint64_t first = plan.first_query(task / plan.ranges);
      const std::uint32_t size = plan.block_size(task / plan.ranges);
      ScanNearest<float> collector;
      collector.keepers.reserve(size);
      for (std::uint32_t i = 0; i < size; ++i)
        collector.keepers.emplace_back(kept, count_, queries.reach(bound).of(first + i));
      scan_task(plan, task, queries, bound, collector, worker);
      for (std::uint32_t i = 0; i < size; ++i) {
        const std::span<const Candidate<float>> nearest = collector.keepers[i].finish();
        if (plan.ranges == 1) {
          write(first + i, nearest);
        } else {
          partial[(first + i) * plan.ranges + task % plan.ranges].assign(nearest.begin(), nearest.end());
        }
      }
    });
    if (plan.ranges == 1) return;
    runtime::parallel_for(plan.queries, {.threads = run.threads}, [&](std::uint64_t query) {
      Nearest& all = partial[query * plan.ranges];
      for (std::uint64_t range = 1; range < plan.ranges; ++range) merge(all, partial[query * plan.ranges + range]);
      write(query, std::span<const Candidate<float>>(all).first(std::min<std::size_t>(all.size(), kept)));
    });
  }

  /// Everything within the bound, in order.
  void list_all(const BitQueries& queries, float bound, const RunOptions& run, std::vector<Nearest>& found) const {
    const ScanPlan plan = this->plan(queries, 1024, run);
    std::vector<std::vector<Nearest>> partial(plan.tasks());  // [task][query of its block]
    for_each_task(plan, run, [&](std::uint64_t task, runtime::Worker& worker) {
      ScanList<float> collector{{}, {bound, queries.bounds}, std::vector<Nearest>(plan.block_size(task / plan.ranges))};
      scan_task(plan, task, queries, bound, collector, worker);
      partial[task] = std::move(collector.lists);
      for (Nearest& list : partial[task]) std::sort(list.begin(), list.end());
    });
    runtime::parallel_for(plan.blocks, {.threads = run.threads}, [&](std::uint64_t block) {
      for (std::uint32_t i = 0; i < plan.block_size(block); ++i) {
        Nearest& all = found[plan.first_query(block) + i];
        all = std::move(partial[block * plan.ranges][i]);
        for (std::uint64_t range = 1; range < plan.ranges; ++range) merge(all, partial[block * plan.ranges + range][i]);
      }
    });
  }

  /// Both are in order.
  static void merge(Nearest& all, Nearest& more) {
    const auto middle = all.insert(all.end(), more.begin(), more.end());
    std::inplace_merge(all.begin(), middle, all.end());
    more = {};
  }

  std::uint64_t count_;
  std::uint32_t words_;
  std::uint64_t panels_;
  runtime::LargeBuffer memory_;  ///< [panel][word][kBitPanel]
  std::uint64_t* values_;
};

}  // namespace

std::unique_ptr<engine::BitSearcher> build_bit_search(const engine::BitBuildRequest& request) {
  return std::make_unique<BitSearch>(request);
}

}  // namespace kith::cpu
