// The numbers of the k-d tree on the CPU that choose between paths or that several files rely on.
#pragma once

#include "engine/kd_tree/kd_tree.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cpu {

/// The most queries that walk together.
inline constexpr std::uint32_t kGroupQueries = 32;
/// Points of a leaf that are compared with a query at a time.
inline constexpr std::uint32_t kScanPoints = 16;
static_assert(kGroupQueries % kScanPoints == 0, "the same vectors serve queries and points");
static_assert(kGroupQueries <= 32, "queries are bits of a word");
static_assert(kScanPoints <= 64, "hits are bits of a word");
static_assert(kScanPoints * sizeof(double) <= engine::kBlockSlack, "vectors run over the end of the last leaf");

/// A query walks with others if it lies no farther from the box of its leaf and the sibling than this many times the
/// longest side of the smallest of the leaves nearby. 0.25 to 1 are as fast. With 8, queries in a cube twice as wide as
/// the points take 1.7 times as long in 3 dims and 3.7 times in 6.
inline constexpr double kNearSides = 0.5;
inline constexpr std::uint64_t kLeavesNearby = 8;
/// If the box of both is longer than this many sides, one of them straddles clusters.
inline constexpr double kStraddlingSides = 8;
/// Nodes without an allowed point are found first if there is a query for every so many leaves.
inline constexpr std::uint64_t kLeavesPerQuery = 16;

/// Builder select: bits of a digit, and up to how many records a quickselect takes over, which leaves so few to the
/// library.
inline constexpr std::uint32_t kSelectBits = 10;
inline constexpr std::ptrdiff_t kQuickselectRecords = 2048;
inline constexpr std::ptrdiff_t kFewRecords = 16;

/// Builder segsort: bits of a digit; nodes of fewer records than this are sorted by one digit instead of two; up to so
/// many are sorted by insertion.
inline constexpr std::uint32_t kSortBits = 8;
inline constexpr std::uint64_t kTwoPassRecords = 4096;
inline constexpr std::uint64_t kInsertionRecords = 32;

/// Builder presort: bits of a digit, and how many points that are equal in a dimension are sorted by comparison. If
/// there are more, as on a grid, all points are sorted once more by each dimension.
inline constexpr std::uint32_t kPresortBits = 11;
inline constexpr std::uint64_t kFewEquals = 64;

}  // namespace kith::cpu
