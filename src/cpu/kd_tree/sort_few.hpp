// Sorts a few keys of distance and index by counting for each how many are lower: many comparisons, no branch.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// Ascending; keys are positive and all different. Their upper halves are counted, which hold the distances; if some
/// are equal, or there are many keys, the library sorts.
inline void sort_keys(double* keys, std::size_t count) {
  constexpr std::size_t kFewToSort = 64;
  constexpr std::size_t kLanes = 4, kTogether = 4;
  if (count > kFewToSort) {
    std::sort(keys, keys + count);
    return;
  }
  typedef std::int32_t Halves __attribute__((vector_size(16)));
  constexpr std::size_t kBlock = kLanes * kTogether;
  double own[kFewToSort];
  std::int32_t halves[kFewToSort], places[kFewToSort];
  for (std::size_t i = 0; i < count; ++i) {
    own[i] = keys[i];
    halves[i] = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(keys[i]) >> 32);
    keys[i] = 0;  // a place that is not taken stays zero
  }
  for (std::size_t i = count; i % kBlock != 0; ++i) halves[i] = std::numeric_limits<std::int32_t>::max();
  for (std::size_t first = 0; first < count; first += kBlock) {
    Halves mine[kTogether], lower[kTogether] = {};
    __builtin_memcpy(mine, halves + first, sizeof(mine));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t v = 0; v < kTogether; ++v) lower[v] -= halves[i] < mine[v];  // true is -1
    }
    __builtin_memcpy(places + first, lower, sizeof(lower));
  }
  for (std::size_t i = 0; i < count; ++i) keys[places[i]] = own[i];
  bool is_taken = true;
  for (std::size_t i = 0; i < count; ++i) is_taken &= keys[i] != 0;
  if (is_taken) return;
  std::copy_n(own, count, keys);
  std::sort(keys, keys + count);
}

}  // namespace kith::cpu
