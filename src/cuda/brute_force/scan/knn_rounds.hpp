// How a search for the k nearest by scans is cut into rounds, see scan_types.hpp: how many candidates a query has room
// for, and how many tiles each round scans.
//
// If points come in no particular order, a round that scans g times as many points as were seen before offers about g k
// candidates of each query. What is offered costs much more than what is dismissed, so with many queries a round
// doubles what was seen; with few queries it is the number of rounds that counts, and they grow faster. With room for
// three times what is expected, and more if k is small, lists hardly ever overflow. In many dims what costs is to
// compute the exact reduced distances of up to 32 candidates of a query at a time: rounds grow so that these are not
// far fewer.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::cuda {

struct KnnRounds {
  std::uint32_t capacity = 0;       ///< of each query's list
  std::vector<std::uint64_t> ends;  ///< the tile at which each round ends; the tiles of the first round are all placed
};

inline std::uint64_t tiles_of(std::uint64_t points) { return (points + kTilePoints - 1) / kTilePoints; }

/// An order that is spread over all tiles from the beginning: the stride is about the golden section of them.
inline TileOrder spread_order(std::uint64_t tiles) {
  TileOrder order{tiles, 1};
  if (tiles < 4) return order;
  order.stride = static_cast<std::uint64_t>(static_cast<double>(tiles) * 0.6180339887498949);
  while (std::gcd(order.stride, tiles) != 1) ++order.stride;
  return order;
}

/// How many times what was seen before a round scans.
inline double round_growth(std::uint64_t nearest, std::uint64_t queries, bool in_many_dims) {
  constexpr double kFew = 64, kMany = 1, kMostInManyDims = 4, kCandidates = 20;  // the latter are below 32 as a rule
  const double growth =
      std::clamp(100 / std::sqrt(static_cast<double>(std::max<std::uint64_t>(queries, 1))), kMany, kFew);
  if (!in_many_dims) return growth;
  return std::max(growth, std::min(kCandidates / static_cast<double>(nearest), kMostInManyDims));
}

/// The fewest points that the first round places.
inline std::uint64_t least_placed(std::uint64_t points, std::uint64_t queries) {
  constexpr std::uint64_t kAtOnce = 2048;  // so few points are sooner placed than scanned in rounds
  if (queries <= 256) return 4096;
  if (points <= kAtOnce) return kAtOnce;
  return queries <= 4096 ? 1024 : 256;
}

/// There is at least one point, and k is at least 1. `in_many_dims` if pairs are filtered in more than
/// kMostDimsForHalfSums.
inline KnnRounds plan_rounds(std::uint64_t points, std::uint32_t k, std::uint64_t queries, bool in_many_dims = false) {
  constexpr std::uint64_t kSpacious = 6;
  const std::uint64_t tiles = tiles_of(points), nearest = std::min<std::uint64_t>(k, points);
  const std::uint64_t wanted = tiles_of(std::max(least_placed(points, queries), kSpacious * nearest));
  KnnRounds rounds;
  const std::uint64_t placed = std::min(wanted, tiles);
  rounds.capacity = static_cast<std::uint32_t>(placed * kTilePoints);
  rounds.ends.push_back(placed);
  const double capacity = static_cast<double>(rounds.capacity - nearest) / static_cast<double>(nearest);
  const double most = std::min(round_growth(nearest, queries, in_many_dims), std::max(capacity / 3, 0.25));
  while (rounds.ends.back() < tiles) {
    const std::uint64_t seen = rounds.ends.back();
    std::uint64_t end = seen + std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(seen) * most), 1);
    if (tiles - std::min(end, tiles) < (end - seen) / 2) end = tiles;  // the last round may be a little longer
    rounds.ends.push_back(std::min(end, tiles));
  }
  return rounds;
}

}  // namespace kith::cuda
