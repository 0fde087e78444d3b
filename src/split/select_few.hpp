// The value of a given rank among a few numbers, by counting for each how many are lower: many comparisons, no branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace kith::split {

/// The most numbers that select_few takes.
inline constexpr std::size_t kFewKeys = 32;

/// The numbers of two ranks, low_rank <= high_rank. `keys` has room for kFewKeys numbers; those from `count` on are
/// overwritten. Vectors of the compiler, of the size that every machine has: this is too short for a choice at run
/// time.
template <typename T>
std::pair<T, T> select_few(T* keys, std::size_t count, std::size_t low_rank, std::size_t high_rank) {
  using Counter = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef T Keys __attribute__((vector_size(16)));
  typedef Counter Counters __attribute__((vector_size(16)));
  constexpr std::size_t kLanes = 16 / sizeof(T);
  constexpr std::size_t kTogether = 4;
  constexpr T kNothing = std::numeric_limits<T>::lowest();
  for (std::size_t i = count; i < kFewKeys; ++i) keys[i] = std::numeric_limits<T>::max();
  const Keys nothing = Keys{} + kNothing;
  Keys low = nothing, high = nothing;
  for (std::size_t first = 0; first < count; first += kTogether * kLanes) {
    Keys own[kTogether];
    Counters lower[kTogether] = {};
    __builtin_memcpy(own, keys + first, sizeof(own));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t v = 0; v < kTogether; ++v) lower[v] -= keys[i] < own[v];  // true is -1
    }
    // The number of a rank is the largest of those with at most as many lower ones.
    for (std::size_t v = 0; v < kTogether; ++v) {
      const Keys low_own = lower[v] <= static_cast<Counter>(low_rank) ? own[v] : nothing;
      const Keys high_own = lower[v] <= static_cast<Counter>(high_rank) ? own[v] : nothing;
      low = low_own > low ? low_own : low;
      high = high_own > high ? high_own : high;
    }
  }
  std::pair<T, T> found{kNothing, kNothing};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    found.first = low[lane] > found.first ? low[lane] : found.first;
    found.second = high[lane] > found.second ? high[lane] : found.second;
  }
  return found;
}

}  // namespace kith::split
