// The facade's searches: validates, leaves out bad rows, normalises for cosine, calls the searcher, translates its
// answers.
#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "engine/clean_filter.hpp"
#include "engine/host_view.hpp"
#include "engine/index_state.hpp"
#include "engine/knn_rules.hpp"
#include "engine/prepared_rows.hpp"
#include "engine/total_time.hpp"
#include "engine/validate.hpp"
#include "engine/with_memory.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {
namespace {

using engine::make_clean_filter;
using engine::PreparedRows;
using engine::QueryBatch;
using engine::SearchKind;
using engine::with_memory;

/// Queries as a searcher wants them, and where their answers belong.
template <typename T>
struct PreparedQueries {
  PreparedRows<T> rows;
  QueryBatch<T> batch;
  engine::CleanFilter filter;
  std::uint64_t answers = 0;                 ///< rows that the caller expects
  const std::uint32_t* self_rows = nullptr;  ///< self-search with rows left out: the caller's row of each query

  bool has_gaps() const { return batch.count != answers; }
  /// The caller's row of query q.
  std::uint64_t answer_of(std::uint64_t q) const {
    if (!has_gaps()) return q;
    return self_rows != nullptr ? self_rows[q] : rows.clean.rows[q];
  }
};

template <typename T>
PreparedQueries<T> prepare_queries(const IndexState& state, const PointView* queries, const SearchOptions& options) {
  PreparedQueries<T> prepared;
  if (queries == nullptr) {
    prepared.batch.count = state.clean;
    prepared.filter = make_clean_filter(state, options, {});
    prepared.batch.filter = prepared.filter.filter;
    prepared.answers = state.rows;
    prepared.self_rows = state.original.empty() ? nullptr : state.original.data();
    return prepared;
  }
  prepared.answers = queries->rows();
  if (queries->empty()) {
    static constexpr T kNothing{};
    prepared.batch.rows = &kNothing;
    return prepared;
  }
  prepared.rows = engine::prepare_rows<T>(*queries, {.what = "queries",
                                                     .metric = state.metric,
                                                     .skip_nonfinite = options.skip_nonfinite,
                                                     .wrap_to = state.period,
                                                     .threads = options.threads});
  prepared.filter = make_clean_filter(state, options, prepared.rows.clean.rows);
  prepared.batch.filter = prepared.filter.filter;
  prepared.batch.rows = prepared.rows.rows;
  prepared.batch.row_stride = prepared.rows.row_stride;
  prepared.batch.count = prepared.rows.count;
  return prepared;
}

engine::RunOptions run_options(const SearchOptions& options) {
  return {options.threads, &options.progress, options.times};
}

std::uint64_t checked_product(std::uint64_t rows, std::uint64_t k) {
  if (k != 0 && rows > (std::uint64_t{1} << 60) / k) {
    throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", rows, k));
  }
  return rows * k;
}

/// Moves rows of k entries from their dense places to the caller's rows, last first, and empties the rows between.
template <typename T>
void spread_rows(const PreparedQueries<T>& queries, std::uint32_t k, std::uint32_t missing,
                 std::vector<std::uint32_t>& indices, std::span<T> distances) {
  std::uint64_t end = queries.answers;
  for (std::uint64_t q = queries.batch.count; q-- > 0;) {
    const std::uint64_t row = queries.answer_of(q);
    std::copy_backward(&indices[q * k], &indices[q * k] + k, &indices[row * k] + k);
    std::copy_backward(&distances[q * k], &distances[q * k] + k, &distances[row * k] + k);
    std::fill(&indices[0] + (row + 1) * k, &indices[0] + end * k, missing);
    std::fill(&distances[0] + (row + 1) * k, &distances[0] + end * k, std::numeric_limits<T>::infinity());
    end = row;
  }
  std::fill(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(end * k), missing);
  std::fill(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(end * k),
            std::numeric_limits<T>::infinity());
}

/// The same for one value per query; the rows between get `empty`.
template <typename T, typename Value>
void spread_values(const PreparedQueries<T>& queries, Value empty, std::vector<Value>& values) {
  for (std::uint64_t q = queries.batch.count; q-- > 0;) {  // last first: a row never lies before its query
    const std::uint64_t row = queries.answer_of(q);
    if (row == q) break;
    values[row] = std::exchange(values[q], empty);
  }
}

/// Chain values become distances and clean numbers the caller's.
template <typename T>
void translate(const IndexState& state, const SearchOptions& options, std::uint64_t count, std::uint32_t* indices,
               T* distances) {
  constexpr std::uint64_t kBlock = 1 << 18;
  const bool renumbers = state.left_out_rows();
  runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = options.threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(count, (block + 1) * kBlock);
    for (std::uint64_t i = block * kBlock; i < end; ++i) {
      distances[i] = core::reported_distance(state.metric, options.squared, distances[i]);
      if (renumbers) indices[i] = state.original_index(indices[i]);
    }
  });
}

template <typename T>
Neighbors search_knn(const IndexState& state, const PointView* queries, std::uint32_t k, const SearchOptions& options) {
  const PreparedQueries<T> prepared = prepare_queries<T>(state, queries, options);
  const std::uint64_t entries = checked_product(prepared.answers, k);
  return with_memory(entries * (sizeof(T) + 4), "the result", [&] {
    std::vector<std::uint32_t> indices(entries);
    Distances distances(dtype_of<T>, entries);
    const std::span<T> values = distances.values<T>();
    // An empty list is exact, and so is that of a query that was left out.
    std::vector<std::uint8_t> exact(engine::wants_flags(options) ? prepared.answers : 0, 1);
    if (k > 0 && prepared.batch.count > 0) {
      searcher_of<T>(state).knn(prepared.batch, k, engine::knn_rules<T>(state.metric, options), run_options(options),
                                indices.data(), values.data(), exact.empty() ? nullptr : exact.data());
      translate(state, options, prepared.batch.count * k, indices.data(), values.data());
    }
    const auto missing = static_cast<std::uint32_t>(state.rows);
    if (k > 0 && prepared.has_gaps()) {
      spread_rows(prepared, k, missing, indices, values);
      if (!exact.empty()) spread_values(prepared, std::uint8_t{1}, exact);
    }
    return Neighbors(prepared.answers, k, missing, std::move(indices), std::move(distances), std::move(exact));
  });
}

/// One radius for all queries, or one for each of the caller's rows.
struct Radii {
  double all = 0;
  std::optional<std::span<const double>> each = {};

  void require(std::uint64_t queries) const {
    engine::require_radius(all);
    if (each) engine::require_radii(*each, queries);
  }
};

/// The same in chain values; the queries of the batch point to them.
template <typename T>
class ChainBounds {
 public:
  ChainBounds(const IndexState& state, Radii radii, PreparedQueries<T>& prepared, int threads)
      : all_(core::chain_bound_of_radius<T>(state.metric, radii.all)) {
    if (!radii.each) return;
    constexpr std::uint64_t kBlock = 1 << 14;
    const std::uint64_t count = prepared.batch.count;
    with_memory(count * sizeof(T), "the radii", [&] { each_.resize(count); });
    runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = threads}, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(count, (block + 1) * kBlock);
      for (std::uint64_t q = block * kBlock; q < end; ++q) {
        each_[q] = core::chain_bound_of_radius<T>(state.metric, (*radii.each)[prepared.answer_of(q)]);
      }
    });
    prepared.batch.bounds = each_.data();
  }
  ChainBounds(const ChainBounds&) = delete;
  ChainBounds& operator=(const ChainBounds&) = delete;

  T all() const { return all_; }

 private:
  T all_;
  std::vector<T> each_;
};

template <typename T>
NeighborLists search_radius(const IndexState& state, const PointView* queries, Radii radii,
                            const SearchOptions& options) {
  PreparedQueries<T> prepared = prepare_queries<T>(state, queries, options);
  const ChainBounds<T> bounds(state, radii, prepared, options.threads);
  return with_memory(prepared.answers * (sizeof(T) + 4), "the result, and more with each neighbour,", [&] {
    engine::ChainLists<T> lists{{0}, {}, {}};
    if (prepared.batch.count > 0) {
      lists = searcher_of<T>(state).radius(prepared.batch, bounds.all(), options.max_neighbors, run_options(options));
      translate(state, options, lists.indices.size(), lists.indices.data(), lists.chains.data());
    }
    if (prepared.has_gaps()) {
      std::vector<std::uint64_t> offsets(prepared.answers + 1, 0);
      for (std::uint64_t q = 0; q < prepared.batch.count; ++q) {
        offsets[prepared.answer_of(q) + 1] = lists.offsets[q + 1] - lists.offsets[q];
      }
      for (std::uint64_t row = 0; row < prepared.answers; ++row) offsets[row + 1] += offsets[row];
      lists.offsets = std::move(offsets);
    }
    return NeighborLists(static_cast<std::uint32_t>(state.rows), std::move(lists.offsets), std::move(lists.indices),
                         Distances(std::move(lists.chains)));
  });
}

template <typename T>
std::vector<std::uint32_t> search_count(const IndexState& state, const PointView* queries, Radii radii,
                                        const SearchOptions& options) {
  PreparedQueries<T> prepared = prepare_queries<T>(state, queries, options);
  const ChainBounds<T> bounds(state, radii, prepared, options.threads);
  return with_memory(prepared.answers * 4, "the result", [&] {
    std::vector<std::uint32_t> counts(prepared.answers, 0);
    if (prepared.batch.count == 0) return counts;
    searcher_of<T>(state).count(prepared.batch, bounds.all(), run_options(options), counts.data());
    if (prepared.has_gaps()) spread_values(prepared, 0u, counts);
    return counts;
  });
}

void require_options(const IndexState& state, const PointView* queries, SearchKind kind, const SearchOptions& options) {
  engine::require_search_options(options, {.metric = state.metric,
                                           .kind = kind,
                                           .is_self = queries == nullptr,
                                           .points = state.rows,
                                           .queries = queries == nullptr ? state.rows : queries->rows()});
}

/// Checks what a radius search was given and calls search(T(0), queries in host memory or null).
template <typename Search>
auto checked_within(const IndexState& state, const PointView* queries, const Radii& radii, const SearchOptions& options,
                    Search&& search) {
  if (queries != nullptr) engine::require_queries_view(*queries, state.dims, state.dtype);
  radii.require(queries == nullptr ? state.rows : queries->rows());
  require_options(state, queries, SearchKind::radius, options);
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "searching");
  const engine::HostView host(queries == nullptr ? PointView() : *queries, options.threads);
  const PointView view = host.view();
  return core::visit_dtype(state.dtype, [&](auto zero) { return search(zero, queries == nullptr ? nullptr : &view); });
}

NeighborLists radius_of(const IndexState& state, const PointView* queries, const Radii& radii,
                        const SearchOptions& options) {
  return checked_within(state, queries, radii, options, [&](auto zero, const PointView* on_host) {
    return search_radius<decltype(zero)>(state, on_host, radii, options);
  });
}

std::vector<std::uint32_t> count_of(const IndexState& state, const PointView* queries, const Radii& radii,
                                    const SearchOptions& options) {
  return checked_within(state, queries, radii, options, [&](auto zero, const PointView* on_host) {
    return search_count<decltype(zero)>(state, on_host, radii, options);
  });
}

}  // namespace

Index::Index(std::shared_ptr<const IndexState> state) : state_(std::move(state)) {}

Neighbors Index::knn(PointView queries, std::uint32_t k, const SearchOptions& options) const {
  engine::require_queries_view(queries, state_->dims, state_->dtype);
  require_options(*state_, &queries, SearchKind::knn, options);
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "searching");
  const engine::HostView host(queries, options.threads);
  const PointView view = host.view();
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_knn<decltype(zero)>(*state_, &view, k, options); });
}

Neighbors Index::knn_self(std::uint32_t k, const SearchOptions& options) const {
  require_options(*state_, nullptr, SearchKind::knn, options);
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "searching");
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_knn<decltype(zero)>(*state_, nullptr, k, options); });
}

NeighborLists Index::radius(PointView queries, double radius, const SearchOptions& options) const {
  return radius_of(*state_, &queries, {radius}, options);
}
NeighborLists Index::radius_self(double radius, const SearchOptions& options) const {
  return radius_of(*state_, nullptr, {radius}, options);
}
NeighborLists Index::radius(PointView queries, std::span<const double> radii, const SearchOptions& options) const {
  return radius_of(*state_, &queries, {.each = radii}, options);
}
NeighborLists Index::radius_self(std::span<const double> radii, const SearchOptions& options) const {
  return radius_of(*state_, nullptr, {.each = radii}, options);
}

std::vector<std::uint32_t> Index::count(PointView queries, double radius, const SearchOptions& options) const {
  return count_of(*state_, &queries, {radius}, options);
}
std::vector<std::uint32_t> Index::count_self(double radius, const SearchOptions& options) const {
  return count_of(*state_, nullptr, {radius}, options);
}
std::vector<std::uint32_t> Index::count(PointView queries, std::span<const double> radii,
                                        const SearchOptions& options) const {
  return count_of(*state_, &queries, {.each = radii}, options);
}
std::vector<std::uint32_t> Index::count_self(std::span<const double> radii, const SearchOptions& options) const {
  return count_of(*state_, nullptr, {.each = radii}, options);
}

std::uint64_t Index::size() const { return state_->rows; }
std::uint32_t Index::dims() const { return state_->dims; }
DType Index::dtype() const { return state_->dtype; }
Metric Index::metric() const { return state_->metric; }
Engine Index::engine() const { return state_->engine; }
Device Index::device() const { return state_->device; }
std::uint64_t Index::skipped() const { return state_->rows - state_->clean; }

std::uint64_t Index::memory_bytes() const {
  const std::uint64_t searcher = std::visit([](const auto& s) { return s->memory_bytes(); }, state_->searcher);
  return searcher + state_->original.capacity() * sizeof(std::uint32_t);
}

std::string Index::first_violation() const {
  // What must hold of a cover tree only the CPU checks.
  if (engine() == Engine::cover_tree && device() != Device::cpu()) return from_bytes(to_bytes()).first_violation();
  return std::visit([](const auto& s) { return s->first_violation(); }, state_->searcher);
}

std::string Index::explain() const {
  std::string text = state_->reason;
  text += '\n' + std::visit([](const auto& s) { return s->describe(); }, state_->searcher);
  if (skipped() > 0) text += fmt::format("\nleft out: {} of {} points hold NaN or infinity", skipped(), size());
  if (runtime::forked_after_threads())
    text += "\nthreads: 1, because this process was forked after threads had started";
  return text;
}

}  // namespace kith
