// The counts of one round of a cut: where a component of a super-key lies among the bins.
#pragma once

#include "shards/searched_rows.hpp"

#include <kith/shards/cut.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

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
std::uint64_t component_of(const T* row, std::uint64_t number, std::uint32_t dims, std::uint32_t first_dim,
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

/// The bin of a point that is near a cut that is not known; nothing if it is on one of its sides.
template <typename T>
std::optional<std::size_t> bin_of(const CutPlan::Cut& cut, const T* row, std::uint64_t number, std::uint32_t dims) {
  const std::size_t c = cut.components.size();
  for (std::size_t known = 0; known < c; ++known) {
    if (component_of(row, number, dims, cut.dim, known) != cut.components[known]) return {};
  }
  const std::uint64_t own = component_of(row, number, dims, cut.dim, c);
  if (own < cut.low || own > cut.high) return {};
  return static_cast<std::size_t>((own - cut.low) >> bin_shift(cut));
}

}  // namespace kith::shards
