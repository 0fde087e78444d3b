// The facade: validates, leaves out bad rows, normalises for cosine, calls the searcher, translates its answers.
#include "core/dispatch.hpp"
#include "core/reported_distance.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/index_state.hpp"
#include "engine/normalize.hpp"
#include "engine/validate.hpp"
#include "runtime/parallel.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace kith {
namespace {

using engine::QueryBatch;

constexpr std::uint64_t kRowsPerBlock = 4096;

/// Host rows ready for a searcher: the caller's own where possible, else a clean copy.
template <typename T>
struct PreparedRows {
  PointSet copy;  // unused while `rows` points to the caller's memory
  const T* rows = nullptr;
  std::int64_t row_stride = 0;
  std::uint64_t count = 0;
  engine::CleanRows clean;
};

template <typename T>
PreparedRows<T> prepare_rows(PointView view, std::string_view what, Metric metric, bool skip, bool side_by_side,
                             int threads) {
  PreparedRows<T> prepared;
  prepared.clean = engine::find_clean_rows(view, what, metric, skip, threads);
  const bool normalizes = metric.kind() == Metric::Kind::cosine;
  const bool has_gaps = view.row_stride() != static_cast<std::int64_t>(view.dims());
  if (prepared.clean.all_clean && !normalizes && !(side_by_side && has_gaps)) {
    prepared.rows = view.row<T>(0);
    prepared.row_stride = view.row_stride();
    prepared.count = view.rows();
    return prepared;
  }
  prepared.count = prepared.clean.all_clean ? view.rows() : prepared.clean.rows.size();
  prepared.copy = PointSet(view.dtype(), prepared.count, view.dims());
  T* to = prepared.copy.template values<T>().data();
  const std::uint64_t blocks = (prepared.count + kRowsPerBlock - 1) / kRowsPerBlock;
  runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(prepared.count, (block + 1) * kRowsPerBlock);
    for (std::uint64_t i = block * kRowsPerBlock; i < end; ++i) {
      T* row = to + i * view.dims();
      std::memcpy(row, view.row<T>(prepared.clean.all_clean ? i : prepared.clean.rows[i]), sizeof(T) * view.dims());
      if (normalizes) engine::normalize_row(row, view.dims());
    }
  });
  prepared.rows = to;
  prepared.row_stride = view.dims();
  return prepared;
}

/// The searcher of an index of type T.
template <typename T>
const engine::Searcher<T>& searcher_of(const IndexState& state) {
  return *std::get<std::unique_ptr<engine::Searcher<T>>>(state.searcher);
}

/// The caller's number of a clean point; the clean count (missing) becomes the caller's count.
std::uint32_t original_index(const IndexState& state, std::uint32_t index) {
  if (index >= state.clean) return static_cast<std::uint32_t>(state.rows);
  return state.original.empty() ? index : state.original[index];
}

/// Queries as a searcher wants them, and where their answers belong.
template <typename T>
struct PreparedQueries {
  PreparedRows<T> rows;
  QueryBatch<T> batch;
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
    prepared.batch.exclude_self = options.exclude_self;
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
  prepared.rows = prepare_rows<T>(*queries, "queries", state.metric, options.skip_nonfinite, /*side_by_side=*/false,
                                  options.threads);
  prepared.batch.rows = prepared.rows.rows;
  prepared.batch.row_stride = prepared.rows.row_stride;
  prepared.batch.count = prepared.rows.count;
  return prepared;
}

/// Runs `f` if the machine has that much memory, and turns a failed allocation into an error that says how much was
/// wanted.
template <typename F>
auto with_memory(std::uint64_t bytes, std::string_view purpose, F&& f) {
  runtime::require_memory(bytes, purpose);
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("not enough memory: {} needs about {} bytes", purpose, bytes));
  } catch (const std::length_error&) {
    throw OutOfMemory(fmt::format("not enough memory: {} needs about {} bytes", purpose, bytes));
  }
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
      if (renumbers) indices[i] = original_index(state, indices[i]);
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
    if (k > 0 && prepared.batch.count > 0) {
      searcher_of<T>(state).knn(prepared.batch, k, {options.threads, &options.progress}, indices.data(), values.data());
      translate(state, options, prepared.batch.count * k, indices.data(), values.data());
    }
    const auto missing = static_cast<std::uint32_t>(state.rows);
    if (k > 0 && prepared.has_gaps()) spread_rows(prepared, k, missing, indices, values);
    return Neighbors(prepared.answers, k, missing, std::move(indices), std::move(distances));
  });
}

template <typename T>
NeighborLists search_radius(const IndexState& state, const PointView* queries, double radius,
                            const SearchOptions& options) {
  const PreparedQueries<T> prepared = prepare_queries<T>(state, queries, options);
  const T bound = core::chain_bound_of_radius<T>(state.metric, radius);
  return with_memory(prepared.answers * (sizeof(T) + 4), "the result, and more with each neighbour,", [&] {
    engine::ChainLists<T> lists{{0}, {}, {}};
    if (prepared.batch.count > 0) {
      lists = searcher_of<T>(state).radius(prepared.batch, bound, options.max_neighbors,
                                           {options.threads, &options.progress});
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
std::vector<std::uint32_t> search_count(const IndexState& state, const PointView* queries, double radius,
                                        const SearchOptions& options) {
  const PreparedQueries<T> prepared = prepare_queries<T>(state, queries, options);
  const T bound = core::chain_bound_of_radius<T>(state.metric, radius);
  return with_memory(prepared.answers * 4, "the result", [&] {
    std::vector<std::uint32_t> counts(prepared.answers, 0);
    if (prepared.batch.count == 0) return counts;
    searcher_of<T>(state).count(prepared.batch, bound, {options.threads, &options.progress}, counts.data());
    if (prepared.has_gaps()) {
      for (std::uint64_t q = prepared.batch.count; q-- > 0;) {  // last first: a row never lies before its query
        const std::uint64_t row = prepared.answer_of(q);
        if (row == q) break;
        counts[row] = std::exchange(counts[q], 0);
      }
    }
    return counts;
  });
}

template <typename T>
void build_searcher(IndexState& state, PointView points, const BuildOptions& options) {
  PreparedRows<T> rows =
      prepare_rows<T>(points, "points", options.metric, options.skip_nonfinite, /*side_by_side=*/true, options.threads);
  state.clean = rows.count;
  if (!rows.clean.all_clean) state.original.assign(rows.clean.rows.begin(), rows.clean.rows.end());
  const engine::Backend& backend =
      state.device.kind() == Device::Kind::cuda ? *engine::cuda_backend() : engine::cpu_backend();
  state.searcher = backend.build(engine::BuildRequest<T>{.engine = state.engine,
                                                         .metric = state.metric,
                                                         .rows = rows.rows,
                                                         .count = rows.count,
                                                         .dims = points.dims(),
                                                         .device = state.device,
                                                         .run = {options.threads, &options.progress}});
}

}  // namespace

Index::Index(std::shared_ptr<const IndexState> state) : state_(std::move(state)) {}

Index Index::build(PointView points, const BuildOptions& options) {
  engine::require_points_view(points);
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  auto state = std::make_shared<IndexState>();
  engine::Choice choice =
      engine::choose_engine(options.engine, options.device, points.rows(), points.dims(), options.expected_queries);
  state->rows = points.rows();
  state->dims = points.dims();
  state->dtype = points.dtype();
  state->metric = options.metric;
  state->engine = choice.engine;
  state->device = choice.device;
  state->reason = std::move(choice.reason);
  const std::uint64_t bytes = points.rows() * points.dims() * size_of(points.dtype());
  with_memory(bytes, "the index", [&] {
    core::visit_dtype(points.dtype(), [&](auto zero) { build_searcher<decltype(zero)>(*state, points, options); });
    return 0;
  });
  return Index(std::move(state));
}

Neighbors Index::knn(PointView queries, std::uint32_t k, const SearchOptions& options) const {
  engine::require_queries_view(queries, state_->dims, state_->dtype);
  engine::require_search_options(options, state_->metric, /*is_self=*/false, /*is_radius=*/false);
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_knn<decltype(zero)>(*state_, &queries, k, options); });
}

Neighbors Index::knn_self(std::uint32_t k, const SearchOptions& options) const {
  engine::require_search_options(options, state_->metric, /*is_self=*/true, /*is_radius=*/false);
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_knn<decltype(zero)>(*state_, nullptr, k, options); });
}

NeighborLists Index::radius(PointView queries, double radius, const SearchOptions& options) const {
  engine::require_queries_view(queries, state_->dims, state_->dtype);
  engine::require_radius(radius);
  engine::require_search_options(options, state_->metric, /*is_self=*/false, /*is_radius=*/true);
  return core::visit_dtype(
      state_->dtype, [&](auto zero) { return search_radius<decltype(zero)>(*state_, &queries, radius, options); });
}

NeighborLists Index::radius_self(double radius, const SearchOptions& options) const {
  engine::require_radius(radius);
  engine::require_search_options(options, state_->metric, /*is_self=*/true, /*is_radius=*/true);
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_radius<decltype(zero)>(*state_, nullptr, radius, options); });
}

std::vector<std::uint32_t> Index::count(PointView queries, double radius, const SearchOptions& options) const {
  engine::require_queries_view(queries, state_->dims, state_->dtype);
  engine::require_radius(radius);
  engine::require_search_options(options, state_->metric, /*is_self=*/false, /*is_radius=*/true);
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_count<decltype(zero)>(*state_, &queries, radius, options); });
}

std::vector<std::uint32_t> Index::count_self(double radius, const SearchOptions& options) const {
  engine::require_radius(radius);
  engine::require_search_options(options, state_->metric, /*is_self=*/true, /*is_radius=*/true);
  return core::visit_dtype(state_->dtype,
                           [&](auto zero) { return search_count<decltype(zero)>(*state_, nullptr, radius, options); });
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

std::string Index::explain() const {
  std::string text = state_->reason;
  text += '\n' + std::visit([](const auto& s) { return s->describe(); }, state_->searcher);
  if (skipped() > 0) text += fmt::format("\nleft out: {} of {} points hold NaN or infinity", skipped(), size());
  if (runtime::forked_after_threads())
    text += "\nthreads: 1, because this process was forked after threads had started";
  return text;
}

}  // namespace kith
