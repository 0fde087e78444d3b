// Results of an index of one piece with 64-bit numbers, to compare with those of shards.
#pragma once

#include <kith/neighbors.hpp>

#include <cstdint>
#include <vector>

namespace kith::test {

inline std::vector<std::uint64_t> widened(std::span<const std::uint32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}
inline WideNeighbors widened(const Neighbors& found) {
  return WideNeighbors(found.queries(), found.k(), found.missing(), widened(found.indices()), found.distances());
}
inline WideNeighborLists widened(const NeighborLists& found) {
  return WideNeighborLists(found.points(), {found.offsets().begin(), found.offsets().end()}, widened(found.indices()),
                           found.distances());
}
inline WidePointLists widened(const PointLists& found) {
  return WidePointLists(found.points(), {found.offsets().begin(), found.offsets().end()}, widened(found.indices()));
}

}  // namespace kith::test
