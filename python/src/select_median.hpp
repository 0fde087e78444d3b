// The value of a rank among numbers, without a branch on them: half of such branches would be mispredicted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kith::python {

/// The most numbers whose ranks are counted.
inline constexpr std::size_t kFewValues = 32;

/// Two numbers for one instruction; vectors of the compiler, of the size that every machine has.
typedef double Pair __attribute__((vector_size(16)));

/// The same in an array, where it may begin at any number.
typedef double StoredPair __attribute__((vector_size(16), aligned(8), may_alias));

inline Pair load_pair(const double* values) { return *reinterpret_cast<const StoredPair*>(values); }
inline void store_pair(double* values, Pair pair) { *reinterpret_cast<StoredPair*>(values) = pair; }

/// The lower and the higher of each two numbers. By their names, because compilers may not make one instruction of
/// a < b ? a : b, which has rules for NaN.
inline Pair lower(Pair a, Pair b) {
#if defined(__aarch64__)
  return vminq_f64(a, b);
#elif defined(__SSE2__)
  return _mm_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}
inline Pair higher(Pair a, Pair b) {
#if defined(__aarch64__)
  return vmaxq_f64(a, b);
#elif defined(__SSE2__)
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}

/// Of up to kFewValues numbers, and room for as many: the largest with at most `rank` lower ones.
inline double value_of_rank_by_counts(double* values, std::size_t count, std::size_t rank) {
  typedef std::int64_t Counts __attribute__((vector_size(16)));
  constexpr std::size_t kTogether = 4;  // pairs
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Pair nothing = {-kInfinity, -kInfinity};
  std::fill(values + count, values + (count + 2 * kTogether - 1) / (2 * kTogether) * (2 * kTogether), kInfinity);
  Pair found = nothing;
  for (std::size_t first = 0; first < count; first += 2 * kTogether) {
    Pair own[kTogether];
    Counts lower[kTogether] = {};
    __builtin_memcpy(own, values + first, sizeof(own));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t v = 0; v < kTogether; ++v) lower[v] -= values[i] < own[v];  // true is -1
    }
    for (std::size_t v = 0; v < kTogether; ++v) {
      const Pair candidates = lower[v] <= static_cast<std::int64_t>(rank) ? own[v] : nothing;
      found = higher(found, candidates);
    }
  }
  return std::max(found[0], found[1]);
}

/// Moves the numbers that `belongs` to the front and returns how many they are.
template <typename Belongs>
std::size_t move_to_front(std::span<double> values, Belongs&& belongs) {
  std::size_t front = 0;
  for (double& place : values) {
    const double value = place;
    place = values[front];
    values[front] = value;
    front += belongs(value) ? 1 : 0;
  }
  return front;
}

/// The value of this rank, from 0, by rounds of partitions around the median of eight. Changes the order.
inline double value_of_rank(std::span<double> values, std::size_t rank) {
  constexpr int kMostRounds = 64;  // far more than random pivots take
  for (int round = 0; values.size() > kFewValues && round < kMostRounds; ++round) {
    double sample[8];
    for (std::size_t i = 0; i < 8; ++i) sample[i] = values[(2 * i + 1) * values.size() / 16];
    const double pivot = value_of_rank_by_counts(sample, 8, std::clamp<std::size_t>(rank * 8 / values.size(), 1, 6));
    const std::size_t below = move_to_front(values, [pivot](double value) { return value < pivot; });
    if (rank < below) {
      values = values.first(below);
      continue;
    }
    values = values.subspan(below);
    rank -= below;
    if (below > values.size() / 8) continue;
    const std::size_t equal = move_to_front(values, [pivot](double value) { return value == pivot; });
    if (rank < equal) return pivot;
    values = values.subspan(equal);
    rank -= equal;
  }
  if (values.size() <= kFewValues) {
    double few[kFewValues];
    std::copy(values.begin(), values.end(), few);
    return value_of_rank_by_counts(few, values.size(), rank);
  }
  const auto chosen = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), chosen, values.end());
  return *chosen;
}

}  // namespace kith::python
