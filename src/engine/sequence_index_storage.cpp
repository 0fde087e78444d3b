// SequenceIndex and file: save, load.
#include "engine/backend.hpp"
#include "engine/choose_object_engine.hpp"
#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/index_file/stored_index.hpp"
#include "engine/sequence_index_state.hpp"
#include "engine/validate_sequences.hpp"

#include <kith/error.hpp>
#include <kith/sequence_index.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith {
namespace {

using engine::IndexFile;
using engine::SectionId;

void write_file(const SequenceIndexState& state, const SaveOptions& options,
                const engine::IndexFileWriter::Sink& sink) {
  engine::require_threads(options.threads);
  engine::IndexFileWriter writer({.engine = state.engine,
                                  .metric = {},
                                  .rows = state.sequences.size(),
                                  .points = state.sequences.size(),
                                  .content = IndexContent::sequences,
                                  .sequence_metric = state.metric,
                                  .sequence_kind = state.sequences.kind()});
  const engine::RunOptions run{options.threads, &options.progress};
  static constexpr std::uint64_t kNoSequences[1] = {0};
  const SequenceView view = state.sequences;
  const std::uint64_t* offsets = view.empty() ? kNoSequences : view.offsets();
  writer.add(SectionId::items, std::span(view.items(), view.item_count()));
  writer.add(SectionId::offsets, std::span(offsets, view.size() + 1));
  state.searcher->save(writer, run);
  writer.write(run, sink);
}

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

std::shared_ptr<const SequenceIndexState> load_state(const IndexFile& file, const LoadOptions& options) {
  engine::require_content(file, IndexContent::sequences);
  const engine::IndexFacts& facts = file.facts();
  engine::Choice choice = [&] {
    const engine::StartTime start(options.times, options.device);
    return engine::choose_object_engine({.engine = facts.engine,
                                         .device = options.device,
                                         .objects = facts.rows,
                                         .content = IndexContent::sequences,
                                         .metric = facts.sequence_metric});
  }();
  auto state = std::make_shared<SequenceIndexState>();
  state->sequences = sequences_in(file, options.threads);
  state->owner = file.owner();
  state->metric = facts.sequence_metric;
  state->engine = facts.engine;
  engine::make_or_fall_back(options.device, choice, [&](const engine::Choice& chosen) {
    state->searcher = engine::backend_of(chosen.device)
                          .load_sequences({file,
                                           {.engine = facts.engine,
                                            .metric = facts.sequence_metric,
                                            .rows = state->rows(),
                                            .owner = file.owner(),
                                            .device = chosen.device,
                                            .run = {options.threads, &options.progress, options.times}}});
  });
  choice.change_engine(facts.engine, engine::loaded_text(file));
  state->device = choice.device;
  state->reason = choice.reason;
  return state;
}

}  // namespace

void SequenceIndex::save(const std::string& path, const SaveOptions& options) const {
  engine::save_to_file(path, memory_bytes(), [&](const auto& sink) { write_file(*state_, options, sink); });
}
std::vector<std::byte> SequenceIndex::to_bytes(const SaveOptions& options) const {
  return engine::save_to_bytes(memory_bytes(), [&](const auto& sink) { write_file(*state_, options, sink); });
}
SequenceIndex SequenceIndex::load(const std::string& path, const LoadOptions& options) {
  return engine::load_from_file(path, options,
                                [&](const IndexFile& file) { return SequenceIndex(load_state(file, options)); });
}
SequenceIndex SequenceIndex::from_bytes(std::span<const std::byte> bytes, const LoadOptions& options) {
  return engine::load_from_bytes(bytes, options,
                                 [&](const IndexFile& file) { return SequenceIndex(load_state(file, options)); });
}

}  // namespace kith
