// The place of each point of a leaf when its points are put in index order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::cpu {

/// Counts, for few points, how many indices are lower, which needs no branch; sorts for many.
class LeafOrder {
 public:
  explicit LeafOrder(std::uint32_t most) : indices_(padded(most)), places_(padded(most)), sorted_(most) {}

  void set(std::uint32_t i, std::uint32_t index) { indices_[i] = index; }

  /// places[i] is the rank of the i-th of `size` indices. The indices are all different.
  const std::uint32_t* places(std::uint32_t size) {
    if (size <= kFew) {
      std::fill(indices_.begin() + size, indices_.begin() + padded(size), 0xffffffffu);  // above every index
      for (std::uint32_t first = 0; first < size; first += kTogether) {
        std::uint32_t own[kTogether], lower[kTogether] = {};
        std::copy_n(indices_.data() + first, kTogether, own);
        for (std::uint32_t j = 0; j < size; ++j) {
          for (std::uint32_t i = 0; i < kTogether; ++i) lower[i] += indices_[j] < own[i] ? 1 : 0;
        }
        std::copy_n(lower, kTogether, places_.data() + first);
      }
    } else {
      std::iota(sorted_.begin(), sorted_.begin() + size, 0u);
      std::sort(sorted_.begin(), sorted_.begin() + size,
                [&](std::uint32_t a, std::uint32_t b) { return indices_[a] < indices_[b]; });
      for (std::uint32_t i = 0; i < size; ++i) places_[sorted_[i]] = i;
    }
    return places_.data();
  }

 private:
  static constexpr std::uint32_t kFew = 64;
  static constexpr std::uint32_t kTogether = 16;  ///< in vectors
  static constexpr std::uint32_t padded(std::uint32_t size) { return (size + kTogether - 1) / kTogether * kTogether; }

  std::vector<std::uint32_t> indices_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> sorted_;
};

}  // namespace kith::cpu
