// How the queries of a kNN search from host memory are cut into chunks.
#pragma once

#include "cuda/runtime/chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cuda {

/// What a kNN search takes for each query, and for each of its neighbours.
template <typename T>
constexpr std::uint64_t knn_bytes_per_query(std::uint32_t dims) {
  return dims * sizeof(T) + 24;
}
template <typename T>
inline constexpr std::uint64_t kBytesPerNeighbor = sizeof(T) + sizeof(std::uint32_t);

/// Where the chunks begin, and the last one ends, if queries and answers in flight may take `bytes`. The points ask in
/// the order of the leaves, all at once if memory suffices: then neighbours share what they read.
inline std::vector<std::uint64_t> knn_chunks(std::uint64_t queries, bool is_self, std::uint64_t per_query,
                                             std::uint64_t bytes) {
  // The bytes of a chunk that keep the GPU and the bus busy; more only take memory.
  constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;
  if (is_self && queries * per_query <= bytes) return {0, queries};
  return equal_chunks(queries, per_query, is_self ? bytes / 2 : std::min(bytes / 2, kChunkBytes),
                      std::uint64_t{1} << 31);
}

}  // namespace kith::cuda
