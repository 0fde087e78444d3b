// Figures of distances on a GPU: what the kernels get. Plain data, for host and device; all arrays are in device
// memory.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/primitives/sort_pairs.hpp"

#include <cstdint>

namespace kith::cuda {

/// Begins as 0.
struct NearestFacts {
  std::uint64_t most = 0;  ///< the bits of the largest distance
  double sums[2] = {};     ///< of distances and of their squares
  std::uint32_t matched = 0;
  std::uint32_t inverted_row = 0;  ///< all bits of the first row at that distance, inverted
  std::uint32_t bad = 0;
  std::uint32_t counter = 0;  ///< of blocks that have added up
};

/// The answers of a search for one neighbour.
template <typename T>
struct NearestTask {
  const std::uint32_t* found = nullptr;  ///< `points` if there is none
  const T* distances = nullptr;
  std::uint64_t count = 0;
  std::uint32_t points = 0;
  double* wide = nullptr;                 ///< may be null, as those that follow
  std::uint32_t* nearest = nullptr;       ///< 2^32 - 1 if there is none
  KeyedPairs<OrderedKey<T>> ranked = {};  ///< to be sorted for percentiles; those without a neighbour come last
  NearestFacts* facts = nullptr;
};

struct FlagTask {
  const double* means = nullptr;  ///< null: by count
  double threshold = 0;
  const std::uint32_t* counts = nullptr;
  std::uint32_t min_neighbors = 0;
  std::uint64_t count = 0;
  std::uint8_t* flags = nullptr;
  std::uint32_t* kept = nullptr;
};

}  // namespace kith::cuda
