// BitIndex and file: save, load.
#include "engine/backend.hpp"
#include "engine/bit_index_state.hpp"
#include "engine/choose_object_engine.hpp"
#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/index_file/stored_index.hpp"
#include "engine/index_file/validate_section.hpp"
#include "runtime/first_match.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith {
namespace {

using engine::IndexFile;
using engine::SectionId;

void write_file(const BitIndexState& state, const SaveOptions& options, const engine::IndexFileWriter::Sink& sink) {
  engine::require_threads(options.threads);
  engine::IndexFileWriter writer({.engine = state.engine,
                                  .metric = {},
                                  .dims = state.bits,
                                  .rows = state.rows,
                                  .points = state.rows,
                                  .content = IndexContent::bits,
                                  .sequence_metric = SequenceMetric::hamming});
  const engine::RunOptions run{options.threads, &options.progress};
  std::vector<std::uint64_t> words(state.rows * state.words_per_row());
  state.searcher->copy_rows(words.data(), run);
  writer.add(SectionId::words, std::span<const std::uint64_t>(words), state.words_per_row());
  state.searcher->save(writer, run);
  writer.write(run, sink);
}

/// Whether anything but zeros follows the last bit of a row. Bits lie in bytes from the highest to the lowest, as
/// BitView has them.
bool has_rest(const std::uint64_t* row, std::uint32_t words, std::uint32_t bits) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(row);
  if (bits % 8 != 0 && (bytes[bits / 8] & (0xffu >> bits % 8)) != 0) return true;
  for (std::uint32_t i = (bits + 7) / 8; i < words * 8; ++i) {
    if (bytes[i] != 0) return true;
  }
  return false;
}

engine::BitRows rows_in(const IndexFile& file, int threads) {
  const engine::IndexFacts& facts = file.facts();
  const std::uint32_t words_per_row = (facts.dims + 63) / 64;
  const std::span<const std::uint64_t> words = file.values<std::uint64_t>(SectionId::words, facts.rows, words_per_row);
  const engine::BitRows rows{words.data(), facts.rows, words_per_row};
  if (file.is_trusted()) return rows;
  constexpr std::uint64_t kRowsPerTask = 4096;
  const std::uint64_t wrong = runtime::first_match(facts.rows, kRowsPerTask, threads, [&](std::uint64_t i) {
    return has_rest(rows.row(i), words_per_row, facts.dims);
  });
  if (wrong < facts.rows) file.refuse(fmt::format("row {} has bits set after its last bit", wrong));
  return rows;
}

std::shared_ptr<const BitIndexState> load_state(const IndexFile& file, const LoadOptions& options) {
  engine::require_content(file, IndexContent::bits);
  const engine::IndexFacts& facts = file.facts();
  engine::Choice choice = [&] {
    const engine::StartTime start(options.times, options.device);
    return engine::choose_object_engine(
        {.engine = facts.engine, .device = options.device, .objects = facts.rows, .content = IndexContent::bits});
  }();
  auto state = std::make_shared<BitIndexState>();
  state->rows = facts.rows;
  state->bits = facts.dims;
  state->engine = facts.engine;
  const engine::BitRows rows = rows_in(file, options.threads);
  engine::make_or_fall_back(options.device, choice, [&](const engine::Choice& chosen) {
    state->searcher = engine::backend_of(chosen.device)
                          .load_bits({file,
                                      {.engine = facts.engine,
                                       .rows = rows,
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

void engine::require_rows_only(const IndexFile& file) {
  file.require_only({SectionId::words});
  require_zero_parameters(file, 0);
}

std::vector<std::uint8_t> BitIndex::packed_rows(int threads) const {
  engine::require_threads(threads);
  return engine::with_memory(2 * memory_bytes(), "the copy of the rows", [&] {
    const std::uint64_t word_bytes = std::uint64_t{state_->words_per_row()} * 8, row_bytes = (state_->bits + 7) / 8;
    std::vector<std::uint64_t> words(state_->rows * state_->words_per_row());
    state_->searcher->copy_rows(words.data(), {.threads = threads});
    std::vector<std::uint8_t> packed(state_->rows * row_bytes);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
    for (std::uint64_t i = 0; i < state_->rows; ++i) {
      std::copy_n(bytes + i * word_bytes, row_bytes, packed.data() + i * row_bytes);
    }
    return packed;
  });
}

void BitIndex::save(const std::string& path, const SaveOptions& options) const {
  engine::save_to_file(path, 2 * memory_bytes(), [&](const auto& sink) { write_file(*state_, options, sink); });
}
std::vector<std::byte> BitIndex::to_bytes(const SaveOptions& options) const {
  return engine::save_to_bytes(2 * memory_bytes(), [&](const auto& sink) { write_file(*state_, options, sink); });
}
BitIndex BitIndex::load(const std::string& path, const LoadOptions& options) {
  return engine::load_from_file(path, options,
                                [&](const IndexFile& file) { return BitIndex(load_state(file, options)); });
}
BitIndex BitIndex::from_bytes(std::span<const std::byte> bytes, const LoadOptions& options) {
  return engine::load_from_bytes(bytes, options,
                                 [&](const IndexFile& file) { return BitIndex(load_state(file, options)); });
}

}  // namespace kith
