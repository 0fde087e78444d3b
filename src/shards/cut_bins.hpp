// The counts of one round of a cut: where a component of a super-key lies among the bins.
#pragma once

#include "shards/searched_rows.hpp"

#include <kith/shards/cut.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::shards {

/// 11 bits: 3 rounds for the 32 bits of a float; 16 KiB for each cut, so that a sum takes little more than its latency.
inline constexpr std::uint32_t kBinBits = 11;
inline constexpr std::size_t kBins = std::size_t{1} << kBinBits;

/// A component that is above all others: every point goes to the left.
inline constexpr std::uint64_t kAboveAll = std::numeric_limits<std::uint64_t>::max();

/// How far numbers of [low, high] are shifted to be bins.
inline std::uint32_t bin_shift(const CutPlan::Cut& cut) {
  const auto width = static_cast<std::uint32_t>(std::bit_width(cut.high - cut.low));
  return width > kBinBits ? width - kBinBits : 0;
}

/// Component `c` of the super-key of a point in a tree of `dims`.
template <typename T>
inline std::uint64_t component_of(const T* row, std::uint64_t number, std::uint32_t dims, std::uint32_t first_dim,
                                  std::size_t c) {
  if (c == dims) return number;
  const std::size_t d = first_dim + c;
  return ordered(row[d < dims ? d : d - dims]);
}

/// Whether a point goes to the left of a cut that is known.
template <typename T>
bool is_left(const CutPlan::Cut& cut, const T* row, std::uint64_t number, std::uint32_t dims) {
  for (std::size_t c = 0; c < cut.components.size(); ++c) {
    const std::uint64_t own = component_of(row, number, dims, cut.dim, c);
    if (own != cut.components[c]) return own < cut.components[c];
  }
  return false;
}

/// A cut that is not known, ready to count points for.
struct CountedCut {
  const CutPlan::Cut* cut = nullptr;
  std::size_t first_bin = 0;  ///< among those of all cuts
  std::uint32_t shift = 0;
  std::uint64_t low = 0, width = 0;

  CountedCut() = default;
  CountedCut(const CutPlan::Cut& of, std::size_t first)
      : cut(&of), first_bin(first), shift(bin_shift(of)), low(of.low), width(of.high - of.low) {}
};

/// Counts a point of the cut's node; false if it is on one side of the cut for sure.
template <typename T>
bool count_point(const CountedCut& counted, const T* row, std::uint64_t number, std::uint32_t dims,
                 std::uint64_t* counts) {
  const CutPlan::Cut& cut = *counted.cut;
  const std::size_t known = cut.components.size();
  for (std::size_t c = 0; c < known; ++c) {
    if (component_of(row, number, dims, cut.dim, c) != cut.components[c]) return false;
  }
  const std::uint64_t place = component_of(row, number, dims, cut.dim, known) - counted.low;  // wraps if it is below
  if (place > counted.width) return false;
  ++counts[counted.first_bin + (place >> counted.shift)];
  return true;
}

}  // namespace kith::shards
