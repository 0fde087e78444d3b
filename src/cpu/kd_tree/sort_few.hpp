// Sorts a few different numbers by counting for each how many are lower: many comparisons, no branch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// Ascending. The numbers are all different. Above kFewToSort the library sorts.
inline void sort_keys(double* keys, std::size_t count) {
  constexpr std::size_t kFewToSort = 64;
  constexpr std::size_t kLanes = 2, kTogether = 8;
  if (count > kFewToSort) {
    std::sort(keys, keys + count);
    return;
  }
  typedef double Keys __attribute__((vector_size(16)));
  typedef std::int64_t Counters __attribute__((vector_size(16)));
  constexpr std::size_t kBlock = kLanes * kTogether;
  double own[kFewToSort];
  std::copy_n(keys, count, own);
  for (std::size_t i = count; i % kBlock != 0; ++i) own[i] = std::numeric_limits<double>::infinity();
  for (std::size_t first = 0; first < count; first += kBlock) {
    Keys mine[kTogether];
    Counters lower[kTogether] = {};
    __builtin_memcpy(mine, own + first, sizeof(mine));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t v = 0; v < kTogether; ++v) lower[v] -= own[i] < mine[v];  // true is -1
    }
    const std::size_t end = std::min(kBlock, count - first);
    for (std::size_t i = 0; i < end; ++i) keys[lower[i / kLanes][i % kLanes]] = own[first + i];
  }
}

}  // namespace kith::cpu
