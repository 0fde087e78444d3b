// How the queries of a kNN search from host memory are cut into chunks, and what these take of a GPU's memory.
#pragma once

#include "cuda/runtime/chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cuda {

/// What an engine takes at most for each query besides the query itself and its answer.
struct KnnExtra {
  std::uint64_t in_flight = 24;  ///< of every chunk in flight
  std::uint64_t searched = 0;    ///< of the chunk that is searched: the next one reuses it
};

template <typename T>
inline constexpr std::uint64_t kBytesPerNeighbor = sizeof(T) + sizeof(std::uint32_t);

/// What each query of a kNN search takes.
struct KnnQueryBytes {
  std::uint64_t in_flight = 0, searched = 0;  ///< as those of KnnExtra
  std::uint64_t all() const { return in_flight + searched; }
};

/// `more`: limits and flags of the queries themselves.
template <typename T>
constexpr KnnQueryBytes knn_query_bytes(std::uint32_t dims, std::uint64_t k, bool is_self, const KnnExtra& extra,
                                        std::uint64_t more = 0) {
  return {(is_self ? 0 : dims * sizeof(T)) + k * kBytesPerNeighbor<T> + extra.in_flight + more, extra.searched};
}

/// Where the chunks begin, and the last one ends, if queries and answers in flight may take `bytes`. The points ask in
/// the order of the leaves, all at once if memory suffices: then neighbours share what they read.
inline std::vector<std::uint64_t> knn_chunks(std::uint64_t queries, bool is_self, const KnnQueryBytes& each,
                                             std::uint64_t bytes) {
  // The bytes of a chunk that keep the GPU and the bus busy; more only take memory.
  constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;
  if (is_self && queries * each.all() <= bytes) return {0, queries};
  return equal_chunks(queries, each.all(), is_self ? bytes / 2 : std::min(bytes / 2, kChunkBytes),
                      std::uint64_t{1} << 31);
}

/// What the queries and answers of those chunks take at a time, two of them in flight.
inline std::uint64_t bytes_in_flight(const std::vector<std::uint64_t>& starts, const KnnQueryBytes& each) {
  return std::min<std::uint64_t>(starts.size() - 1, 2) * longest(starts) * each.in_flight;
}

}  // namespace kith::cuda
