// The facade for callers whose arrays lie on the GPU: checks what can be checked without waiting, and calls the
// searcher.
#include <kith/device_search.hpp>

#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "engine/bit_state.hpp"
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

/// What searches need to know of an index and its queries.
template <typename View>
struct Of;

template <>
struct Of<PointView> {
  template <typename Call>
  static void visit(const IndexState& state, const Call& call) {
    core::visit_dtype(state.dtype, call);
  }
  template <typename T>
  static const DeviceSearcher<T>* searcher(const IndexState& state) {
    return searcher_of<T>(state).on_device();
  }
  static std::uint64_t left_out(const IndexState& state) { return state.rows - state.clean; }
  static engine::SearchedTree searched_tree(const IndexState& state) { return engine::searched_tree(state); }
  static engine::SearchSubject subject(const IndexState& state) { return {.metric = state.metric}; }
  static void require_queries(const IndexState& state, PointView queries) {
    engine::require_queries_view(queries, state.callers_dims(), state.dtype);
    require_view_here(state, queries, "queries");
  }
  template <typename T>
  static const T* rows(PointView queries) {
    return queries.row<T>(0);
  }
  static std::int64_t stride(PointView queries) { return queries.row_stride(); }
  template <typename T>
  static T bound(const IndexState& state, double radius) {
    return core::reduced_bound_of_radius<T>(state.metric, radius);
  }
  static DeviceRun run(const IndexState& state, const DeviceSearchOptions& options) {
    return {.stream = options.stream, .squared = options.squared, .map = state.preparation.map()};
  }
};

template <>
struct Of<BitView> {
  using State = StateOf<BitView>;

  template <typename Call>
  static void visit(const State&, const Call& call) {
    call(0.0f);
  }
  template <typename T>
  static const DeviceSearcher<T>* searcher(const State& state) {
    return state.searcher->on_device();
  }
  static std::uint64_t left_out(const State&) { return 0; }
  static engine::SearchedTree searched_tree(const State&) { return {}; }
  static engine::SearchSubject subject(const State&) { return {.metric = Metric::l1(), .name = "hamming"}; }
  static void require_queries(const State& state, BitView queries) { engine::require_bit_queries(state, queries); }
  template <typename T>
  static const T* rows(BitView queries) {
    return reinterpret_cast<const T*>(queries.data());
  }
  static std::int64_t stride(BitView queries) { return queries.row_bytes(); }
  template <typename T>
  static T bound(const State&, double radius) {
    return core::whole_bound_of_radius(radius);
  }
  static DeviceRun run(const State& state, const DeviceSearchOptions& options) {
    return {.stream = options.stream, .bits = state.bits};
  }
};

/// The arrays of one call: where each must lie.
template <typename T>
class Arrays {
 public:
  template <typename View>
  explicit Arrays(const StateOf<View>& state) : searcher_(*Of<View>::template searcher<T>(state)) {}

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

template <typename View>
void require_options(const StateOf<View>& state, SearchKind kind, bool is_self, std::uint64_t queries,
                     const DeviceSearchOptions& options) {
  engine::SearchSubject subject = Of<View>::subject(state);
  subject.kind = kind;
  subject.is_self = is_self;
  subject.points = state.rows;
  subject.queries = queries;
  engine::require_search_options(options_of_host(options, queries), subject);
  if (is_self && options.index_below != nullptr) {  // also of no points
    throw UsageError("index_below is for queries of their own; use earlier_only where the points are the queries");
  }
}

engine::PointFilter filter_of(const DeviceSearchOptions& options) {
  return {options.exclude_self, options.earlier_only, options.index_below, options.allowed};
}

/// One call: `queries` is null in a self-search.
template <typename View>
class Search {
 public:
  using State = StateOf<View>;

  Search(const State& state, const View* queries, const DeviceSearchOptions& options)
      : state_(state), queries_(queries), options_(options) {}

  void knn(std::uint32_t k, DeviceNumbers indices, DeviceDistances distances, std::uint8_t* exact) const {
    with_neighbors(indices, distances, [&]<typename T>(engine::DeviceNeighbors<T> rows, const void* numbers) {
      const engine::QueryBatch<T> batch = checked_batch<T>(SearchKind::knn);
      const std::uint64_t entries = batch.count == 0 ? 0 : k;
      Arrays<T>(state_)
          .require(numbers, entries, "indices")
          .require(rows.distances, entries, "distances")
          .allow(exact, "exact");
      rows.exact = exact;
      engine::KnnRules<T> rules = engine::knn_rules<T>(
          Of<View>::subject(state_).metric, options_of_host(options_, batch.count), Of<View>::searched_tree(state_));
      rules.bound = Of<View>::template bound<T>(state_, options_.max_distance);
      searcher<T>().knn(batch, k, rules, run(), rows);
    });
  }
  void count(const DeviceRadii& radii, std::uint32_t* counts) const {
    Of<View>::visit(state_, [&](auto zero) {
      using T = decltype(zero);
      const engine::QueryBatch<T> batch = checked_batch<T>(SearchKind::radius);
      Arrays<T>(state_).require(counts, batch.count, "counts");
      searcher<T>().count(batch, checked_reach<T>(radii, batch.count), run(), counts);
    });
  }
  void radius(const DeviceRadii& radii, const std::uint64_t* offsets, DeviceNumbers indices,
              DeviceDistances distances) const {
    with_neighbors(indices, distances, [&]<typename T>(engine::DeviceNeighbors<T> lists, const void* numbers) {
      const engine::QueryBatch<T> batch = checked_batch<T>(SearchKind::radius);
      // Lists that are all empty need no memory.
      Arrays<T>(state_)
          .require(offsets, batch.count, "offsets")
          .allow(numbers, "indices")
          .allow(lists.distances, "distances");
      searcher<T>().radius(batch, checked_reach<T>(radii, batch.count), run(), offsets, lists);
    });
  }

 private:
  template <typename T>
  const DeviceSearcher<T>& searcher() const {
    return *Of<View>::template searcher<T>(state_);
  }
  DeviceRun run() const { return Of<View>::run(state_, options_); }

  /// Calls `call` with the arrays for neighbours, and where the one with their numbers lies.
  template <typename Call>
  void with_neighbors(DeviceNumbers indices, DeviceDistances distances, const Call& call) const {
    Of<View>::visit(state_, [&](auto zero) {
      using T = decltype(zero);
      T* const* to = std::get_if<T*>(&distances);
      if (to == nullptr) {
        throw UsageError(
            fmt::format("distances: an array of {}, but the points are {}; distances have the type of the points",
                        name_of(dtype_of<T> == DType::f32 ? DType::f64 : DType::f32), name_of(dtype_of<T>)));
      }
      engine::DeviceNeighbors<T> neighbors{.distances = *to};
      if (std::uint32_t* const* narrow = std::get_if<std::uint32_t*>(&indices)) {
        neighbors.indices = *narrow;
        call(neighbors, *narrow);
      } else {
        neighbors.wide = std::get<std::int64_t*>(indices);
        call(neighbors, neighbors.wide);
      }
    });
  }

  template <typename T>
  engine::QueryBatch<T> checked_batch(SearchKind kind) const {
    engine::QueryBatch<T> batch;
    if (queries_ != nullptr) Of<View>::require_queries(state_, *queries_);
    batch.count = queries_ == nullptr ? state_.rows : queries_->rows();
    batch.filter = filter_of(options_);
    require_options(state_, kind, queries_ == nullptr, batch.count, options_);
    Arrays<T> arrays(state_);
    arrays.allow(options_.allowed, "allowed").allow(options_.index_below, "index_below");
    if (queries_ == nullptr) return batch;
    arrays.require(queries_->data(), batch.count, "queries");
    static constexpr T kNothing{};  // no rows are no self-search
    batch.rows = queries_->empty() ? &kNothing : Of<View>::template rows<T>(*queries_);
    batch.row_stride = Of<View>::stride(*queries_);
    return batch;
  }

  template <typename T>
  engine::DeviceReach<T> checked_reach(const DeviceRadii& radii, std::uint64_t queries) const {
    engine::require_radius(radii.all());
    if (radii.each()) Arrays<T>(state_).require(*radii.each(), queries, "radii");
    return {Of<View>::template bound<T>(state_, radii.all()), radii.each().value_or(nullptr)};
  }

  const State& state_;
  const View* queries_;
  const DeviceSearchOptions& options_;
};

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
    search(*Of<PointView>::searcher<T>(state), boxes, arrays);
  });
}

}  // namespace

template <typename I, typename View>
DeviceSearchOf<I, View>::DeviceSearchOf(I index) : index_(std::move(index)) {
  Of<View>::visit(state(), [&](auto zero) {
    if (Of<View>::template searcher<decltype(zero)>(state()) != nullptr) return;
    throw UsageError(
        fmt::format("the index is on {}; arrays on a GPU are searched by an index that was built or "
                    "loaded there (Device::cuda)",
                    state().device.name()));
  });
  if (Of<View>::left_out(state()) > 0) {
    throw UsageError(fmt::format("the index left out {} of {} points; arrays on a GPU are for an index of all points",
                                 Of<View>::left_out(state()), state().rows));
  }
}

template <typename I, typename View>
void DeviceSearchOf<I, View>::knn(View queries, std::uint32_t k, DeviceNumbers indices, DeviceDistances distances,
                                  const DeviceSearchOptions& options, std::uint8_t* exact) const {
  Search<View>(state(), &queries, options).knn(k, indices, distances, exact);
}
template <typename I, typename View>
void DeviceSearchOf<I, View>::knn_self(std::uint32_t k, DeviceNumbers indices, DeviceDistances distances,
                                       const DeviceSearchOptions& options, std::uint8_t* exact) const {
  Search<View>(state(), nullptr, options).knn(k, indices, distances, exact);
}

template <typename I, typename View>
void DeviceSearchOf<I, View>::count(View queries, DeviceRadii radii, std::uint32_t* counts,
                                    const DeviceSearchOptions& options) const {
  Search<View>(state(), &queries, options).count(radii, counts);
}
template <typename I, typename View>
void DeviceSearchOf<I, View>::count_self(DeviceRadii radii, std::uint32_t* counts,
                                         const DeviceSearchOptions& options) const {
  Search<View>(state(), nullptr, options).count(radii, counts);
}

template <typename I, typename View>
void DeviceSearchOf<I, View>::radius(View queries, DeviceRadii radii, const std::uint64_t* offsets,
                                     DeviceNumbers indices, DeviceDistances distances,
                                     const DeviceSearchOptions& options) const {
  Search<View>(state(), &queries, options).radius(radii, offsets, indices, distances);
}
template <typename I, typename View>
void DeviceSearchOf<I, View>::radius_self(DeviceRadii radii, const std::uint64_t* offsets, DeviceNumbers indices,
                                          DeviceDistances distances, const DeviceSearchOptions& options) const {
  Search<View>(state(), nullptr, options).radius(radii, offsets, indices, distances);
}

template <typename I, typename View>
void DeviceSearchOf<I, View>::offsets(const std::uint32_t* counts, std::uint64_t lists, std::uint64_t* offsets,
                                      const DeviceSearchOptions& options) const {
  Of<View>::visit(state(), [&](auto zero) {
    using T = decltype(zero);
    Arrays<T>(state()).require(counts, lists, "counts").require(offsets, lists + 1, "offsets");
    Of<View>::template searcher<T>(state())->offsets(counts, lists, Of<View>::run(state(), options), offsets);
  });
}
template <typename I, typename View>
void DeviceSearchOf<I, View>::widen(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide,
                                    const DeviceSearchOptions& options) const {
  Of<View>::visit(state(), [&](auto zero) {
    using T = decltype(zero);
    Arrays<T>(state()).require(numbers, count, "numbers").require(wide, count, "wide numbers");
    Of<View>::template searcher<T>(state())->widen(numbers, count, Of<View>::run(state(), options), wide);
  });
}
template <typename I, typename View>
void DeviceSearchOf<I, View>::pack(const std::uint8_t* flags, std::uint64_t count, std::uint64_t* words,
                                   const DeviceSearchOptions& options) const {
  Of<View>::visit(state(), [&](auto zero) {
    using T = decltype(zero);
    Arrays<T>(state()).require(flags, count, "flags").require(words, count, "words");
    Of<View>::template searcher<T>(state())->pack(flags, count, Of<View>::run(state(), options), words);
  });
}

template class DeviceSearchOf<Index, PointView>;
template class DeviceSearchOf<BitIndex, BitView>;

void DeviceSearch::box_count(PointView lower, PointView upper, std::uint32_t* counts,
                             const DeviceSearchOptions& options) const {
  search_boxes(state(), lower, upper, options, [&](const auto& searcher, const auto& boxes, auto& arrays) {
    arrays.require(counts, boxes.count, "counts");
    searcher.box_count(boxes, Of<PointView>::run(state(), options), counts);
  });
}
void DeviceSearch::box(PointView lower, PointView upper, const std::uint64_t* offsets, std::uint32_t* indices,
                       const DeviceSearchOptions& options) const {
  search_boxes(state(), lower, upper, options, [&](const auto& searcher, const auto& boxes, auto& arrays) {
    arrays.require(offsets, boxes.count, "offsets").allow(indices, "indices");
    searcher.box(boxes, Of<PointView>::run(state(), options), offsets, indices);
  });
}

}  // namespace kith::inline v0
