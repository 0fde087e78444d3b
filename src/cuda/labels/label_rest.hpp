// The labels that a kernel left to the host, where a long chain of new points takes less time.
#pragma once

#include "cuda/labels/label_types.hpp"

#include <algorithm>
#include <array>

namespace kith::cuda {

/// Labels the rows that have no label yet, in order; k is at most kMostByThreads. All arrays are in host memory.
/// Returns the depth of the deepest one.
template <typename T>
std::uint32_t label_rest(const NeighborRows<T>& rows, const KnownLabels& known, std::uint64_t first_row,
                         core::TieRule ties) {
  std::array<std::uint32_t, kMostByThreads> labels;
  std::uint32_t deepest = 0;
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    std::uint64_t& own = known.found[first_row + row];
    if (own != FoundLabel::kNotYet) continue;
    const std::uint32_t* const list = rows.indices + row * rows.k;
    const T* const distances = rows.distances == nullptr ? nullptr : rows.distances + row * rows.k;
    std::uint32_t count = 0, depth = 0;
    for (; count < rows.k && list[count] < rows.missing; ++count) {
      const bool is_new = list[count] >= known.trained;
      const std::uint64_t word = is_new ? known.found[list[count] - known.trained] : known.labels[list[count]];
      labels[count] = FoundLabel::label(word);
      depth = std::max(depth, FoundLabel::depth(word));
    }
    const auto weight = [=](std::uint32_t j) {
      return distances == nullptr ? 1 : core::distance_weight(distances[0], distances[j]);
    };
    own = FoundLabel::word(core::vote_of_few(
                               count, [&](std::uint32_t j) { return labels[j]; }, weight, ties),
                           depth + 1);
    deepest = std::max(deepest, depth + 1);
  }
  return deepest;
}

}  // namespace kith::cuda
