// Brute force on the CPU: every query against every point, exact, any dims, any k. This file says how scans are cut,
// and how partial results of several ranges become one.
#include "cpu/engines.hpp"

#include "core/order/candidate.hpp"
#include "cpu/brute_force/box_scan.hpp"
#include "cpu/brute_force/packed_points.hpp"
#include "cpu/brute_force/row_section.hpp"
#include "cpu/brute_force/scan.hpp"
#include "cpu/brute_force/scan_collectors.hpp"
#include "cpu/brute_force/scan_plan.hpp"
#include "cpu/instruction_set.hpp"
#include "cpu/nearest_keeper.hpp"
#include "engine/validate.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
class BruteForce final : public engine::Searcher<T> {
 public:
  explicit BruteForce(const engine::BuildRequest<T>& request)
      : metric_(request.metric),
        lengths_(request.period),
        points_(request.rows, request.count, request.dims, request.metric, !lengths_.empty(), request.run.threads) {}

  void knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
           std::uint32_t* indices, T* reduced, std::uint8_t* exact) const override;
  ReducedLists<T> radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                         const RunOptions& run) const override;
  void count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const override;

  engine::IndexLists box(const engine::BoxBatch<T>& boxes, const RunOptions& run) const override {
    return scan_boxes(points_, boxes, run);
  }
  void box_count(const engine::BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const override {
    count_in_boxes(points_, boxes, run, counts);
  }
  void copy_rows(T* rows, int threads) const override { points_.unpack_all(rows, threads); }
  void save(engine::IndexFileWriter& writer, const RunOptions& run) const override {
    save_rows(points_, writer, run.threads);
  }

  std::uint64_t memory_bytes() const override { return points_.memory_bytes(); }
  std::uint64_t search_bytes(const engine::SearchShape& shape, int threads) const override;
  std::string describe() const override {
    return fmt::format("brute force: {} points of {} dims in panels of {} ({}){}, {} bytes", points_.count(),
                       points_.dims(), points_.width(), instruction_set(),
                       points_.has_filter() ? ", product filter with exact re-check"
                       : lengths_.empty()   ? ""
                                            : ", periodic axes",
                       memory_bytes());
  }
  std::string explain(const engine::SearchShape&) const override {
    const char* reason = why_no_filter(metric_, !lengths_.empty());
    if (reason == nullptr) return "products filter all pairs, and what passes is measured exactly";
    return fmt::format("all pairs are measured; no filter by products: {}", reason);
  }

 private:
  /// What every scan of these points has in common.
  Scan<T> scan_of_points() const {
    Scan<T> scan;
    scan.metric = metric_;
    scan.dims = points_.dims();
    scan.lengths = lengths_.empty() ? nullptr : lengths_.data();
    scan.panels = points_.panel_values();
    return scan;
  }
  /// The panels that hold points below `end`.
  std::uint64_t panels_below(std::uint64_t end) const {
    return std::min(points_.panels(), (end + points_.width() - 1) / points_.width());
  }
  /// The k nearest, with candidates of the type Kept on the way.
  template <typename Kept>
  void nearest(const QueryBatch<T>& queries, std::uint32_t k, T bound, const RunOptions& run, std::uint32_t* indices,
               T* reduced) const;
  /// The nearest of a single query, on this thread and without allocating memory.
  template <typename Kept>
  void nearest_of_one(const QueryBatch<T>& queries, std::uint32_t k, T bound, std::uint32_t* indices, T* reduced) const;
  /// Scans one task of a plan into a collector.
  template <typename Collector>
  void scan_task(const ScanPlan& plan, std::uint64_t task, const QueryBatch<T>& queries, engine::Reach<T> reach,
                 Collector& collector, PackedQueries<T>& packed, runtime::Worker& worker) const;
  ScanPlan plan(const QueryBatch<T>& queries, std::uint64_t bytes_per_query, const RunOptions& run) const {
    const std::size_t value_bytes = points_.has_filter() ? sizeof(float) : sizeof(T);  // of what is read all the time
    return plan_scan(queries.count, points_.panels(), points_.dims(), value_bytes, bytes_per_query, run.threads);
  }
  static runtime::ParallelOptions parallel_options(const ScanPlan& plan, const RunOptions& run) {
    return {.threads = run.threads,
            .stage = "searching",
            .progress = run.progress,
            .units_per_task = plan.queries_per_block,
            .total_units = plan.queries * plan.ranges,
            .nanoseconds_per_task = plan.nanoseconds_per_task};
  }

  Metric metric_;
  std::vector<T> lengths_;  ///< of periodic axes; empty if none is
  PackedPoints<T> points_;
};

template <typename T>
template <typename Collector>
void BruteForce<T>::scan_task(const ScanPlan& plan, std::uint64_t task, const QueryBatch<T>& queries,
                              engine::Reach<T> reach, Collector& collector, PackedQueries<T>& packed,
                              runtime::Worker& worker) const {
  const std::uint64_t block = task / plan.ranges;
  const std::uint64_t range = task % plan.ranges;
  collector.scope = {points_.count(), plan.first_query(block), queries.filter};
  const auto bound_of = [&](std::uint32_t i) { return reach.of(plan.first_query(block) + i); };
  packed.pack(plan.block_size(block), bound_of, [&](std::uint32_t i, T* out, std::uint32_t stride) {
    const std::uint64_t query = plan.first_query(block) + i;
    if (queries.is_self()) {
      points_.unpack(query, out, stride);
      return;
    }
    for (std::uint32_t d = 0; d < points_.dims(); ++d) out[std::size_t{d} * stride] = queries.row(query)[d];
  });

  Scan<T> scan = scan_of_points();
  scan.queries = packed.values();
  scan.groups = packed.groups();
  scan.bounds = packed.bounds();
  if (points_.has_filter()) {
    scan.point_terms = points_.terms();
    scan.centred_queries = packed.centred();
    scan.query_terms = packed.terms();
    scan.units = points_.units();
    scan.filter_bounds = packed.filter_bounds();
  }
  scan.on_hit = &Collector::on_hit;
  scan.context = &collector;

  // In steps of a fraction of a millisecond, so that a stop is noticed, and so that a filter that lets too much through
  // (as it must while lists fill, and where points lie closer than its error) rests for a while, each time twice as
  // long.
  constexpr std::uint64_t kWorkPerStep = 1 << 22;
  constexpr std::uint64_t kLongestRest = 64;
  const std::uint64_t work_per_panel = std::uint64_t{scan.groups} * kGroup * points_.width() * points_.dims();
  const std::uint64_t step = std::max<std::uint64_t>(1, kWorkPerStep / std::max<std::uint64_t>(1, work_per_panel));
  std::uint64_t last_point = 0;  // no query of the block may find one past it
  for (std::uint32_t i = 0; i < plan.block_size(block); ++i) {
    last_point = std::max<std::uint64_t>(last_point, queries.filter.end(plan.first_query(block) + i));
  }
  const std::uint64_t end = std::min(plan.first_panel(range + 1), panels_below(last_point));
  std::uint64_t rest = 0;
  std::uint64_t next_rest = 1;
  for (std::uint64_t panel = plan.first_panel(range); panel < end; panel += scan.panel_count) {
    scan.first_panel = panel;
    scan.panel_count = std::min(step, end - panel);
    const bool filters = points_.has_filter() && rest == 0;
    scan.centred_panels = filters ? points_.centred_values() : nullptr;
    const std::uint64_t passed = scan_panels(scan);
    if (!filters) {
      if (rest > 0 && --rest == 0) packed.refresh_filter_bounds();
    } else if (passed > scan.panel_count * scan.groups * kGroup / 4) {
      rest = next_rest;
      next_rest = std::min(2 * next_rest, kLongestRest);
    } else {
      next_rest = 1;
    }
    const std::uint64_t scanned = panel + scan.panel_count - plan.first_panel(range);
    worker.checkpoint(static_cast<double>(scanned) / static_cast<double>(end - plan.first_panel(range)));
  }
}

template <typename T>
template <typename Kept>
void BruteForce<T>::nearest_of_one(const QueryBatch<T>& queries, std::uint32_t k, T bound, std::uint32_t* indices,
                                   T* reduced) const {
  T values[std::size_t{engine::kMostDims} * kGroup];  // a group of one query and three that find nothing
  for (std::uint32_t d = 0; d < points_.dims(); ++d) {
    std::fill_n(values + std::size_t{d} * kGroup, kGroup, queries.row(0)[d]);
  }
  T bounds[kGroup];
  std::fill_n(bounds, kGroup, std::numeric_limits<T>::quiet_NaN());  // even minus infinity is not within
  bounds[0] = bound;
  ScanNearestRow<T, Kept> collector{{points_.count(), 0, queries.filter},
                                    NearestRow<T, Kept>(k, bound, indices, reduced)};
  Scan<T> scan = scan_of_points();
  scan.panel_count = panels_below(queries.filter.end(0));
  scan.queries = values;
  scan.groups = 1;
  scan.bounds = bounds;
  scan.on_hit = &ScanNearestRow<T, Kept>::on_hit;
  scan.context = &collector;
  scan_panels(scan);
  collector.row.finish(static_cast<std::uint32_t>(points_.count()));
}

template <typename T>
void BruteForce<T>::knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
                        std::uint32_t* indices, T* reduced, std::uint8_t* exact) const {
  if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});  // looking at everything is always exact
  if (!metric_.info().has_distances) {                                       // negative numbers, too
    nearest<core::SignedCandidate<T>>(queries, k, rules.bound, run, indices, reduced);
  } else {
    nearest<Candidate<T>>(queries, k, rules.bound, run, indices, reduced);
  }
}

template <typename T>
template <typename Kept>
void BruteForce<T>::nearest(const QueryBatch<T>& queries, std::uint32_t k, T bound, const RunOptions& run,
                            std::uint32_t* indices, T* reduced) const {
  if (queries.count == 1 && !queries.is_self() && run.threads == 1 && run.progress == nullptr) {
    nearest_of_one<Kept>(queries, k, bound, indices, reduced);
    return;
  }
  const auto kept = static_cast<std::uint32_t>(std::min<std::uint64_t>(k, points_.count()));
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const auto write_row = [&](std::uint64_t query, std::span<const Kept> found) {
    std::uint32_t* row_indices = indices + query * k;
    T* row_reduced = reduced + query * k;
    for (std::size_t j = 0; j < found.size(); ++j) {
      row_indices[j] = found[j].index;
      row_reduced[j] = found[j].distance;
    }
    std::fill(row_indices + found.size(), row_indices + k, static_cast<std::uint32_t>(points_.count()));
    std::fill(row_reduced + found.size(), row_reduced + k, kInfinity);
  };

  const ScanPlan plan = this->plan(queries, 2 * sizeof(Kept) * std::uint64_t{kept}, run);
  // With several ranges: the nearest of each (query, range), kept candidates each, short lists ended by infinity.
  const Kept nothing{kInfinity, std::numeric_limits<std::uint32_t>::max()};
  std::vector<Kept> partial(plan.ranges > 1 ? plan.queries * plan.ranges * kept : 0, nothing);

  runtime::parallel_for_workers(
      plan.tasks(), parallel_options(plan, run), [&](std::uint64_t task, runtime::Worker& worker) {
        const std::uint64_t block = task / plan.ranges;
        ScanNearest<T, Kept> collector;
        collector.keepers.reserve(plan.block_size(block));
        for (std::uint32_t i = 0; i < plan.block_size(block); ++i) {
          collector.keepers.emplace_back(kept, points_.count(), bound);
        }
        PackedQueries<T> packed(points_, plan.block_size(block));
        scan_task(plan, task, queries, {bound}, collector, packed, worker);
        for (std::uint32_t i = 0; i < plan.block_size(block); ++i) {
          const std::span<const Kept> found = collector.keepers[i].finish();
          const std::uint64_t query = plan.first_query(block) + i;
          if (plan.ranges == 1) {
            write_row(query, found);
          } else {
            std::copy(found.begin(), found.end(),
                      partial.begin() + static_cast<std::ptrdiff_t>((query * plan.ranges + task % plan.ranges) * kept));
          }
        }
      });
  if (plan.ranges == 1) return;

  runtime::parallel_for(plan.queries, {.threads = run.threads}, [&](std::uint64_t query) {
    NearestKeeper<T, Kept> keeper(kept, plan.ranges * kept, kInfinity);
    const Kept* first = partial.data() + query * plan.ranges * kept;
    for (std::uint64_t i = 0; i < plan.ranges * kept; ++i) {
      if (first[i].index != nothing.index) keeper.offer(first[i]);
    }
    write_row(query, keeper.finish());
  });
}

template <typename T>
ReducedLists<T> BruteForce<T>::radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                                      const RunOptions& run) const {
  const bool is_capped = most > 0 && most < points_.count();
  const ScanPlan plan = this->plan(queries, is_capped ? 2 * sizeof(Candidate<T>) * std::uint64_t{most} : 1024, run);
  const engine::Reach<T> reach = queries.reach(bound);
  std::vector<std::vector<std::vector<Candidate<T>>>> found(plan.tasks());  // [task][query of its block]

  runtime::parallel_for_workers(plan.tasks(), parallel_options(plan, run),
                                [&](std::uint64_t task, runtime::Worker& worker) {
                                  const std::uint32_t size = plan.block_size(task / plan.ranges);
                                  PackedQueries<T> packed(points_, size);
                                  found[task].resize(size);
                                  if (is_capped) {
                                    ScanNearest<T> collector;
                                    collector.keepers.reserve(size);
                                    const std::uint64_t first = plan.first_query(task / plan.ranges);
                                    for (std::uint32_t i = 0; i < size; ++i)
                                      collector.keepers.emplace_back(most, points_.count(), reach.of(first + i));
                                    scan_task(plan, task, queries, reach, collector, packed, worker);
                                    for (std::uint32_t i = 0; i < size; ++i) {
                                      const auto nearest = collector.keepers[i].finish();
                                      found[task][i].assign(nearest.begin(), nearest.end());
                                    }
                                  } else {
                                    ScanList<T> collector{{}, reach, std::move(found[task])};
                                    scan_task(plan, task, queries, reach, collector, packed, worker);
                                    found[task] = std::move(collector.lists);
                                    for (auto& list : found[task]) std::sort(list.begin(), list.end());
                                  }
                                });

  const auto list_of = [&](std::uint64_t query, std::uint64_t range) -> std::vector<Candidate<T>>& {
    return found[query / plan.queries_per_block * plan.ranges + range][query % plan.queries_per_block];
  };
  ReducedLists<T> lists;
  lists.offsets.resize(plan.queries + 1, 0);
  for (std::uint64_t query = 0; query < plan.queries; ++query) {
    std::uint64_t length = 0;
    for (std::uint64_t range = 0; range < plan.ranges; ++range) length += list_of(query, range).size();
    if (is_capped) length = std::min<std::uint64_t>(length, most);
    lists.offsets[query + 1] = lists.offsets[query] + length;
  }
  lists.indices.resize(lists.offsets.back());
  lists.reduced.resize(lists.offsets.back());
  runtime::parallel_for(plan.blocks, {.threads = run.threads}, [&](std::uint64_t block) {
    const std::uint64_t end = plan.first_query(block) + plan.block_size(block);
    for (std::uint64_t query = plan.first_query(block); query < end; ++query) {
      std::vector<Candidate<T>>& list = list_of(query, 0);
      for (std::uint64_t range = 1; range < plan.ranges; ++range) {
        const std::vector<Candidate<T>>& more = list_of(query, range);
        const auto middle = list.insert(list.end(), more.begin(), more.end());
        std::inplace_merge(list.begin(), middle, list.end());
      }
      const std::uint64_t length = lists.offsets[query + 1] - lists.offsets[query];
      for (std::uint64_t i = 0; i < length; ++i) {
        lists.indices[lists.offsets[query] + i] = list[i].index;
        lists.reduced[lists.offsets[query] + i] = list[i].distance;
      }
      list = {};  // what was copied is given back at once
    }
  });
  return lists;
}

template <typename T>
void BruteForce<T>::count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const {
  const ScanPlan plan = this->plan(queries, sizeof(std::uint32_t), run);
  std::vector<std::uint32_t> partial(plan.queries * plan.ranges);
  runtime::parallel_for_workers(
      plan.tasks(), parallel_options(plan, run), [&](std::uint64_t task, runtime::Worker& worker) {
        const std::uint64_t block = task / plan.ranges;
        PackedQueries<T> packed(points_, plan.block_size(block));
        ScanCount<T> collector{{}, queries.reach(bound), std::vector<std::uint32_t>(plan.block_size(block), 0)};
        scan_task(plan, task, queries, queries.reach(bound), collector, packed, worker);
        for (std::uint32_t i = 0; i < plan.block_size(block); ++i) {
          partial[(plan.first_query(block) + i) * plan.ranges + task % plan.ranges] = collector.counts[i];
        }
      });
  for (std::uint64_t query = 0; query < plan.queries; ++query) {
    counts[query] = 0;
    for (std::uint64_t range = 0; range < plan.ranges; ++range) counts[query] += partial[query * plan.ranges + range];
  }
}

template <typename T>
engine::BuildBytes brute_force_bytes(const engine::PlanRequest& request) {
  const std::uint64_t bytes =
      PackedPoints<T>::bytes_of(request.count, request.dims, request.metric, request.is_periodic);
  return {bytes, bytes};
}

/// Lists of candidates and packed queries of a block for each thread, and what ranges found before it is merged.
template <typename T>
std::uint64_t brute_knn_bytes(const engine::PlanRequest& request, const engine::SearchShape& shape) {
  const std::uint64_t kept = std::min<std::uint64_t>(shape.k, request.count), width = panel_width();
  const bool has_filter = why_no_filter(request.metric, request.is_periodic) == nullptr;
  const ScanPlan plan =
      plan_scan(shape.queries, (request.count + width - 1) / width, request.dims,
                has_filter ? sizeof(float) : sizeof(T), 2 * sizeof(Candidate<T>) * kept, request.threads);
  const auto threads = static_cast<std::uint64_t>(runtime::resolve_threads(request.threads));
  const std::uint64_t per_query = 2 * sizeof(Candidate<T>) * kept + request.dims * (sizeof(T) + sizeof(float)) + 64;
  const std::uint64_t merged = plan.ranges > 1 ? plan.queries * plan.ranges * kept * sizeof(Candidate<T>) : 0;
  return merged + std::min(plan.tasks(), threads) * plan.queries_per_block * per_query;
}

template <typename T>
std::uint64_t BruteForce<T>::search_bytes(const engine::SearchShape& shape, int threads) const {
  return brute_knn_bytes<T>({.metric = metric_,
                             .count = points_.count(),
                             .dims = points_.dims(),
                             .is_periodic = !lengths_.empty(),
                             .threads = threads},
                            shape);
}

template <typename T>
std::unique_ptr<engine::Searcher<T>> load_brute_force(const engine::LoadRequest& request) {
  const engine::IndexFacts& facts = request.file.facts();
  return std::make_unique<BruteForce<T>>(engine::BuildRequest<T>{.engine = facts.engine,
                                                                 .metric = facts.metric,
                                                                 .rows = checked_rows<T>(request),
                                                                 .count = facts.points,
                                                                 .dims = facts.dims,
                                                                 .period = request.lengths<T>(),
                                                                 .device = request.device,
                                                                 .run = request.run});
}

}  // namespace

template <typename T>
engine::PointEngine<T> brute_force() {
  return {brute_force_bytes<T>, engine::make_searcher<BruteForce<T>, engine::BuildRequest<T>>, load_brute_force<T>,
          brute_knn_bytes<T>};
}

template engine::PointEngine<float> brute_force();
template engine::PointEngine<double> brute_force();

}  // namespace kith::cpu
