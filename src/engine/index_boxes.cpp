// The part of the facade that answers requests about boxes.
#include "core/dispatch.hpp"
#include "engine/allowed_chunks.hpp"
#include "engine/clean_filter.hpp"
#include "engine/host_view.hpp"
#include "engine/index_state.hpp"
#include "engine/total_time.hpp"
#include "engine/validate.hpp"
#include "engine/with_memory.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/index.hpp>

#include <algorithm>
#include <utility>

namespace kith::inline v0 {
namespace {

/// Boxes in host memory that are fit to be searched.
class CheckedBoxes {
 public:
  CheckedBoxes(const IndexState& state, PointView lower, PointView upper, const SearchOptions& options)
      : lower_(fitting(state, lower, upper), options.threads), upper_(upper, options.threads) {
    engine::require_boxes_possible(state.metric, state.preparation.is_plain(), !state.period.empty());
    engine::require_search_options(
        options,
        {.metric = state.metric, .kind = engine::SearchKind::box, .points = state.rows, .queries = lower.rows()});
    if (!options.skip_nonfinite) engine::require_no_nan(lower_.view(), upper_.view(), options.threads);
  }

  std::uint64_t count() const { return lower_.view().rows(); }
  template <typename T>
  engine::BoxBatch<T> batch(const engine::PointFilter& filter) const {
    const PointView lower = lower_.view(), upper = upper_.view();
    return {.lower = lower.row<T>(0),
            .upper = upper.row<T>(0),
            .lower_stride = lower.row_stride(),
            .upper_stride = upper.row_stride(),
            .count = lower.rows(),
            .filter = filter};
  }

 private:
  static PointView fitting(const IndexState& state, PointView lower, PointView upper) {
    engine::require_box_views(lower, upper, state.dims, state.dtype);
    return lower;
  }

  engine::HostView lower_, upper_;
};

engine::RunOptions run_of(const SearchOptions& options) { return {options.threads, &options.progress, options.times}; }

/// Under a limit all points are counted first, so that it is known what the lists take.
template <typename T>
engine::IndexLists lists_of(const IndexState& state, const engine::BoxBatch<T>& boxes, const SearchOptions& options) {
  const engine::Searcher<T>& searcher = searcher_of<T>(state);
  if (engine::allowed_on_host(state.device) == runtime::kNoLimit) return searcher.box(boxes, run_of(options));
  std::vector<std::uint32_t> counts(boxes.count);
  searcher.box_count(boxes, run_of(options), counts.data());
  engine::IndexLists all{engine::offsets_of(counts, 0), {}};
  // The lists, and those of a chunk: joined, and in arrays of tasks that grow by doubling.
  const std::uint64_t fixed = searcher.memory_bytes() + all.offsets.back() * 4 + boxes.count * 12;
  engine::for_allowed_chunks(
      all.offsets, [&](std::uint64_t found, std::uint64_t some) { return fixed + 12 * found + 8 * some; },
      [&](std::uint64_t first, std::uint64_t end) {
        if (first == 0) all.indices.reserve(all.offsets.back());
        const engine::IndexLists some = searcher.box(boxes.chunk(first, end - first), run_of(options));
        all.indices.insert(all.indices.end(), some.indices.begin(), some.indices.end());
      });
  return all;
}

}  // namespace

PointLists Index::box(PointView lower, PointView upper, const SearchOptions& options) const {
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "searching");
  const IndexState& state = *state_;
  const CheckedBoxes boxes(state, lower, upper, options);
  return engine::with_memory(boxes.count() * 8, "the result, and more with each point,", [&] {
    const engine::CleanFilter filter = engine::make_clean_filter(state, options, {});
    engine::IndexLists lists{{0}, {}};
    if (boxes.count() != 0) {
      lists = core::visit_dtype(state.dtype, [&](auto zero) {
        using T = decltype(zero);
        return lists_of<T>(state, boxes.batch<T>(filter.filter), options);
      });
    }
    if (state.left_out_rows()) {
      constexpr std::uint64_t kBlock = 1 << 18;
      const std::uint64_t count = lists.indices.size();
      runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = options.threads}, [&](std::uint64_t block) {
        const std::uint64_t end = std::min(count, (block + 1) * kBlock);
        for (std::uint64_t i = block * kBlock; i < end; ++i) lists.indices[i] = state.original_index(lists.indices[i]);
      });
    }
    return PointLists(static_cast<std::uint32_t>(state.rows), std::move(lists.offsets), std::move(lists.indices));
  });
}

std::vector<std::uint32_t> Index::box_count(PointView lower, PointView upper, const SearchOptions& options) const {
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "searching");
  const IndexState& state = *state_;
  const CheckedBoxes boxes(state, lower, upper, options);
  return engine::with_memory(boxes.count() * 4, "the result", [&] {
    const engine::CleanFilter filter = engine::make_clean_filter(state, options, {});
    std::vector<std::uint32_t> counts(boxes.count(), 0);
    if (counts.empty()) return counts;
    core::visit_dtype(state.dtype, [&](auto zero) {
      using T = decltype(zero);
      if (state.device == Device::cpu()) {
        runtime::require_allowed(searcher_of<T>(state).memory_bytes() + boxes.count() * 4, "the search");
      }
      searcher_of<T>(state).box_count(boxes.batch<T>(filter.filter), run_of(options), counts.data());
    });
    return counts;
  });
}

}  // namespace kith::inline v0
