// Which way to select the k least of a row is taken.
#pragma once

#include "cuda/brute_force/tuning.hpp"
#include "engine/select_method.hpp"

#include <cstdint>

namespace kith::cuda {

using SelectStrategy = engine::SelectMethod;

struct SelectChoice {
  SelectStrategy strategy = SelectStrategy::radix;
  bool is_fallback = false;  ///< what was asked for does not go as far as k
};

/// The fastest for k of up to `length` entries in each of `rows` rows, as measured on an H200.
inline SelectStrategy fastest_select(std::uint32_t k, std::uint32_t length, std::uint64_t rows) {
  constexpr std::uint32_t kLong = 10000, kShort = 2048;
  constexpr std::uint64_t kFewRows = 4;
  if (k == 1 && length >= kLong) return SelectStrategy::min_reduce;
  if (k > kMostByWarps && length <= kShort && k >= length / 2) return SelectStrategy::bitonic;
  if (k > kMostByWarps || (k >= 64 && length >= kLong && rows <= kFewRows)) return SelectStrategy::radix;
  return SelectStrategy::warp;
}

/// What is done for a strategy; never `automatic`.
inline SelectChoice choose_select(SelectStrategy asked, std::uint32_t k, std::uint32_t length, std::uint64_t rows) {
  switch (asked) {
    case SelectStrategy::automatic:
      return {fastest_select(k, length, rows), false};
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
