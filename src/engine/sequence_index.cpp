// SequenceIndex: checks what callers hand in, keeps the sequences, and asks the backend of the device.
#include <kith/sequence_index.hpp>

#include "engine/backend.hpp"
#include "engine/choose_object_engine.hpp"
#include "engine/knn_rules.hpp"
#include "engine/sequence_index_state.hpp"
#include "engine/total_time.hpp"
#include "engine/validate.hpp"
#include "engine/validate_sequences.hpp"
#include "engine/with_memory.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith {
namespace {

using engine::SearchKind;
using engine::SequenceQueries;
using engine::with_memory;

engine::RunOptions run_options(const SequenceSearchOptions& options) {
  return {options.threads, &options.progress, options.times};
}

/// A search whose options and queries are checked.
class Search {
 public:
  Search(const SequenceIndexState& state, const SequenceView* queries, SearchKind kind,
         const SequenceSearchOptions& options)
      : total_(options.times), watched_(&options.progress, "searching") {
    const bool is_self = queries == nullptr;
    if (!is_self) require_queries(state, *queries);
    general_.exclude_self = options.exclude_self;
    general_.earlier_only = options.earlier_only;
    general_.max_neighbors = options.max_neighbors;
    general_.max_distance = options.max_distance;
    general_.eps = options.eps;
    general_.allowed = options.allowed;
    general_.threads = options.threads;
    engine::require_search_options(general_, {.metric = Metric::l1(),
                                              .kind = kind,
                                              .is_self = is_self,
                                              .points = state.sequences.size(),
                                              .queries = is_self ? state.sequences.size() : queries->size()});
    if (!is_self) require_contents(state, *queries, options.threads);
    queries_.filter.exclude_self = options.exclude_self;
    queries_.filter.earlier_only = options.earlier_only;
    if (!options.allowed.empty()) queries_.filter.allowed = options.allowed.data();
    queries_.rows.count = state.sequences.size();
    if (is_self) return;
    static constexpr std::uint64_t kNoOffsets[1] = {0};  // without offsets would mean self
    queries_.rows = {queries->items(), queries->empty() ? kNoOffsets : queries->offsets(), queries->size()};
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const SequenceQueries& queries() const { return queries_; }
  /// In the manner of L1, whose values are the distances themselves.
  engine::KnnRules<float> rules() const { return engine::knn_rules<float>(Metric::l1(), general_); }
  bool wants_flags() const { return engine::wants_flags(general_); }

 private:
  static void require_queries(const SequenceIndexState& state, SequenceView queries) {
    if (queries.empty()) return;
    if (queries.kind() != state.sequences.kind()) {
      throw UsageError(fmt::format("queries: sequences of {}, but the index holds sequences of {}",
                                   name_of(queries.kind()), name_of(state.sequences.kind())));
    }
    engine::require_sequences_view(queries, state.metric, "queries");
  }
  static void require_contents(const SequenceIndexState& state, SequenceView queries, int threads) {
    const std::uint64_t length = state.sequences.empty() ? engine::kAnyLength : state.sequences.length(0);
    const std::string bad = engine::first_bad_sequence(queries, state.metric, length, threads);
    if (!bad.empty()) throw BadData("queries: " + bad);
  }

  engine::TotalTime total_;
  runtime::Watched watched_;
  SearchOptions general_;  // what all indexes check alike
  SequenceQueries queries_;
};

Neighbors search_knn(const SequenceIndexState& state, const SequenceView* queries, std::uint32_t k,
                     const SequenceSearchOptions& options) {
  const Search search(state, queries, SearchKind::knn, options);
  const std::uint64_t count = search.queries().count();
  if (k != 0 && count > (std::uint64_t{1} << 60) / k) {
    throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", count, k));
  }
  return with_memory(count * k * 8, "the result", [&] {
    std::vector<std::uint32_t> indices(count * k);
    std::vector<float> distances(count * k);
    std::vector<std::uint8_t> exact(search.wants_flags() ? count : 0, 1);
    if (!indices.empty()) {
      state.searcher->knn(search.queries(), k, search.rules(), run_options(options), indices.data(), distances.data(),
                          exact.empty() ? nullptr : exact.data());
    }
    return Neighbors(count, k, static_cast<std::uint32_t>(state.sequences.size()), std::move(indices),
                     Distances(std::move(distances)), std::move(exact));
  });
}

float bound_of(double radius) { return core::chain_bound_of_radius<float>(Metric::l1(), radius); }

NeighborLists search_radius(const SequenceIndexState& state, const SequenceView* queries, double radius,
                            const SequenceSearchOptions& options) {
  engine::require_radius(radius);
  const Search search(state, queries, SearchKind::radius, options);
  const std::uint64_t count = search.queries().count();
  return with_memory(count * 8, "the result, and more with each neighbour,", [&] {
    engine::ChainLists<float> lists{{0}, {}, {}};
    if (count > 0) {
      lists = state.searcher->radius(search.queries(), bound_of(radius), options.max_neighbors, run_options(options));
    }
    return NeighborLists(static_cast<std::uint32_t>(state.sequences.size()), std::move(lists.offsets),
                         std::move(lists.indices), Distances(std::move(lists.chains)));
  });
}

std::vector<std::uint32_t> search_count(const SequenceIndexState& state, const SequenceView* queries, double radius,
                                        const SequenceSearchOptions& options) {
  engine::require_radius(radius);
  const Search search(state, queries, SearchKind::radius, options);
  return with_memory(search.queries().count() * 4, "the result", [&] {
    std::vector<std::uint32_t> counts(search.queries().count(), 0);
    if (!counts.empty()) {
      state.searcher->count(search.queries(), bound_of(radius), run_options(options), counts.data());
    }
    return counts;
  });
}

/// A copy whose first offset is 0.
SequenceSet copy_of(SequenceView view) {
  std::vector<std::uint64_t> offsets(view.size() + 1, 0);
  for (std::uint64_t i = 0; i < view.size(); ++i) offsets[i + 1] = view.offsets()[i + 1] - view.offsets()[0];
  std::vector<std::uint32_t> items;
  if (view.item_count() > 0) {
    const std::uint32_t* first = view.items() + view.offsets()[0];
    items.assign(first, first + view.item_count());
  }
  return SequenceSet(view.kind(), std::move(items), std::move(offsets));
}

}  // namespace

SequenceIndex::SequenceIndex(std::shared_ptr<const SequenceIndexState> state) : state_(std::move(state)) {}

SequenceIndex SequenceIndex::build(SequenceView sequences, SequenceMetric metric, const SequenceIndexOptions& options) {
  engine::require_sequences_view(sequences, metric, "sequences");
  engine::require_leaf_size(options.leaf_size);
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "building");
  engine::Choice choice = [&] {
    const engine::StartTime start(options.times, options.device);
    return engine::choose_object_engine({.engine = options.engine,
                                         .device = options.device,
                                         .objects = sequences.size(),
                                         .content = IndexContent::sequences,
                                         .metric = metric,
                                         .queries = options.expected_queries});
  }();
  const std::string bad = engine::first_bad_sequence(sequences, metric, engine::kAnyLength, options.threads);
  if (!bad.empty()) throw BadData("sequences: " + bad);

  auto state = std::make_shared<SequenceIndexState>();
  const std::uint64_t bytes = sequences.item_count() * 4 + sequences.size() * 8;
  const auto owner =
      with_memory(bytes, "the sequences", [&] { return std::make_shared<SequenceSet>(copy_of(sequences)); });
  state->sequences = owner->view();
  state->owner = owner;
  state->metric = metric;
  const engine::RunOptions run{options.threads, &options.progress, options.times};
  engine::make_or_fall_back(options.device, choice, [&](const engine::Choice& chosen) {
    state->searcher = with_memory(2 * bytes, "the index", [&] {
      return engine::backend_of(chosen.device)
          .build_sequences({.engine = chosen.engine,
                            .metric = metric,
                            .rows = state->rows(),
                            .owner = owner,
                            .leaf_size = options.leaf_size,
                            .device = chosen.device,
                            .run = run});
    });
  });
  state->engine = choice.engine;
  state->device = choice.device;
  state->reason = choice.reason;
  return SequenceIndex(std::move(state));
}

Neighbors SequenceIndex::knn(SequenceView queries, std::uint32_t k, const SequenceSearchOptions& options) const {
  return search_knn(*state_, &queries, k, options);
}
Neighbors SequenceIndex::knn_self(std::uint32_t k, const SequenceSearchOptions& options) const {
  return search_knn(*state_, nullptr, k, options);
}
NeighborLists SequenceIndex::radius(SequenceView queries, double radius, const SequenceSearchOptions& options) const {
  return search_radius(*state_, &queries, radius, options);
}
NeighborLists SequenceIndex::radius_self(double radius, const SequenceSearchOptions& options) const {
  return search_radius(*state_, nullptr, radius, options);
}
std::vector<std::uint32_t> SequenceIndex::count(SequenceView queries, double radius,
                                                const SequenceSearchOptions& options) const {
  return search_count(*state_, &queries, radius, options);
}
std::vector<std::uint32_t> SequenceIndex::count_self(double radius, const SequenceSearchOptions& options) const {
  return search_count(*state_, nullptr, radius, options);
}

SequenceView SequenceIndex::sequences() const { return state_->sequences; }
std::uint64_t SequenceIndex::size() const { return state_->sequences.size(); }
SequenceKind SequenceIndex::kind() const { return state_->sequences.kind(); }
SequenceMetric SequenceIndex::metric() const { return state_->metric; }
Engine SequenceIndex::engine() const { return state_->engine; }
Device SequenceIndex::device() const { return state_->device; }
std::uint64_t SequenceIndex::memory_bytes() const {
  return state_->searcher->memory_bytes() + state_->sequences.item_count() * 4 + (state_->sequences.size() + 1) * 8;
}
std::string SequenceIndex::first_violation() const {
  if (engine() == Engine::cover_tree && device() != Device::cpu()) return from_bytes(to_bytes()).first_violation();
  return state_->searcher->first_violation();
}
std::string SequenceIndex::explain() const {
  return fmt::format("{}\nsequences: {} of {}, {} items, metric {}\n{}", state_->reason, size(), name_of(kind()),
                     state_->sequences.item_count(), name_of(state_->metric), state_->searcher->describe());
}

}  // namespace kith
