// What a participant asks a shard, and what it answers: one message each for all queries of a round.
#pragma once

#include <kith/export.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>
#include <kith/shards/numbered_points.hpp>
#include <kith/value_array.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::shards::inline v0 {

enum class RequestKind : std::uint8_t { knn, radius, count, box, box_count };

/// Queries for one shard. Bytes of a query: its coordinates, and 8 for each array below that is not empty (16 for
/// limits).
struct KITH_EXPORT SearchRequest {
  /// The last one of a full list: candidates that do not come before it are of no use.
  struct Limit {
    double reduced = std::numeric_limits<double>::infinity();
    std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
    friend bool operator==(const Limit&, const Limit&) = default;
  };

  RequestKind kind = RequestKind::knn;
  std::uint32_t shard = 0;
  /// kNN: k. Radius: the most of each list, 0 for all.
  std::uint32_t most = 0;
  /// All queries are points of this shard, in the order of their numbers, and are not sent: a participant asks its own
  /// shard so in the first round of a self-search.
  bool is_self = false;
  bool exclude_self = false, earlier_only = false;                ///< only then
  double max_distance = std::numeric_limits<double>::infinity();  ///< kNN
  PointSet queries = {};                                          ///< boxes: lower corners
  PointSet upper = {};                                            ///< boxes: upper corners
  std::vector<double> radii = {};         ///< radius and count: one for each query, or one for all
  std::vector<Limit> limits = {};         ///< kNN: one for each query, or none at all
  std::vector<std::uint64_t> below = {};  ///< find only numbers below; one for each query, or none at all

  Bytes to_bytes() const;
  static SearchRequest from_bytes(std::span<const std::byte> bytes);
};

/// The answer of a shard: a list for each query, in the order of the request, sorted by (reduced distance, number).
/// Bytes: 4 for each query, and for each entry 8 and those of a coordinate.
struct KITH_EXPORT SearchReply {
  std::uint32_t shard = 0;
  std::vector<std::uint32_t> counts;  ///< entries of each query, or how many points were counted
  ValueArray<std::uint64_t> numbers;  ///< list after list; none where points are counted
  /// What searches compare (squares under L2), which never tie where distances do not; none for boxes.
  Distances reduced;

  Bytes to_bytes() const;
  static SearchReply from_bytes(std::span<const std::byte> bytes);
};

}  // namespace kith::shards::inline v0
