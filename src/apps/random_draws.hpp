// Randomness by counter: a draw depends on (seed, stream, item, number) alone, so any thread may make it in any order.
#pragma once

#include <cstdint>

namespace kith::apps::inline v0 {

/// Spreads the bits of a 64-bit word; a bijection.
constexpr std::uint64_t scramble(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
  return word ^ (word >> 31);
}

/// The draws that belong to one item (a point, a ray, a building) of one stream.
class Draws {
 public:
  /// Streams keep uses of one seed apart, e.g. the centres of clusters from the points around them.
  constexpr Draws(std::uint64_t seed, std::uint64_t stream, std::uint64_t item)
      : key_(scramble(scramble(seed + stream * 0xD1342543DE82EF95ULL + 0x9E3779B97F4A7C15ULL) +
                      item * 0x9E3779B97F4A7C15ULL)) {}

  /// 64 random bits.
  constexpr std::uint64_t bits(std::uint64_t number) const {
    return scramble(key_ + (number + 1) * 0xDA942042E4DD58B5ULL);
  }
  /// In [0, 1), a multiple of 2^-53.
  constexpr double uniform(std::uint64_t number) const { return static_cast<double>(bits(number) >> 11) * 0x1p-53; }
  /// In [0, 1), a multiple of 2^-24: the leading bits of `uniform`, so that it stays below 1 as a float.
  constexpr double uniform_24_bits(std::uint64_t number) const {
    return static_cast<double>(bits(number) >> 40) * 0x1p-24;
  }
  /// In [low, high].
  constexpr double between(double low, double high, std::uint64_t number) const {
    return low + (high - low) * uniform(number);
  }
  /// In [0, count); the bias is below count / 2^64. `count` is not 0.
  constexpr std::uint64_t below(std::uint64_t count, std::uint64_t number) const { return bits(number) % count; }

 private:
  std::uint64_t key_;
};

}  // namespace kith::apps::inline v0
