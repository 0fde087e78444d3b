// See list_difference.hpp.
#include "apps/list_difference.hpp"

#include "apps/plain_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <unordered_set>

namespace kith::apps::inline v0 {
namespace {

template <typename T>
bool same_bits(T a, T b) {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Word>(a) == std::bit_cast<Word>(b);
}

bool holds(std::span<const std::uint32_t> indices, std::uint32_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

/// What is wrong with an index by itself, whatever should stand in its place.
template <typename T>
std::string bad_index(const NeighborList<T>& found, std::size_t rank, const ListContext<T>& context) {
  const std::uint32_t index = found.indices[rank];
  if (index > context.points)
    return fmt::format("the list has index {}, but there are {} points", index, context.points);
  if (index < context.points && holds(found.indices.first(rank), index)) {
    return fmt::format("point {} is in the list twice", index);
  }
  if (index < context.points && !context.takes_part(index)) {
    return fmt::format("point {} is listed, but it is excluded from this search", index);
  }
  return {};
}

template <typename T>
std::string index_difference(const NeighborList<T>& found, const NeighborList<T>& expected, std::size_t rank,
                             const ListContext<T>& context) {
  if (std::string bad = bad_index(found, rank, context); !bad.empty()) return bad;
  const std::uint32_t stands = found.indices[rank];
  const std::uint32_t belongs = expected.indices[rank];
  if (belongs == context.points) {
    return fmt::format("point {} is listed, but there are no more neighbours", stands);
  }
  const T belongs_distance = expected.distances[rank];
  if (stands == context.points) {
    return fmt::format("no neighbour is listed, but point {} at distance {} belongs here", belongs, belongs_distance);
  }
  const T stands_distance = context.distance_to(stands);
  if (same_bits(stands_distance, belongs_distance) && belongs < stands) {
    return fmt::format("point {} is listed, but point {} is at the same distance {} and has the lower index", stands,
                       belongs, belongs_distance);
  }
  if (holds(found.indices, belongs)) {
    return fmt::format("the order is wrong: point {} at distance {} comes before point {} at distance {}", stands,
                       stands_distance, belongs, belongs_distance);
  }
  return fmt::format("point {} at distance {} is missing, point {} at distance {} is listed instead", belongs,
                     belongs_distance, stands, stands_distance);
}

template <typename T>
std::string distance_difference(std::uint32_t index, T stands, T belongs, const ListContext<T>& context) {
  if (index == context.points) return fmt::format("a missing neighbour has distance {}; it must be inf", stands);
  return fmt::format("the list says distance {}, but point {} is at distance {}", stands, index, belongs);
}

template <typename T>
std::string length_difference(const NeighborList<T>& found, const NeighborList<T>& expected,
                              const ListContext<T>& context) {
  const std::size_t rank = std::min(found.indices.size(), expected.indices.size());
  if (found.indices.size() < expected.indices.size()) {
    return fmt::format("rank {}: the list ends after {} of {} neighbours; point {} at distance {} is missing", rank,
                       found.indices.size(), expected.indices.size(), expected.indices[rank], expected.distances[rank]);
  }
  if (std::string bad = bad_index(found, rank, context); !bad.empty()) return fmt::format("rank {}: {}", rank, bad);
  return fmt::format("rank {}: point {} is listed, but the list should end after {} neighbours", rank,
                     found.indices[rank], expected.indices.size());
}

}  // namespace

template <typename T>
std::string exact_difference(const NeighborList<T>& found, const NeighborList<T>& expected,
                             const ListContext<T>& context) {
  const std::size_t shared = std::min(found.indices.size(), expected.indices.size());
  for (std::size_t rank = 0; rank < shared; ++rank) {
    if (found.indices[rank] != expected.indices[rank]) {
      return fmt::format("rank {}: {}", rank, index_difference(found, expected, rank, context));
    }
    if (!same_bits(found.distances[rank], expected.distances[rank])) {
      return fmt::format(
          "rank {}: {}", rank,
          distance_difference(found.indices[rank], found.distances[rank], expected.distances[rank], context));
    }
  }
  return found.indices.size() == expected.indices.size() ? std::string() : length_difference(found, expected, context);
}

template <typename T>
std::string approximate_difference(const NeighborList<T>& found, const NeighborList<T>& expected, double eps,
                                   double max_distance, const ListContext<T>& context) {
  // The search compares reduced distances in the type of the points.
  const double stretch = (1 + eps) * (1 + 16 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  for (std::size_t rank = 0; rank < found.indices.size(); ++rank) {
    const std::uint32_t index = found.indices[rank];
    const bool is_missing = index == context.points;
    if (std::string bad = bad_index(found, rank, context); !bad.empty()) return fmt::format("rank {}: {}", rank, bad);
    const T own = is_missing ? std::numeric_limits<T>::infinity() : context.distance_to(index);
    if (!same_bits(found.distances[rank], own)) {
      return fmt::format("rank {}: {}", rank, distance_difference(index, found.distances[rank], own, context));
    }
    const T before = rank == 0 ? own : found.distances[rank - 1];
    if (own < before || (rank > 0 && own == before && !is_missing && index < found.indices[rank - 1])) {
      return fmt::format("rank {}: the order is wrong: point {} at distance {} comes after one at distance {}", rank,
                         index, own, before);
    }
    const double most = std::isinf(stretch) ? stretch : static_cast<double>(expected.distances[rank]) * stretch;
    const bool may_be_missing = expected.indices[rank] == context.points || most > max_distance;
    if (static_cast<double>(own) > most && !(is_missing && may_be_missing)) {
      return fmt::format("rank {}: distance {} is more than 1 + {} times {}, that of point {}", rank, own, eps,
                         expected.distances[rank], expected.indices[rank]);
    }
  }
  return {};
}

template std::string approximate_difference(const NeighborList<float>&, const NeighborList<float>&, double, double,
                                            const ListContext<float>&);
template std::string approximate_difference(const NeighborList<double>&, const NeighborList<double>&, double, double,
                                            const ListContext<double>&);
template std::string exact_difference(const NeighborList<float>&, const NeighborList<float>&,
                                      const ListContext<float>&);
template std::string exact_difference(const NeighborList<double>&, const NeighborList<double>&,
                                      const ListContext<double>&);

}  // namespace kith::apps::inline v0
