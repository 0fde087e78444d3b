// Sequences by edit distance as objects of the cover tree on the GPU. The one that is prepared has up to 32 or 64
// symbols; others may be longer.
//
// A lane goes through its own sequence, a column of the table of Levenshtein at a time: where neighbours in a column
// differ by +1 and by -1 are the bits of two words (Myers). About 16 instructions a symbol, twice that for 64 bits.
#pragma once

#include "cuda/cover_tree/spaces/edit_bound.cuh"
#include "cuda/cover_tree/spaces/sequence_words.hpp"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>
#include <type_traits>

namespace kith::cuda {

/// What all edit distances prepare first.
struct EditHead {
  SymbolCounts counts;
  std::uint32_t bits;  ///< how many there are in counts

  __device__ static SymbolCounts counts_of(RowView row) { return {row[0], row[1], row[2]}; }
  /// By one lane.
  __device__ static void prepare(std::byte* memory, RowView row) {
    const SymbolCounts counts = counts_of(row);
    *reinterpret_cast<EditHead*>(memory) = {counts, count_bits(counts.low) + count_bits(counts.high)};
  }
  __device__ static float least(const std::byte* prepared, RowView row) {
    return static_cast<float>(least_edits(reinterpret_cast<const EditHead*>(prepared)->counts, counts_of(row)));
  }
};
static_assert(sizeof(EditHead) == 16);

/// Rows are those of sequence_words.hpp.
template <typename Word>
class EditSpace {
 public:
  using Value = float;
  static constexpr bool kIsExact = true;
  static constexpr bool kHasHeads = true;
  static constexpr std::uint32_t kMostPrepared = 8 * sizeof(Word);  ///< symbols
  static_assert(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>);

  /// Rows of so many words, of so many symbols.
  EditSpace(std::uint32_t words, std::uint32_t symbols) : words_(words), symbols_(symbols) {}

  KITH_HOST_DEVICE std::uint32_t stride() const { return words_; }
  KITH_HOST_DEVICE std::uint32_t context_bytes() const {
    return static_cast<std::uint32_t>(sizeof(EditHead)) + (symbols_ * kHalves * 4 + 15) / 16 * 16;
  }

  /// For each symbol the places where it is, the last symbol of the sequence at the highest bit.
  __device__ void prepare(std::byte* memory, RowView row) const {
    auto* table = reinterpret_cast<std::uint32_t*>(memory + sizeof(EditHead));
    const std::uint32_t length = row[0], shift = kMostPrepared - length;
    if (lane_number() == 0) EditHead::prepare(memory, row);
    for (std::uint32_t i = lane_number(); i < symbols_ * kHalves; i += kWarp) table[i] = 0;
    sync_warp();
    for (std::uint32_t i = lane_number(); i < length; i += kWarp) {
      const std::uint32_t symbol = row[kHeadWords + i / 4] >> (8 * (i % 4)) & 0xff, place = i + shift;
      if (symbol < symbols_) atomic_or(&table[symbol * kHalves + place / 32], 1u << place % 32);
    }
    sync_warp();
  }

  __device__ float least(const std::byte* prepared, RowView row) const { return EditHead::least(prepared, row); }

  __device__ float measure(const std::byte* prepared, RowView row, float limit) const {
    const float bound = least(prepared, row);
    if (bound > limit) return bound;
    const std::uint32_t own = reinterpret_cast<const EditHead*>(prepared)->counts.length, length = row[0];
    if (own == 0) return static_cast<float>(length);
    const auto* table = reinterpret_cast<const Word*>(prepared + sizeof(EditHead));
    // Below the bits of the sequence is its upper border, where every step to the right is +1: neither word has bits
    // there, and `right` always has.
    Word up = ~Word{0} << (kMostPrepared - own), down = 0;
    std::uint32_t distance = own;
    for (std::uint32_t first = 0; first < length; first += 4) {
      std::uint32_t four = row[kHeadWords + first / 4];
      const std::uint32_t end = length - first < 4 ? length - first : 4;
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i, four >>= 8) {
        if (i >= end) break;
        const Word equal = table[four & 0xff];
        const Word vertical = equal | down;
        const Word horizontal = (((equal & up) + up) ^ up) | equal;
        Word right = down | ~(horizontal | up), left = up & horizontal;
        distance += static_cast<std::uint32_t>(right >> (kMostPrepared - 1));
        distance -= static_cast<std::uint32_t>(left >> (kMostPrepared - 1));
        right = right << 1 | 1;
        left <<= 1;
        up = left | ~(vertical | right);
        down = right & vertical;
      }
    }
    return static_cast<float>(distance);
  }
  KITH_HOST_DEVICE double metric(float value) const { return static_cast<double>(value); }
  KITH_HOST_DEVICE core::CoverRounding rounding() const { return {}; }

 private:
  static constexpr std::uint32_t kHalves = sizeof(Word) / 4;

  std::uint32_t words_;
  std::uint32_t symbols_;
};

static_assert(DeviceSpace<EditSpace<std::uint32_t>> && DeviceSpace<EditSpace<std::uint64_t>>);

}  // namespace kith::cuda
