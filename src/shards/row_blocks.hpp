// Loops over many rows by all threads, a block of rows for each task.
#pragma once

#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::shards {

inline constexpr std::uint64_t kRowsPerBlock = 4096;

inline std::uint64_t row_blocks(std::uint64_t rows) { return (rows + kRowsPerBlock - 1) / kRowsPerBlock; }

/// f(block, first row, one behind its last).
template <typename F>
void for_row_blocks(std::uint64_t rows, int threads, const F& f) {
  runtime::parallel_for(row_blocks(rows), {.threads = threads}, [&](std::uint64_t block) {
    f(block, block * kRowsPerBlock, std::min(rows, (block + 1) * kRowsPerBlock));
  });
}

template <typename F>
void for_each_row(std::uint64_t rows, int threads, const F& f) {
  for_row_blocks(rows, threads, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row) f(row);
  });
}

}  // namespace kith::shards
