// Searches on the CPU in chunks that the MemoryLimit of the caller allows.
#pragma once

#include "runtime/memory_limit.hpp"

#include <kith/device.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::engine {

/// What a search on the device may take of host memory; on a GPU it is the GPU's memory that is limited.
inline std::uint64_t allowed_on_host(Device device) {
  return device == Device::cpu() ? runtime::host_memory_limit() : runtime::kNoLimit;
}

/// How many of `count` requests to search at a time, if `bytes(some)` is what so many take. Throws OutOfMemory if not
/// even one is allowed, or not all where they cannot be searched in chunks.
template <typename Bytes>
std::uint64_t allowed_at_once(std::uint64_t count, bool has_chunks, const Bytes& bytes) {
  std::uint64_t some = count;
  while (has_chunks && some > 1 && bytes(some) > runtime::host_memory_limit()) some = (some + 1) / 2;
  runtime::require_allowed(bytes(some), "the search");
  return some;
}

/// Calls search(first, end) for chunks of requests; the answer of request i has the entries [offsets[i],
/// offsets[i + 1]). `bytes(entries, requests)` is what a chunk takes. Throws OutOfMemory if one request is not allowed.
template <typename Bytes, typename Search>
void for_allowed_chunks(std::span<const std::uint64_t> offsets, const Bytes& bytes, const Search& search) {
  const std::uint64_t count = offsets.size() - 1;
  for (std::uint64_t first = 0; first < count;) {
    std::uint64_t end = first + 1;
    runtime::require_allowed(bytes(offsets[end] - offsets[first], 1), "the search");
    while (end < count && bytes(offsets[end + 1] - offsets[first], end + 1 - first) <= runtime::host_memory_limit()) {
      ++end;
    }
    search(first, end);
    first = end;
  }
}

/// Where lists of known lengths, but of at most `most` entries unless that is 0, begin, and the last one ends.
inline std::vector<std::uint64_t> offsets_of(std::span<const std::uint32_t> counts, std::uint32_t most) {
  std::vector<std::uint64_t> offsets(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    offsets[i + 1] = offsets[i] + (most > 0 && counts[i] > most ? most : counts[i]);
  }
  return offsets;
}

}  // namespace kith::engine
