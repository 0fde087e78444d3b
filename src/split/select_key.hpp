// The value of a given rank among many numbers: a bracket from a sample, the few numbers inside it, again.
#pragma once

#include "split/partition_records.hpp"
#include "split/select_few.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace kith::split {

/// The numbers of a range that lie in a bracket, and how many lie below it.
struct BracketCount {
  std::size_t below = 0;
  std::size_t inside = 0;
};

/// What a selection compares.
template <typename T>
requires std::is_arithmetic_v<T> T key_of(T key) { return key; }

/// Two numbers between which a rank probably lies.
template <typename T>
struct Bracket {
  T low;
  T high;

  /// Whether low <= key <= high. Of integers by one comparison: compilers make branches of two.
  bool holds(T key) const {
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<Bits>(key) - static_cast<Bits>(low) <= static_cast<Bits>(high) - static_cast<Bits>(low);
    } else {
      return static_cast<bool>((key >= low ? 1 : 0) & (key <= high ? 1 : 0));
    }
  }

  /// To everything on one side of it.
  void widen(bool downwards) {
    *this = downwards ? Bracket{std::numeric_limits<T>::lowest(), low} : Bracket{high, std::numeric_limits<T>::max()};
  }

  /// Copies the numbers inside to `kept`, which may be more than numbers: see key_of. No branch on the data.
  template <typename KeyAt, typename Kept>
  BracketCount keep(const KeyAt& key_at, std::size_t count, Kept* kept) const {
    BracketCount found;
    for (std::size_t i = 0; i < count;) {
      if (i > 0) runtime::look_for_stop();
      for (const std::size_t end = std::min(count, i + std::size_t{kRecordsPerLook}); i < end; ++i) {
        const Kept one = key_at(i);
        const T key = key_of(one);
        found.below += key < low ? 1 : 0;
        kept[found.inside] = one;
        found.inside += holds(key) ? 1 : 0;
      }
    }
    return found;
  }
};

/// Of fewer numbers than this the sample is small, and the bracket may hold half of them.
inline constexpr std::size_t kSmallNode = 8192;

/// From a sample of the range, spread evenly. The rank lies inside unless it is two or three standard deviations away
/// from what the sample says.
template <typename T, typename KeyAt>
Bracket<T> guess_bracket(const KeyAt& key_at, std::size_t count, std::size_t rank) {
  if (count < kSmallNode) {
    const std::size_t size = count < 1024 ? 16 : kFewKeys;
    const std::size_t margin = size / 8 + 2;
    std::array<T, kFewKeys> sample;
    for (std::size_t i = 0; i < size; ++i) sample[i] = key_at((2 * i + 1) * count / (2 * size));
    const std::size_t place = rank * size / count;
    const auto [low, high] =
        select_few(sample.data(), size, place > margin ? place - margin : 0, std::min(place + margin, size - 1));
    return {low, high};
  }
  const std::size_t size = count < 65536 ? 256 : 1024;
  const std::size_t margin = size < 1024 ? 24 : 48;
  std::array<T, 1024> sample;
  for (std::size_t i = 0; i < size; ++i) sample[i] = key_at((2 * i + 1) * count / (2 * size));
  const std::size_t place = rank * size / count;
  T* low = sample.data() + (place > margin ? place - margin : 0);
  T* high = sample.data() + std::min(place + margin, size - 1);
  std::nth_element(sample.data(), low, sample.data() + size);
  const T lowest = *low;
  std::nth_element(low, high, sample.data() + size);
  return {lowest, *high};
}

/// Room for the numbers that a selection has to look at again.
template <typename T>
struct KeyStorage {
  T* first;   ///< as many as there are numbers in all
  T* second;  ///< `second_size`: the fewer, the more often a selection falls back to the library's
  std::size_t second_size;
};

/// Numbers side by side.
template <typename T>
struct KeyArray {
  const T* keys;

  T operator()(std::size_t i) const { return keys[i]; }
};

/// The number of rank `rank` (0-based) among key_at(0) .. key_at(count - 1). O(count): where a bracket takes nothing
/// away, which many equal numbers can do, the library's selection does the rest.
template <typename T, typename KeyAt>
T select_key(const KeyAt& key_at, std::size_t count, std::size_t rank, const KeyStorage<T>& storage) {
  T* first = storage.first;
  if (count <= kFewKeys) {
    std::array<T, kFewKeys> few;
    for (std::size_t i = 0; i < count; ++i) few[i] = key_at(i);
    return select_few(few.data(), count, rank, rank).first;
  }
  Bracket<T> bracket = guess_bracket<T>(key_at, count, rank);
  BracketCount found = bracket.keep(key_at, count, first);
  if (rank < found.below || rank >= found.below + found.inside) {  // missed: everything on the side where it lies
    bracket.widen(rank < found.below);
    found = bracket.keep(key_at, count, first);
  }
  if (bracket.low == bracket.high) return bracket.low;
  if (found.inside <= storage.second_size && found.inside < count) {
    return select_key<T>(KeyArray<T>{first}, found.inside, rank - found.below, {storage.second, first, count});
  }
  for (std::size_t i = 0; i < count; ++i) first[i] = key_at(i);
  std::nth_element(first, first + rank, first + count);
  return first[rank];
}

}  // namespace kith::split
