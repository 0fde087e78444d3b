// The k nearest f32 candidates of one or more queries as sorted keys, inserted by vectors without a branch.
#pragma once

#include "cpu/kd_tree/leaf_hits.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kith::cpu {

/// Each list is sorted at any time: an insertion moves all places at once.
class KeyLists {
 public:
  static constexpr std::uint32_t kMost = 32;

  /// Numbers that the lists of `queries` queries take.
  static constexpr std::size_t storage_size(std::uint32_t k, std::uint32_t queries) {
    return std::size_t{queries} * capacity_for(k) + 1;
  }
  /// 1 <= k <= kMost. `storage` holds storage_size numbers.
  KeyLists(std::uint32_t k, double* storage);

  /// Empties the list of a query; only candidates with a reduced distance up to `farthest` will enter.
  void reset(std::uint32_t query, float farthest);
  /// Writes k places: what was found, then `missing` and infinity.
  void write(std::uint32_t query, std::uint32_t missing, std::uint32_t* indices, float* reduced) const;
  /// The function to insert hits, to be called with this object as context.
  LeafHitFunction<float> on_hit() const { return on_hit_; }

  std::uint32_t k() const { return k_; }
  double* list(std::uint32_t query) { return keys_ + std::size_t{query} * capacity_; }

 private:
  /// k rounded up, so that there are few functions.
  static constexpr std::uint32_t capacity_for(std::uint32_t k) { return k <= 4 ? 4 : std::bit_ceil(k); }

  std::uint32_t k_;
  std::uint32_t capacity_;  ///< of a list
  LeafHitFunction<float> on_hit_;
  double* keys_;  ///< [query][capacity], aligned
};

}  // namespace kith::cpu
