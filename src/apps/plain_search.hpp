// Searches by comparing a query with every point, straight from the definition: the reference of verify_neighbors.
#pragma once

#include "apps/plain_distance.hpp"

#include <kith/metric.hpp>
#include <kith/point_view.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {

/// One point as a neighbour of one query.
template <typename T>
struct PlainNeighbor {
  T value;  // see compared_value
  std::uint32_t index;

  friend bool operator<(const PlainNeighbor& a, const PlainNeighbor& b) {
    return a.value != b.value ? a.value < b.value : a.index < b.index;
  }
};

/// The candidates that a query may not find: itself, or all from a number on.
struct Excluded {
  std::uint64_t self = ~std::uint64_t{0};
  std::uint64_t from = ~std::uint64_t{0};

  bool holds(std::uint64_t index) const { return index == self || index >= from; }
};

/// The points to search. Under cosine and angular they and the queries are normalised already.
template <typename T>
struct PlainSearch {
  PointView points;
  std::vector<std::uint32_t> candidates;  // the points that take part, ascending
  Metric metric;
  std::vector<T> lengths;  // of periodic axes, 0 for one that does not wrap; empty: none does

  T value(const T* query, std::uint32_t index) const {
    return compared_value(query, points.row<T>(index), points.dims(), metric,
                          lengths.empty() ? nullptr : lengths.data());
  }

  /// The k nearest candidates but for `excluded`, in order; fewer if there are fewer.
  std::vector<PlainNeighbor<T>> nearest(const T* query, const Excluded& excluded, std::uint64_t k) const {
    std::vector<PlainNeighbor<T>> all;
    all.reserve(candidates.size());
    for (const std::uint32_t index : candidates) {
      if (!excluded.holds(index)) all.push_back({value(query, index), index});
    }
    return first_of(std::move(all), k);
  }

  /// The candidates within `radius` but for `excluded`, in order, at most `most`.
  std::vector<PlainNeighbor<T>> within(const T* query, const Excluded& excluded, double radius,
                                       std::uint64_t most) const {
    std::vector<PlainNeighbor<T>> inside;
    for (const std::uint32_t index : candidates) {
      if (excluded.holds(index)) continue;
      const T compared = value(query, index);
      if (is_within(compared, radius, metric)) inside.push_back({compared, index});
    }
    return first_of(std::move(inside), most);
  }

 private:
  static std::vector<PlainNeighbor<T>> first_of(std::vector<PlainNeighbor<T>> neighbors, std::uint64_t count) {
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, neighbors.size()));
    std::partial_sort(neighbors.begin(), neighbors.begin() + kept, neighbors.end());
    neighbors.resize(static_cast<std::size_t>(kept));
    return neighbors;
  }
};

}  // namespace kith::apps::inline v0
