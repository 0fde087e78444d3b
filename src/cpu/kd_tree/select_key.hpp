// The value of a given rank among many numbers: a bracket from a sample, the few numbers inside it, again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace kith::cpu {

/// The numbers of a range that lie in a bracket, and how many lie below it.
struct BracketCount {
  std::size_t below = 0;
  std::size_t inside = 0;
};

/// Two numbers between which a rank probably lies.
template <typename T>
struct Bracket {
  T low;
  T high;

  /// Copies the numbers inside to `kept`. No branch on the data.
  template <typename KeyAt>
  BracketCount keep(const KeyAt& key_at, std::size_t count, T* kept) const {
    BracketCount found;
    for (std::size_t i = 0; i < count; ++i) {
      const T key = key_at(i);
      found.below += key < low ? 1 : 0;
      kept[found.inside] = key;
      found.inside += (key >= low ? 1 : 0) & (key <= high ? 1 : 0);
    }
    return found;
  }
};

/// From `kSample` numbers of the range, spread evenly: the rank lies inside with two or three standard deviations.
template <typename T, std::size_t kSample, typename KeyAt>
Bracket<T> guess_bracket(const KeyAt& key_at, std::size_t count, std::size_t rank) {
  // Half the width in places of the sample: twice the standard deviation of a rank near the middle, sqrt(kSample) / 2.
  constexpr std::size_t kMargin = kSample >= 256 ? 40 : kSample >= 64 ? 8 : 4;
  std::array<T, kSample> sample;
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = key_at(i * count / kSample + count / (2 * kSample));
  const std::size_t place = rank * kSample / count;
  const std::size_t low = place > kMargin ? place - kMargin : 0;
  const std::size_t high = std::min(place + kMargin, kSample - 1);
  std::nth_element(sample.begin(), sample.begin() + low, sample.end());
  std::nth_element(sample.begin() + low, sample.begin() + high, sample.end());
  return {sample[low], sample[high]};
}

/// Room for the numbers that a selection has to look at again.
template <typename T>
struct KeyRoom {
  T* first;            ///< as many as there are numbers in all
  T* second;           ///< `second_size`: the fewer, the more often a selection falls back to the library's
  std::size_t second_size;
};

/// Numbers side by side.
template <typename T>
struct KeyArray {
  const T* keys;

  T operator()(std::size_t i) const { return keys[i]; }
};

/// The number of rank `rank` (0-based) among key_at(0) .. key_at(count - 1). O(count): a bracket that misses, which is
/// rare, leads to the library's selection.
template <typename T, typename KeyAt>
T select_key(const KeyAt& key_at, std::size_t count, std::size_t rank, const KeyRoom<T>& room) {
  T* first = room.first;
  constexpr std::size_t kFew = 64;
  if (count > kFew) {
    const Bracket<T> bracket = count >= 32768  ? guess_bracket<T, 1024>(key_at, count, rank)
                               : count >= 1024 ? guess_bracket<T, 64>(key_at, count, rank)
                                               : guess_bracket<T, 16>(key_at, count, rank);
    const BracketCount found = bracket.keep(key_at, count, first);
    if (rank >= found.below && rank < found.below + found.inside && found.inside < count) {
      if (bracket.low == bracket.high) return bracket.low;
      if (found.inside <= room.second_size) {
        return select_key<T>(KeyArray<T>{first}, found.inside, rank - found.below,
                             {room.second, first, count});
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) first[i] = key_at(i);
  std::nth_element(first, first + rank, first + count);
  return first[rank];
}

}  // namespace kith::cpu
