// See bit_words.hpp.
#include "engine/bit_words.hpp"

#include "engine/with_memory.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstring>

namespace kith::engine {

BitWords::BitWords(BitView view, std::string_view what, const RunOptions& run)
    : count_(view.rows()), words_per_row_((view.bits() + 63) / 64) {
  constexpr std::uint64_t kBytesPerBlock = 1 << 20;
  const std::uint64_t row_bytes = std::uint64_t{words_per_row_} * 8;
  const std::uint64_t bytes = std::max<std::uint64_t>(count_ * row_bytes, 8);  // never without words: that means self
  with_memory(bytes, what, [&] { memory_ = runtime::LargeBuffer(bytes); });
  if (count_ == 0) return;
  const std::uint64_t given = (view.bits() + 7) / 8;
  const auto last = static_cast<unsigned char>(0xff << ((8 - view.bits() % 8) % 8));
  const std::uint64_t rows_per_block = std::max<std::uint64_t>(1, kBytesPerBlock / row_bytes);
  runtime::parallel_for((count_ + rows_per_block - 1) / rows_per_block,
                        {.threads = run.threads,
                         .stage = "packing",
                         .progress = run.progress,
                         .units_per_task = rows_per_block,
                         .total_units = count_},
                        [&](std::uint64_t block) {
                          const std::uint64_t end = std::min(count_, (block + 1) * rows_per_block);
                          for (std::uint64_t i = block * rows_per_block; i < end; ++i) {
                            auto* const to = reinterpret_cast<unsigned char*>(memory_.data()) + i * row_bytes;
                            std::memcpy(to, view.row(i), given);
                            to[given - 1] &= last;
                            std::memset(to + given, 0, row_bytes - given);
                          }
                        });
}

}  // namespace kith::engine
