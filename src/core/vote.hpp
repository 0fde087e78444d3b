// The rule by which neighbours vote: the label with the most weight wins, ties go to the label that comes first in the
// list, or to the lowest or highest one. For host and device.
#pragma once

#include "core/host_device.hpp"

#include <kith/apps/neighbor_options.hpp>

#include <cstdint>

namespace kith::core {

/// How much a neighbour at `own` counts when the nearest is at `nearest`; between 0 and 1, the same bits everywhere.
KITH_HOST_DEVICE inline double distance_weight(double nearest, double own) {
  return own == nearest ? 1.0 : nearest / own;
}

/// Of several labels with the most weight the one with the lowest rank wins, of equal ranks the first in the list.
struct TieRule {
  TieRule() = default;
  explicit TieRule(apps::Ties ties)
      : mask(ties == apps::Ties::nearest ? 0 : ~0u), flip(ties == apps::Ties::highest ? ~0u : 0) {}

  KITH_HOST_DEVICE std::uint32_t rank(std::uint32_t label) const { return (label & mask) ^ flip; }

  std::uint32_t mask = 0;  ///< 0: all ranks are equal
  std::uint32_t flip = 0;  ///< of all bits: higher labels have lower ranks
};

/// The winner among `count` neighbours, at least one; O(count²), for short lists. `label(j)` and `weight(j)` tell of
/// the j-th nearest. Weights are added in the order of the list.
template <typename Label, typename Weight>
KITH_HOST_DEVICE std::uint32_t vote_of_few(std::uint32_t count, Label&& label, Weight&& weight, TieRule ties) {
  std::uint32_t winner = 0;
  double most = -1;
  for (std::uint32_t j = 0; j < count; ++j) {
    const std::uint32_t own = label(j);
    bool came_before = false;
    for (std::uint32_t i = 0; i < j && !came_before; ++i) came_before = label(i) == own;
    if (came_before) continue;
    double sum = 0;
    for (std::uint32_t i = j; i < count; ++i) {
      if (label(i) == own) sum += weight(i);
    }
    if (sum > most || (sum == most && ties.rank(own) < ties.rank(winner))) {
      most = sum;
      winner = own;
    }
  }
  return winner;
}

}  // namespace kith::core
