// A short piece of work for each of many rows, by all threads.
#pragma once

#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::apps::inline v0 {

/// Calls `each(row)` for every row below `rows`, many to a task, in no particular order of tasks.
template <typename Each>
void for_each_row(std::uint64_t rows, const runtime::ParallelOptions& options, const Each& each) {
  constexpr std::uint64_t kRowsPerTask = 256;
  runtime::parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, options, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(rows, (task + 1) * kRowsPerTask);
    for (std::uint64_t row = task * kRowsPerTask; row < end; ++row) each(row);
  });
}

}  // namespace kith::apps::inline v0
