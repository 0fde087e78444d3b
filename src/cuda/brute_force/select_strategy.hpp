// Ways to select the k least of a row, their names, and which one is taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kith::cuda {

enum class SelectStrategy : std::uint8_t {
  automatic,
  insertion,   ///< a thread per row, a sorted list of up to 32
  warp,        ///< a warp per row, or a few if rows are few; up to 256
  radix,       ///< a block per row counts digits until the k-th is known
  bitonic,     ///< a block per row sorts
  min_reduce,  ///< a block per row finds one after the other
};

inline constexpr std::array<std::string_view, 6> kSelectNames{"auto", "insertion", "warp", "radix", "bitonic", "min"};

inline std::string_view name_of(SelectStrategy strategy) { return kSelectNames[static_cast<std::size_t>(strategy)]; }

/// Nothing if there is no such strategy.
inline std::optional<SelectStrategy> parse_select_strategy(std::string_view name) {
  for (std::size_t i = 0; i < kSelectNames.size(); ++i) {
    if (kSelectNames[i] == name) return static_cast<SelectStrategy>(i);
  }
  return std::nullopt;
}

inline constexpr std::uint32_t kMostByInsertion = 32;
inline constexpr std::uint32_t kMostByWarps = 256;

struct SelectChoice {
  SelectStrategy strategy = SelectStrategy::radix;
  bool is_fallback = false;  ///< what was asked for does not go as far as k
};

/// What is done for a strategy and k; never `automatic`.
inline SelectChoice choose_select(SelectStrategy asked, std::uint32_t k) {
  switch (asked) {
    case SelectStrategy::automatic:
      return {k <= kMostByWarps ? SelectStrategy::warp : SelectStrategy::radix, false};
    case SelectStrategy::insertion:
      if (k > kMostByInsertion) return {SelectStrategy::radix, true};
      break;
    case SelectStrategy::warp:
      if (k > kMostByWarps) return {SelectStrategy::radix, true};
      break;
    default:
      break;
  }
  return {asked, false};
}

}  // namespace kith::cuda
