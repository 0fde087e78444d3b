// How a batch is cut into chunks, and how two of them are in flight at a time.
#pragma once

#include "engine/searcher.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cuda {

/// Chunks of equal size of at most `most` queries, and of at most as many as fit into `bytes`; at least one query.
inline std::vector<std::uint64_t> equal_chunks(std::uint64_t queries, std::uint64_t bytes_per_query,
                                               std::uint64_t bytes, std::uint64_t most) {
  const std::uint64_t fitting = std::clamp<std::uint64_t>(bytes / std::max<std::uint64_t>(bytes_per_query, 1), 1,
                                                          std::max<std::uint64_t>(most, 1));
  const std::uint64_t chunks = (queries + fitting - 1) / fitting;
  std::vector<std::uint64_t> starts;
  for (std::uint64_t c = 0; c <= chunks; ++c)
    starts.push_back(chunks == 0 ? 0 : queries / chunks * c + std::min(c, queries % chunks));
  return starts;
}

/// Chunks of queries whose answers have different lengths: `offsets` are those of the answers.
inline std::vector<std::uint64_t> chunks_by_answer(const std::vector<std::uint64_t>& offsets,
                                                   std::uint64_t bytes_per_query, std::uint64_t bytes_per_entry,
                                                   std::uint64_t bytes, std::uint64_t most) {
  std::vector<std::uint64_t> starts{0};
  const std::uint64_t queries = offsets.size() - 1;
  for (std::uint64_t q = 0; q < queries; ++q) {
    const std::uint64_t first = starts.back();
    const std::uint64_t needed =
        (q + 1 - first) * bytes_per_query + (offsets[q + 1] - offsets[first]) * bytes_per_entry;
    if (q > first && (needed > bytes || q + 1 - first > most)) starts.push_back(q);
  }
  starts.push_back(queries);
  return starts;
}

/// The longest chunk.
inline std::uint64_t longest(const std::vector<std::uint64_t>& starts) {
  std::uint64_t most = 0;
  for (std::size_t c = 0; c + 1 < starts.size(); ++c) most = std::max(most, starts[c + 1] - starts[c]);
  return most;
}

/// Calls start(chunk, slot) and finish(chunk, slot) for each chunk, slot 0 or 1; the next one is started before one is
/// finished.
template <typename Start, typename Finish>
void run_chunks(const std::vector<std::uint64_t>& starts, const engine::RunOptions& run, Start&& start,
                Finish&& finish) {
  runtime::ProgressMeter meter(run.progress, "searching", starts.back());
  const std::size_t chunks = starts.size() - 1;
  for (std::size_t c = 0; c <= chunks; ++c) {
    if (c < chunks) start(c, c % 2);
    if (c > 0) {
      finish(c - 1, (c - 1) % 2);
      meter.report(starts[c]);
    }
  }
  meter.finish();
}

}  // namespace kith::cuda
