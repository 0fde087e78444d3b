// SequenceIndex: strings and sets as a content. Checks what callers hand in, keeps the sequences, and asks the backend
// of the device.
#include <kith/sequence_index.hpp>

#include "engine/index_file/index_file_writer.hpp"
#include "engine/object_content.hpp"
#include "engine/validate_sequences.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith {

template <>
struct StateOf<SequenceView> {
  SequenceView sequences;  ///< the first offset is 0
  std::shared_ptr<const void> owner;
  SequenceMetric metric = SequenceMetric::edit;
  Engine engine = Engine::brute_force;
  Device device;
  std::string reason;  ///< why this engine and device
  std::unique_ptr<engine::SequenceSearcher> searcher;

  engine::SequenceRows rows() const { return {sequences.items(), sequences.offsets(), sequences.size()}; }
};

namespace {

using engine::IndexFile;
using engine::SectionId;
using SequenceState = StateOf<SequenceView>;

constexpr std::uint64_t kNoOffsets[1] = {0};  ///< of no sequences

/// The sequences of a file; unless it is trusted, all is checked that a search relies on.
SequenceView sequences_in(const IndexFile& file, int threads) {
  const engine::IndexFacts& facts = file.facts();
  const std::span<const std::uint64_t> offsets = file.values<std::uint64_t>(SectionId::offsets, facts.rows + 1);
  // The last offset says how many items there are; a section of another length is refused.
  const std::span<const std::uint32_t> items = file.values<std::uint32_t>(SectionId::items, offsets.back());
  const SequenceView view(facts.sequence_kind, items.data(), offsets.data(), facts.rows);
  if (file.is_trusted()) return view;
  if (offsets.front() != 0) file.refuse(fmt::format("the first offset is {}, not 0", offsets.front()));
  const std::string bad = engine::first_bad_sequence(view, facts.sequence_metric, engine::kAnyLength, threads);
  if (!bad.empty()) file.refuse(bad);
  return view;
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

namespace engine {

template <>
struct Content<SequenceView> : ObjectContent<SequenceView> {
  template <typename T>
  struct Queries : PlainQueries<SequenceQueries> {
    Queries(const SequenceState& state, const SequenceView* queries, const SearchOptions& options) {
      batch.filter = filter_of(options);
      batch.count = answers = queries == nullptr ? state.sequences.size() : queries->size();
      if (queries == nullptr) return;
      const std::uint64_t length = state.sequences.empty() ? kAnyLength : state.sequences.length(0);
      const std::string bad = first_bad_sequence(*queries, state.metric, length, options.threads);
      if (!bad.empty()) throw BadData("queries: " + bad);
      batch.rows = {queries->items(), queries->empty() ? kNoOffsets : queries->offsets(), queries->size()};
    }
  };

  static std::uint64_t size(const SequenceState& state) { return state.sequences.size(); }
  static SearchSubject subject(const SequenceState& state) { return subject_called(name_of(state.metric)); }
  static void require_queries(const SequenceState& state, SequenceView queries) {
    if (queries.empty()) return;
    if (queries.kind() != state.sequences.kind()) {
      throw UsageError(fmt::format("queries: sequences of {}, but the index holds sequences of {}",
                                   name_of(queries.kind()), name_of(state.sequences.kind())));
    }
    require_sequences_view(queries, state.metric, "queries");
  }
  template <typename T>
  static T bound(const SequenceState&, double radius) {
    return core::reduced_bound_of_radius<T>(Metric::l1(), radius);
  }

  static std::uint64_t memory_bytes(const SequenceState& state) {
    return state.searcher->memory_bytes() + state.sequences.item_count() * 4 + (state.sequences.size() + 1) * 8;
  }
  static std::string describe(const SequenceState& state) {
    return fmt::format("sequences: {} of {}, {} items, metric {}\n{}", state.sequences.size(),
                       name_of(state.sequences.kind()), state.sequences.item_count(), name_of(state.metric),
                       state.searcher->describe());
  }
  static void write(const SequenceState& state, const SaveOptions& options, const IndexFileWriter::Sink& sink) {
    const SequenceView view = state.sequences;
    IndexFileWriter writer({.engine = state.engine,
                            .metric = {},
                            .rows = view.size(),
                            .points = view.size(),
                            .content = IndexContent::sequences,
                            .sequence_metric = state.metric,
                            .sequence_kind = view.kind()});
    const RunOptions run{options.threads, &options.progress};
    writer.add(SectionId::items, std::span(view.items(), view.item_count()));
    writer.add(SectionId::offsets, std::span(view.empty() ? kNoOffsets : view.offsets(), view.size() + 1));
    state.searcher->save(writer, run);
    writer.write(run, sink);
  }
  static std::shared_ptr<const SequenceState> load(const IndexFile& file, const LoadOptions& options) {
    require_content(file, IndexContent::sequences);
    auto state = std::make_shared<SequenceState>();
    state->sequences = sequences_in(file, options.threads);
    state->owner = file.owner();
    state->metric = file.facts().sequence_metric;
    load_searcher(*state, file, state->rows(), options);
    return state;
  }
};

}  // namespace engine

template class SearchIndex<SequenceIndex, SequenceView>;

SequenceIndex::SequenceIndex(std::shared_ptr<const SequenceState> state) : SearchIndex(std::move(state)) {}

SequenceIndex SequenceIndex::build(SequenceView sequences, SequenceMetric metric, const BuildOptions& options) {
  engine::require_sequences_view(sequences, metric, "sequences");
  engine::require_object_options(options, "sequences");
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "building");
  const std::string bad = engine::first_bad_sequence(sequences, metric, engine::kAnyLength, options.threads);
  if (!bad.empty()) throw BadData("sequences: " + bad);

  auto state = std::make_shared<SequenceState>();
  const std::uint64_t bytes = sequences.item_count() * 4 + sequences.size() * 8;
  const auto owner =
      engine::with_memory(bytes, "the sequences", [&] { return std::make_shared<SequenceSet>(copy_of(sequences)); });
  state->sequences = owner->view();
  state->owner = owner;
  state->metric = metric;
  engine::build_searcher(*state,
                         {.engine = options.engine,
                          .device = options.device,
                          .objects = sequences.size(),
                          .content = IndexContent::sequences,
                          .queries = options.expected_queries},
                         engine::SequenceBuildRequest{.metric = metric,
                                                      .rows = state->rows(),
                                                      .owner = owner,
                                                      .leaf_size = options.leaf_size,
                                                      .run = {options.threads, &options.progress, options.times}},
                         2 * bytes);
  return SequenceIndex(std::move(state));
}

SequenceView SequenceIndex::sequences() const { return state_->sequences; }
SequenceKind SequenceIndex::kind() const { return state_->sequences.kind(); }
SequenceMetric SequenceIndex::metric() const { return state_->metric; }

}  // namespace kith
