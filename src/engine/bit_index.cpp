// BitIndex: rows of bits as a content. Checks what callers hand in, puts rows into words, and asks the backend of the
// device.
#include <kith/bit_index.hpp>

#include "core/metric/reported_distance.hpp"
#include "engine/bit_state.hpp"
#include "engine/bit_words.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/index_file/validate_section.hpp"
#include "engine/object_content.hpp"
#include "runtime/first_match.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace kith {

namespace {

using engine::IndexFile;
using engine::SectionId;
using BitState = StateOf<BitView>;

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

}  // namespace

namespace engine {

void require_bit_queries(const BitState& state, BitView queries) {
  if (!queries.empty() && queries.bits() != state.bits) {
    throw UsageError(fmt::format("queries: {} bits per row, but the points have {}", queries.bits(), state.bits));
  }
  require_rows(queries, "queries");
}

template <>
struct Content<BitView> : ObjectContent<BitView> {
  template <typename T>
  struct Queries : PlainQueries<BitQueries> {
    std::optional<BitWords> words;

    Queries(const BitState& state, const BitView* queries, const SearchOptions& options) {
      batch.filter = filter_of(options);
      batch.count = answers = queries == nullptr ? state.rows : queries->rows();
      if (queries == nullptr) return;
      words.emplace(*queries, "the queries", RunOptions{.threads = options.threads});
      batch.rows = words->rows();
    }
    std::uint64_t copied_bytes() const { return batch.rows.count * batch.rows.words_per_row * 8; }
  };

  static std::uint64_t size(const BitState& state) { return state.rows; }
  static SearchSubject subject(const BitState&) { return subject_called("hamming"); }
  static void require_queries(const BitState& state, BitView queries) { require_bit_queries(state, queries); }
  template <typename T>
  static T bound(const BitState&, double radius) {
    return core::whole_bound_of_radius(radius);
  }

  static std::uint64_t memory_bytes(const BitState& state) { return state.searcher->memory_bytes(); }
  static std::string describe(const BitState& state) { return state.searcher->describe(); }
  static void write(const BitState& state, const SaveOptions& options, const IndexFileWriter::Sink& sink) {
    IndexFileWriter writer({.engine = state.engine,
                            .metric = {},
                            .dims = state.bits,
                            .rows = state.rows,
                            .points = state.rows,
                            .content = IndexContent::bits,
                            .sequence_metric = SequenceMetric::hamming});
    const RunOptions run{options.threads, &options.progress};
    const std::vector<std::uint64_t> words = state.words(run);
    writer.add(SectionId::words, std::span<const std::uint64_t>(words), state.words_per_row());
    state.searcher->save(writer, run);
    writer.write(run, sink);
  }
  static std::shared_ptr<const BitState> load(const IndexFile& file, const LoadOptions& options) {
    require_content(file, IndexContent::bits);
    auto state = std::make_shared<BitState>();
    state->rows = file.facts().rows;
    state->bits = file.facts().dims;
    load_searcher(*state, file, rows_in(file, options.threads), options);
    return state;
  }
};

void require_rows_only(const IndexFile& file) {
  file.require_only({SectionId::words});
  require_zero_parameters(file, 0);
}

}  // namespace engine

template class SearchIndex<BitIndex, BitView>;

BitIndex::BitIndex(std::shared_ptr<const BitState> state) : SearchIndex(std::move(state)) {}

BitIndex BitIndex::build(BitView rows, const BuildOptions& options) {
  require_points(rows);
  engine::require_object_options(options, "bits");
  const engine::TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "building");
  auto state = std::make_shared<BitState>();
  state->rows = rows.rows();
  state->bits = rows.bits();
  const engine::RunOptions run{options.threads, &options.progress, options.times};
  const auto words = std::make_shared<engine::BitWords>(rows, "the points", run);
  engine::build_searcher(
      *state,
      {.engine = options.engine, .device = options.device, .objects = rows.rows(), .content = IndexContent::bits},
      engine::BitBuildRequest{.rows = words->rows(), .owner = words, .leaf_size = options.leaf_size, .run = run},
      rows.rows() * words->rows().words_per_row * 8);
  return BitIndex(std::move(state));
}

std::vector<std::uint8_t> BitIndex::packed_rows(int threads) const {
  engine::require_threads(threads);
  return engine::with_memory(2 * memory_bytes(), "the copy of the rows", [&] {
    const std::uint64_t word_bytes = std::uint64_t{state_->words_per_row()} * 8, row_bytes = (state_->bits + 7) / 8;
    const std::vector<std::uint64_t> words = state_->words({.threads = threads});
    std::vector<std::uint8_t> packed(state_->rows * row_bytes);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
    for (std::uint64_t i = 0; i < state_->rows; ++i) {
      std::copy_n(bytes + i * word_bytes, row_bytes, packed.data() + i * row_bytes);
    }
    return packed;
  });
}

std::uint32_t BitIndex::bits() const { return state_->bits; }

}  // namespace kith
