// The facade for callers whose arrays lie on the GPU: checks what can be checked without waiting, and calls the
// searcher.
#include <kith/device_search.hpp>

#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "engine/device_searcher.hpp"
#include "engine/index_state.hpp"
#include "engine/knn_rules.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <variant>

namespace kith::inline v0 {
namespace {

using engine::DeviceRun;
using engine::DeviceSearcher;
using engine::SearchKind;

template <typename T>
const DeviceSearcher<T>& device_searcher(const IndexState& state) {
  return *searcher_of<T>(state).on_device();
}

DeviceRun run_of(const IndexState& state, const DeviceSearchOptions& options) {
  return {options.stream, options.squared, state.preparation.map()};
}

/// The arrays of one call: where each must lie.
template <typename T>
class Arrays {
 public:
  explicit Arrays(const IndexState& state) : searcher_(device_searcher<T>(state)) {}

  /// Null is refused, unless the array has no entries.
  Arrays& require(const void* memory, std::uint64_t entries, std::string_view what) {
    if (entries == 0) return *this;
    if (memory == nullptr) throw UsageError(fmt::format("{}: the pointer is null", what));
    searcher_.require_here(memory, what);
    return *this;
  }
  /// Null is fine.
  Arrays& allow(const void* memory, std::string_view what) { return require(memory, memory == nullptr ? 0 : 1, what); }

 private:
  const DeviceSearcher<T>& searcher_;
};

/// Throws UsageError unless the view is on the index's GPU, with rows that lie forwards.
void require_view_here(const IndexState& state, PointView view, std::string_view what) {
  if (view.empty()) return;
  if (view.device() != state.device) {
    throw UsageError(fmt::format("{}: the array is said to be on {}, but the index is on {}", what,
                                 view.device().name(), state.device.name()));
  }
  if (view.row_stride() < static_cast<std::int64_t>(view.dims())) {
    throw UsageError(fmt::format("{}: rows that overlap or lie backwards are for the searches of the host", what));
  }
}

/// The options in the words of the host's searches, for the same checks. Spans have the right lengths: no one reads
/// them.
SearchOptions options_of_host(const DeviceSearchOptions& options, std::uint64_t queries) {
  SearchOptions same;
  same.squared = options.squared;
  same.exclude_self = options.exclude_self;
  same.earlier_only = options.earlier_only;
  same.max_distance = options.max_distance;
  same.eps = options.eps;
  same.max_leaves = options.max_leaves;
  if (options.index_below != nullptr) same.index_below = {options.index_below, queries};
  return same;
}

void require_options(const IndexState& state, SearchKind kind, bool is_self, std::uint64_t queries,
                     const DeviceSearchOptions& options) {
  engine::require_search_options(
      options_of_host(options, queries),
      {.metric = state.metric, .kind = kind, .is_self = is_self, .points = state.rows, .queries = queries});
  if (is_self && options.index_below != nullptr) {  // also of no points
    throw UsageError("index_below is for queries of their own; use earlier_only where the points are the queries");
  }
}

engine::PointFilter filter_of(const DeviceSearchOptions& options) {
  return {options.exclude_self, options.earlier_only, options.index_below, options.allowed};
}

/// The queries of a call, checked; `queries` is null in a self-search.
template <typename T>
engine::QueryBatch<T> checked_batch(const IndexState& state, const PointView* queries, SearchKind kind,
                                    const DeviceSearchOptions& options) {
  engine::QueryBatch<T> batch;
  batch.count = queries == nullptr ? state.clean : queries->rows();
  batch.filter = filter_of(options);
  if (queries != nullptr) {
    engine::require_queries_view(*queries, state.callers_dims(), state.dtype);
    require_view_here(state, *queries, "queries");
  }
  require_options(state, kind, queries == nullptr, batch.count, options);
  Arrays<T> arrays(state);
  arrays.allow(options.allowed, "allowed").allow(options.index_below, "index_below");
  if (queries == nullptr) return batch;
  arrays.require(queries->data(), batch.count, "queries");
  static constexpr T kNothing{};  // no rows are no self-search
  batch.rows = queries->empty() ? &kNothing : queries->row<T>(0);
  batch.row_stride = queries->row_stride();
  return batch;
}

template <typename T>
void require_type(const IndexState& state) {
  if (dtype_of<T> == state.dtype) return;
  throw UsageError(
      fmt::format("distances: an array of {}, but the points are {}; distances have the type of the points",
                  name_of(dtype_of<T>), name_of(state.dtype)));
}

template <typename T, typename Number>
void search_knn(const IndexState& state, const PointView* queries, std::uint32_t k, Number* indices, T* distances,
                const DeviceSearchOptions& options, std::uint8_t* exact) {
  require_type<T>(state);
  const engine::QueryBatch<T> batch = checked_batch<T>(state, queries, SearchKind::knn, options);
  const std::uint64_t entries = batch.count == 0 ? 0 : k;
  Arrays<T>(state).require(indices, entries, "indices").require(distances, entries, "distances").allow(exact, "exact");
  engine::DeviceNeighbors<T> rows{.distances = distances, .exact = exact};
  if constexpr (sizeof(Number) == sizeof(std::int64_t)) {
    rows.wide = indices;
  } else {
    rows.indices = indices;
  }
  device_searcher<T>(state).knn(batch, k, engine::knn_rules<T>(state.metric, options_of_host(options, batch.count)),
                                run_of(state, options), rows);
}

template <typename T>
engine::DeviceReach<T> checked_reach(const IndexState& state, const DeviceRadii& radii, std::uint64_t queries) {
  engine::require_radius(radii.all());
  if (radii.each()) Arrays<T>(state).require(*radii.each(), queries, "radii");
  return {core::reduced_bound_of_radius<T>(state.metric, radii.all()), radii.each().value_or(nullptr)};
}

void search_count(const IndexState& state, const PointView* queries, const DeviceRadii& radii, std::uint32_t* counts,
                  const DeviceSearchOptions& options) {
  core::visit_dtype(state.dtype, [&](auto zero) {
    using T = decltype(zero);
    const engine::QueryBatch<T> batch = checked_batch<T>(state, queries, SearchKind::radius, options);
    Arrays<T>(state).require(counts, batch.count, "counts");
    device_searcher<T>(state).count(batch, checked_reach<T>(state, radii, batch.count), run_of(state, options), counts);
  });
}

template <typename T>
void search_radius(const IndexState& state, const PointView* queries, const DeviceRadii& radii,
                   const std::uint64_t* offsets, std::uint32_t* indices, T* distances,
                   const DeviceSearchOptions& options) {
  require_type<T>(state);
  const engine::QueryBatch<T> batch = checked_batch<T>(state, queries, SearchKind::radius, options);
  // Lists that are all empty need no room.
  Arrays<T>(state).require(offsets, batch.count, "offsets").allow(indices, "indices").allow(distances, "distances");
  device_searcher<T>(state).radius(batch, checked_reach<T>(state, radii, batch.count), run_of(state, options), offsets,
                                   indices, distances);
}

/// Calls search(searcher, boxes, arrays) with what was checked.
template <typename Search>
void search_boxes(const IndexState& state, PointView lower, PointView upper, const DeviceSearchOptions& options,
                  Search&& search) {
  engine::require_box_views(lower, upper, state.dims, state.dtype);
  engine::require_boxes_possible(state.metric, state.preparation.is_plain(), !state.period.empty());
  require_options(state, SearchKind::box, false, lower.rows(), options);
  for (const auto& [view, what] : {std::pair(lower, "lower corners"), std::pair(upper, "upper corners")}) {
    require_view_here(state, view, what);
    if (!view.empty() && view.row_stride() != static_cast<std::int64_t>(view.dims())) {
      throw UsageError(fmt::format("{}: the rows must lie side by side", what));
    }
  }
  core::visit_dtype(state.dtype, [&](auto zero) {
    using T = decltype(zero);
    Arrays<T> arrays(state);
    arrays.require(lower.data(), lower.rows(), "lower corners")
        .require(upper.data(), upper.rows(), "upper corners")
        .allow(options.allowed, "allowed")
        .allow(options.index_below, "index_below");
    const engine::BoxBatch<T> boxes{.lower = lower.row<T>(0),
                                    .upper = upper.row<T>(0),
                                    .lower_stride = lower.row_stride(),
                                    .upper_stride = upper.row_stride(),
                                    .count = lower.rows(),
                                    .filter = filter_of(options)};
    search(device_searcher<T>(state), boxes, arrays);
  });
}

}  // namespace

DeviceSearch::DeviceSearch(Index index) : index_(std::move(index)) {
  const bool is_there = std::visit([](const auto& s) { return s->on_device() != nullptr; }, index_.state_->searcher);
  if (!is_there) {
    throw UsageError(
        fmt::format("the index is on {}; arrays on a GPU are searched by an index that was built or "
                    "loaded there (Device::cuda)",
                    index_.device().name()));
  }
  if (index_.skipped() > 0) {
    throw UsageError(fmt::format("the index left out {} of {} points; arrays on a GPU are for an index of all points",
                                 index_.skipped(), index_.size()));
  }
}

void DeviceSearch::knn(PointView queries, std::uint32_t k, DeviceNumbers indices, DeviceDistances distances,
                       const DeviceSearchOptions& options, std::uint8_t* exact) const {
  std::visit([&](auto* numbers, auto* out) { search_knn(*index_.state_, &queries, k, numbers, out, options, exact); },
             indices, distances);
}
void DeviceSearch::knn_self(std::uint32_t k, DeviceNumbers indices, DeviceDistances distances,
                            const DeviceSearchOptions& options, std::uint8_t* exact) const {
  std::visit([&](auto* numbers, auto* out) { search_knn(*index_.state_, nullptr, k, numbers, out, options, exact); },
             indices, distances);
}

void DeviceSearch::count(PointView queries, DeviceRadii radii, std::uint32_t* counts,
                         const DeviceSearchOptions& options) const {
  search_count(*index_.state_, &queries, radii, counts, options);
}
void DeviceSearch::count_self(DeviceRadii radii, std::uint32_t* counts, const DeviceSearchOptions& options) const {
  search_count(*index_.state_, nullptr, radii, counts, options);
}

void DeviceSearch::offsets(const std::uint32_t* counts, std::uint64_t lists, std::uint64_t* offsets,
                           const DeviceSearchOptions& options) const {
  core::visit_dtype(index_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Arrays<T>(*index_.state_).require(counts, lists, "counts").require(offsets, lists + 1, "offsets");
    device_searcher<T>(*index_.state_).offsets(counts, lists, run_of(*index_.state_, options), offsets);
  });
}

void DeviceSearch::widen(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide,
                         const DeviceSearchOptions& options) const {
  core::visit_dtype(index_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Arrays<T>(*index_.state_).require(numbers, count, "numbers").require(wide, count, "wide numbers");
    device_searcher<T>(*index_.state_).widen(numbers, count, run_of(*index_.state_, options), wide);
  });
}

void DeviceSearch::pack(const std::uint8_t* flags, std::uint64_t count, std::uint64_t* words,
                        const DeviceSearchOptions& options) const {
  core::visit_dtype(index_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Arrays<T>(*index_.state_).require(flags, count, "flags").require(words, count, "words");
    device_searcher<T>(*index_.state_).pack(flags, count, run_of(*index_.state_, options), words);
  });
}

void DeviceSearch::radius(PointView queries, DeviceRadii radii, const std::uint64_t* offsets, std::uint32_t* indices,
                          DeviceDistances distances, const DeviceSearchOptions& options) const {
  std::visit([&](auto* out) { search_radius(*index_.state_, &queries, radii, offsets, indices, out, options); },
             distances);
}
void DeviceSearch::radius_self(DeviceRadii radii, const std::uint64_t* offsets, std::uint32_t* indices,
                               DeviceDistances distances, const DeviceSearchOptions& options) const {
  std::visit([&](auto* out) { search_radius(*index_.state_, nullptr, radii, offsets, indices, out, options); },
             distances);
}

void DeviceSearch::box_count(PointView lower, PointView upper, std::uint32_t* counts,
                             const DeviceSearchOptions& options) const {
  search_boxes(*index_.state_, lower, upper, options, [&](const auto& searcher, const auto& boxes, auto& arrays) {
    arrays.require(counts, boxes.count, "counts");
    searcher.box_count(boxes, run_of(*index_.state_, options), counts);
  });
}
void DeviceSearch::box(PointView lower, PointView upper, const std::uint64_t* offsets, std::uint32_t* indices,
                       const DeviceSearchOptions& options) const {
  search_boxes(*index_.state_, lower, upper, options, [&](const auto& searcher, const auto& boxes, auto& arrays) {
    arrays.require(offsets, boxes.count, "offsets").allow(indices, "indices");
    searcher.box(boxes, run_of(*index_.state_, options), offsets, indices);
  });
}

}  // namespace kith::inline v0
