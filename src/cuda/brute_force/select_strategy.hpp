// Which way to select the k least of a row is taken.
#pragma once

#include <kith/index.hpp>

#include <cstdint>

namespace kith::cuda {

using SelectStrategy = SelectMethod;

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
