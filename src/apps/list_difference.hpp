// Compares a list of neighbours with the right one and names the first difference.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace kith::apps::inline v0 {

/// A list of neighbours; both spans have the same length.
template <typename T>
struct NeighborList {
  std::span<const std::uint32_t> indices;
  std::span<const T> distances;
};

/// What a message needs to know about the search.
template <typename T>
struct ListContext {
  std::uint32_t points = 0;                       // their number, and the index of a missing neighbour
  std::function<T(std::uint32_t)> distance_to;    // the true distance from the query to any point
  std::function<bool(std::uint32_t)> takes_part;  // false for points left out, and for the query itself where it is
};

/// Empty if `found` equals `expected` bit by bit; else e.g. "rank 3: point 7 at distance 2 is missing, point 9 at
/// distance 2.5 stands there".
template <typename T>
std::string exact_difference(const NeighborList<T>& found, const NeighborList<T>& expected,
                             const ListContext<T>& context);

/// The same for an approximate search: every point must stand with its own distance, in order, and each distance may be
/// up to 1 + eps times that of `expected`. A place may be empty if the one that belongs there is farther than
/// `max_distance` when it is stretched like that.
template <typename T>
std::string approximate_difference(const NeighborList<T>& found, const NeighborList<T>& expected, double eps,
                                   double max_distance, const ListContext<T>& context);

}  // namespace kith::apps::inline v0
