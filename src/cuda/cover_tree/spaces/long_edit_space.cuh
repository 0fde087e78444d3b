// Sequences of up to kMostEditLength symbols by edit distance as objects of the cover tree on the GPU.
//
// As edit_space.cuh, 64 rows of the table at a time: the words of a block of rows stay in registers while a lane goes
// through its sequence, and what the block below needs of the last row is kept in two bits for each column.
#pragma once

#include "cuda/cover_tree/spaces/edit_space.cuh"

#include <cstdint>

namespace kith::cuda {

/// Rows are those of sequence_words.hpp.
class LongEditSpace {
 public:
  using Value = float;
  static constexpr bool kIsExact = true;
  static constexpr bool kHasHeads = true;

  /// Rows of so many words, of so many symbols; those that are prepared have up to `most_prepared` symbols.
  LongEditSpace(std::uint32_t words, std::uint32_t symbols, std::uint32_t most_prepared)
      : words_(words), symbols_(symbols), blocks_(edit_blocks(most_prepared)) {}

  KITH_HOST_DEVICE std::uint32_t stride() const { return words_; }
  KITH_HOST_DEVICE std::uint32_t context_bytes() const {
    return static_cast<std::uint32_t>(sizeof(EditHead)) + (symbols_ * blocks_ * 8 + 15) / 16 * 16;
  }

  __device__ void prepare(std::byte* memory, RowView row) const {
    auto* table = reinterpret_cast<std::uint32_t*>(memory + sizeof(EditHead));
    if (lane_number() == 0) EditHead::prepare(memory, row);
    for (std::uint32_t i = lane_number(); i < symbols_ * blocks_ * 2; i += kWarp) table[i] = 0;
    sync_warp();
    for (std::uint32_t i = lane_number(); i < row[0]; i += kWarp) {
      const std::uint32_t symbol = row[kHeadWords + i / 4] >> (8 * (i % 4)) & 0xff;
      if (symbol < symbols_) atomic_or(&table[symbol * blocks_ * 2 + i / 32], 1u << i % 32);
    }
    sync_warp();
  }

  __device__ float least(const std::byte* prepared, RowView row) const { return EditHead::least(prepared, row); }

  __device__ float measure(const std::byte* prepared, RowView row, float limit) const {
    const float bound = least(prepared, row);
    if (bound > limit) return bound;
    const std::uint32_t own = reinterpret_cast<const EditHead*>(prepared)->counts.length, length = row[0];
    if (own == 0) return static_cast<float>(length);
    const auto* table = reinterpret_cast<const std::uint64_t*>(prepared + sizeof(EditHead));
    std::uint32_t rises[kMostEditLength / 32], falls[kMostEditLength / 32];  // of the row above, a bit for each column
    const std::uint32_t last = (own - 1) / 64;
    std::uint32_t distance = own;
    for (std::uint32_t block = 0; block <= last; ++block) {
      const std::uint32_t bottom = block < last ? 63 : (own - 1) % 64;
      std::uint64_t up = ~std::uint64_t{0}, down = 0;
      for (std::uint32_t first = 0; first < length; first += 32) {
        const std::uint32_t rising = block == 0 ? 0xffffffffu : rises[first / 32];
        const std::uint32_t falling = block == 0 ? 0u : falls[first / 32];
        const std::uint32_t columns = length - first < 32 ? length - first : 32;
        std::uint32_t rose = 0, fell = 0, four = 0;
        for (std::uint32_t i = 0; i < columns; ++i, four >>= 8) {
          if (i % 4 == 0) four = row[kHeadWords + (first + i) / 4];
          const std::uint32_t rise = rising >> i & 1, fall = falling >> i & 1;
          std::uint64_t equal = table[(four & 0xff) * blocks_ + block];
          const std::uint64_t vertical = equal | down;
          equal |= fall;
          const std::uint64_t horizontal = (((equal & up) + up) ^ up) | equal;
          std::uint64_t right = down | ~(horizontal | up), left = up & horizontal;
          rose |= static_cast<std::uint32_t>(right >> bottom & 1) << i;
          fell |= static_cast<std::uint32_t>(left >> bottom & 1) << i;
          right = right << 1 | rise;
          left = left << 1 | fall;
          up = left | ~(vertical | right);
          down = right & vertical;
        }
        rises[first / 32] = rose;
        falls[first / 32] = fell;
        if (block == last) distance += count_bits(rose) - count_bits(fell);
      }
    }
    return static_cast<float>(distance);
  }
  KITH_HOST_DEVICE double metric(float value) const { return static_cast<double>(value); }
  KITH_HOST_DEVICE core::CoverRounding rounding() const { return {}; }

 private:
  std::uint32_t words_;
  std::uint32_t symbols_;
  std::uint32_t blocks_;
};

static_assert(DeviceSpace<LongEditSpace>);

}  // namespace kith::cuda
