// BitIndex: checks what callers hand in, puts rows of bits into words, and asks the backend of the device.
#include <kith/bit_index.hpp>

#include "engine/backend.hpp"
#include "engine/bit_index_state.hpp"
#include "engine/bit_words.hpp"
#include "engine/choose_object_engine.hpp"
#include "engine/knn_rules.hpp"
#include "engine/total_time.hpp"
#include "engine/validate.hpp"
#include "engine/with_memory.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace kith {

namespace {

using engine::BitQueries;
using engine::SearchKind;

void require_rows(BitView view, std::string_view what) {
  const std::int64_t least = (std::int64_t{view.bits()} + 7) / 8;
  if (view.rows() > 1 && view.row_bytes() < least) {
    throw UsageError(fmt::format("{}: rows of {} bits need {} bytes, but are {} bytes apart", what, view.bits(), least,
                                 view.row_bytes()));
  }
  if (!view.empty() && view.data() == nullptr) throw UsageError(fmt::format("{}: the data pointer is null", what));
}

void require_points(BitView rows) {
  if (rows.bits() == 0) throw UsageError("points: rows of bits need at least one bit");
  if (rows.bits() > BitIndex::kMostBits) {
    throw UsageError(fmt::format("points: {} bits per row; a row has at most {}", rows.bits(), BitIndex::kMostBits));
  }
  if (rows.rows() > engine::kMostPoints) {
    throw UsageError(fmt::format("points: {} rows; an index holds at most {}", rows.rows(), engine::kMostPoints));
  }
  require_rows(rows, "points");
}

void require_queries(BitView queries, std::uint32_t bits) {
  if (!queries.empty() && queries.bits() != bits) {
    throw UsageError(fmt::format("queries: {} bits per row, but the points have {}", queries.bits(), bits));
  }
  require_rows(queries, "queries");
}

/// The bound of a distance as searchers want it: no row has as many bits as the most.
float whole_bound(double distance) {
  return static_cast<float>(std::floor(std::min(distance, 2.0 * BitIndex::kMostBits)));
}

engine::RunOptions run_options(const BitSearchOptions& options) {
  return {options.threads, &options.progress, options.times};
}

/// A search: what was asked is checked, and the queries are in words.
class Search {
 public:
  Search(const BitIndexState& state, const BitView* queries, SearchKind kind, const BitSearchOptions& options)
      : total_(options.times), watched_(&options.progress, "searching") {
    if (queries != nullptr) require_queries(*queries, state.bits);
    SearchOptions general;  // what all indexes check alike
    general.exclude_self = options.exclude_self;
    general.earlier_only = options.earlier_only;
    general.max_neighbors = options.max_neighbors;
    general.max_distance = options.max_distance;
    general.eps = options.eps;
    general.allowed = options.allowed;
    general.threads = options.threads;
    engine::require_search_options(general, {.metric = Metric::l1(),
                                             .kind = kind,
                                             .is_self = queries == nullptr,
                                             .points = state.rows,
                                             .queries = queries == nullptr ? state.rows : queries->rows()});
    queries_.filter.exclude_self = options.exclude_self;
    queries_.filter.earlier_only = options.earlier_only;
    if (!options.allowed.empty()) queries_.filter.allowed = options.allowed.data();
    queries_.rows.count = state.rows;
    if (queries == nullptr) return;
    words_.emplace(*queries, "the queries", engine::RunOptions{.threads = options.threads});
    queries_.rows = words_->rows();
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const BitQueries& queries() const { return queries_; }

 private:
  engine::TotalTime total_;
  runtime::Watched watched_;
  std::optional<engine::BitWords> words_;
  BitQueries queries_;
};

Neighbors search_knn(const BitIndexState& state, const BitView* queries, std::uint32_t k,
                     const BitSearchOptions& options) {
  const Search search(state, queries, SearchKind::knn, options);
  const std::uint64_t count = search.queries().count();
  if (k != 0 && count > (std::uint64_t{1} << 60) / k) {
    throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", count, k));
  }
  return engine::with_memory(count * k * 8, "the result", [&] {
    std::vector<std::uint32_t> indices(count * k);
    std::vector<float> distances(count * k);
    std::vector<std::uint8_t> exact(options.eps > 0 ? count : 0, 1);
    if (!indices.empty()) {
      const engine::KnnRules<float> rules{.bound = whole_bound(options.max_distance),
                                          .shrink = engine::shrink_of_eps<float>(Metric::l1(), options.eps)};
      state.searcher->knn(search.queries(), k, rules, run_options(options), indices.data(), distances.data(),
                          exact.empty() ? nullptr : exact.data());
    }
    return Neighbors(count, k, static_cast<std::uint32_t>(state.rows), std::move(indices),
                     Distances(std::move(distances)), std::move(exact));
  });
}

NeighborLists search_radius(const BitIndexState& state, const BitView* queries, double radius,
                            const BitSearchOptions& options) {
  engine::require_radius(radius);
  const Search search(state, queries, SearchKind::radius, options);
  const std::uint64_t count = search.queries().count();
  return engine::with_memory(count * 8, "the result, and more with each neighbour,", [&] {
    engine::ChainLists<float> lists{{0}, {}, {}};
    if (count > 0) {
      lists =
          state.searcher->radius(search.queries(), whole_bound(radius), options.max_neighbors, run_options(options));
    }
    return NeighborLists(static_cast<std::uint32_t>(state.rows), std::move(lists.offsets), std::move(lists.indices),
                         Distances(std::move(lists.chains)));
  });
}

std::vector<std::uint32_t> search_count(const BitIndexState& state, const BitView* queries, double radius,
                                        const BitSearchOptions& options) {
  engine::require_radius(radius);
  const Search search(state, queries, SearchKind::radius, options);
  return engine::with_memory(search.queries().count() * 4, "the result", [&] {
    std::vector<std::uint32_t> counts(search.queries().count(), 0);
    if (!counts.empty()) {
      state.searcher->count(search.queries(), whole_bound(radius), run_options(options), counts.data());
    }
    return counts;
  });
}

}  // namespace

BitIndex::BitIndex(std::shared_ptr<const BitIndexState> state) : state_(std::move(state)) {}

BitIndex BitIndex::build(BitView rows, const BitIndexOptions& options) {
  require_points(rows);
  engine::require_leaf_size(options.leaf_size);
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "building");
  auto state = std::make_shared<BitIndexState>();
  state->rows = rows.rows();
  state->bits = rows.bits();
  engine::Choice choice = [&] {
    const engine::StartTime start(options.times, options.device);
    return engine::choose_object_engine(
        {.engine = options.engine, .device = options.device, .objects = rows.rows(), .content = IndexContent::bits});
  }();
  const engine::RunOptions run{options.threads, &options.progress, options.times};
  const auto words = std::make_shared<engine::BitWords>(rows, "the points", run);
  engine::make_or_fall_back(options.device, choice, [&](const engine::Choice& chosen) {
    state->searcher = engine::with_memory(rows.rows() * words->rows().words_per_row * 8, "the index", [&] {
      return engine::backend_of(chosen.device)
          .build_bits({.engine = chosen.engine,
                       .rows = words->rows(),
                       .owner = words,
                       .leaf_size = options.leaf_size,
                       .device = chosen.device,
                       .run = run});
    });
  });
  state->engine = choice.engine;
  state->device = choice.device;
  state->reason = choice.reason;
  return BitIndex(std::move(state));
}

Neighbors BitIndex::knn(BitView queries, std::uint32_t k, const BitSearchOptions& options) const {
  return search_knn(*state_, &queries, k, options);
}
Neighbors BitIndex::knn_self(std::uint32_t k, const BitSearchOptions& options) const {
  return search_knn(*state_, nullptr, k, options);
}
NeighborLists BitIndex::radius(BitView queries, double radius, const BitSearchOptions& options) const {
  return search_radius(*state_, &queries, radius, options);
}
NeighborLists BitIndex::radius_self(double radius, const BitSearchOptions& options) const {
  return search_radius(*state_, nullptr, radius, options);
}
std::vector<std::uint32_t> BitIndex::count(BitView queries, double radius, const BitSearchOptions& options) const {
  return search_count(*state_, &queries, radius, options);
}
std::vector<std::uint32_t> BitIndex::count_self(double radius, const BitSearchOptions& options) const {
  return search_count(*state_, nullptr, radius, options);
}

std::uint64_t BitIndex::size() const { return state_->rows; }
std::uint32_t BitIndex::bits() const { return state_->bits; }
Engine BitIndex::engine() const { return state_->engine; }
Device BitIndex::device() const { return state_->device; }
std::uint64_t BitIndex::memory_bytes() const { return state_->searcher->memory_bytes(); }
std::string BitIndex::first_violation() const {
  if (engine() == Engine::cover_tree && device() != Device::cpu()) return from_bytes(to_bytes()).first_violation();
  return state_->searcher->first_violation();
}
std::string BitIndex::explain() const { return state_->reason + '\n' + state_->searcher->describe(); }

}  // namespace kith
