// The lists of a radius search on the CPU under a MemoryLimit: all neighbours were counted first, so that it is known
// what the lists take.
#pragma once

#include "core/order/candidate.hpp"
#include "engine/allowed_chunks.hpp"
#include "engine/searcher.hpp"
#include "runtime/memory_limit.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::engine {

/// Lists of `list(batch)` for all queries at once, or for chunks that are allowed. `offsets` says where each list
/// begins, and the last one ends; `search_bytes(some)` is what a search of so many queries takes besides lists. Throws
/// OutOfMemory.
template <typename T, typename Batch, typename SearchBytes, typename List>
ReducedLists<T> limited_lists(const Batch& queries, std::vector<std::uint64_t> offsets, const SearchBytes& search_bytes,
                              const List& list) {
  const std::uint64_t count = queries.count, entries = offsets.back();
  const auto answer_bytes = [](std::uint64_t found, std::uint64_t some) {
    return found * (sizeof(T) + sizeof(std::uint32_t)) + some * sizeof(std::uint64_t);
  };
  // Tasks keep what they find until it is joined, in arrays that grow by doubling.
  const auto chunk_bytes = [&](std::uint64_t found, std::uint64_t some) {
    return search_bytes(some) + 2 * found * sizeof(core::Candidate<T>) + 32 * some + answer_bytes(found, some) +
           count * sizeof(std::uint64_t);
  };
  if (queries.is_self() || chunk_bytes(entries, count) <= runtime::host_memory_limit()) {
    runtime::require_allowed(chunk_bytes(entries, count), "the search");
    return list(queries);
  }
  ReducedLists<T> all{{}, std::vector<std::uint32_t>(), std::vector<T>()};
  for_allowed_chunks(
      offsets,
      [&](std::uint64_t found, std::uint64_t some) { return answer_bytes(entries, count) + chunk_bytes(found, some); },
      [&](std::uint64_t first, std::uint64_t end) {
        if (first == 0) all.indices.reserve(entries), all.reduced.reserve(entries);
        const ReducedLists<T> found = list(queries.chunk(first, end - first));
        all.indices.insert(all.indices.end(), found.indices.begin(), found.indices.end());
        all.reduced.insert(all.reduced.end(), found.reduced.begin(), found.reduced.end());
      });
  all.offsets = std::move(offsets);
  return all;
}

}  // namespace kith::engine
