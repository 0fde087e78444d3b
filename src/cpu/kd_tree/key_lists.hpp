// The k nearest f32 candidates of each query of a group as sorted 64-bit keys, inserted by vectors without a branch.
#pragma once

#include "cpu/kd_tree/group_search.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// A key holds the bits of a distance above the index; distances are never negative, so keys order as (distance,
/// index). Read as a double a key is a number of the same order, and doubles have a minimum and a maximum in every
/// instruction set. All keys are lifted by one exponent so that none is denormal (a process may flush those to zero);
/// the highest, an infinite distance, is still a finite double.
class KeyLists {
 public:
  static constexpr std::uint32_t kMost = 64;

  /// 1 <= k <= kMost.
  explicit KeyLists(std::uint32_t k);
  KeyLists(const KeyLists&) = delete;
  KeyLists& operator=(const KeyLists&) = delete;

  /// Empties the list of a query; only candidates with a chain up to `farthest` will enter.
  void reset(std::uint32_t query, float farthest);
  /// Writes k places: what was found, then `missing` and infinity.
  void write(std::uint32_t query, std::uint32_t missing, std::uint32_t* indices, float* chains) const;
  /// The function to insert hits, to be called with this object as context.
  LeafHitFunction<float> on_hit() const { return on_hit_; }

  static double key_of(float chain, std::uint32_t index) {
    return std::bit_cast<double>((std::uint64_t{std::bit_cast<std::uint32_t>(chain)} << 32 | index) + kLift);
  }
  static Limit<float> limit_of(double key) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(key) - kLift;
    return {std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32)), static_cast<std::uint32_t>(bits)};
  }

  std::uint32_t k() const { return k_; }
  double* list(std::uint32_t query) { return keys_ + std::size_t{query} * capacity_; }

 private:
  static constexpr std::uint64_t kLift = std::uint64_t{1} << 52;

  std::uint32_t k_;
  std::uint32_t capacity_;  ///< of a list: k rounded up, so that there are few functions
  LeafHitFunction<float> on_hit_;
  std::vector<double> storage_;
  double* keys_;  ///< [query][capacity], aligned
};

}  // namespace kith::cpu
