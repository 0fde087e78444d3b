// Answers made of the sorted lists (distance, index) that an oracle finds for each query.
#pragma once

#include <kith/neighbors.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::test {

/// `request.count()` queries, of which `request.found(q)` is the list; `points` were searched.
template <typename Request>
Neighbors nearest_of_lists(const Request& request, std::uint32_t k, std::uint64_t points) {
  const auto missing = static_cast<std::uint32_t>(points);
  std::vector<std::uint32_t> indices;
  std::vector<float> distances;
  for (std::uint64_t q = 0; q < request.count(); ++q) {
    const auto list = request.found(q);
    for (std::uint32_t j = 0; j < k; ++j) {
      indices.push_back(j < list.size() ? list[j].second : missing);
      distances.push_back(j < list.size() ? list[j].first : std::numeric_limits<float>::infinity());
    }
  }
  return Neighbors(request.count(), k, missing, std::move(indices), Distances(std::move(distances)));
}

/// `most` > 0 keeps that many nearest of each list.
template <typename Request>
NeighborLists lists_of_lists(const Request& request, std::uint32_t most, std::uint64_t points) {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> indices;
  std::vector<float> distances;
  for (std::uint64_t q = 0; q < request.count(); ++q) {
    auto list = request.found(q);
    if (most > 0 && list.size() > most) list.resize(most);
    for (const auto& [distance, index] : list) {
      indices.push_back(index);
      distances.push_back(distance);
    }
    offsets.push_back(indices.size());
  }
  return NeighborLists(static_cast<std::uint32_t>(points), std::move(offsets), std::move(indices),
                       Distances(std::move(distances)));
}

template <typename Request>
std::vector<std::uint32_t> counts_of_lists(const Request& request) {
  std::vector<std::uint32_t> counts;
  for (std::uint64_t q = 0; q < request.count(); ++q) {
    counts.push_back(static_cast<std::uint32_t>(request.found(q).size()));
  }
  return counts;
}

}  // namespace kith::test
