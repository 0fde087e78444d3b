// What every participant knows of all shards: enough to say which of them a query must ask.
#pragma once

#include <kith/export.hpp>
#include <kith/shards/numbered_points.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::shards::inline v0 {

/// What a shard tells of itself.
struct KITH_EXPORT ShardFacts {
  std::uint64_t points = 0;
  std::uint64_t smallest = 0;  ///< the least number of them
  /// Their tight box in the coordinates that are searched; empty if there are none.
  std::vector<double> lower = {}, upper = {};

  Bytes to_bytes() const;
  static ShardFacts from_bytes(std::span<const std::byte> bytes);
  friend bool operator==(const ShardFacts&, const ShardFacts&) = default;
};

/// All shards. A plain value, the same at every participant.
struct KITH_EXPORT ShardMap {
  DType dtype = DType::f32;
  std::uint32_t dims = 0;  ///< of the caller's rows
  /// Rows of all participants, those left out included. It is the number of a missing neighbour.
  std::uint64_t rows = 0;
  CutRules rules;
  std::vector<ShardFacts> shards;

  ShardMap() = default;
  /// `facts` are those of all points, `shards` what each shard told, in their order.
  ShardMap(const PointFacts& facts, const CutRules& rules, std::vector<ShardFacts> shards);

  std::uint64_t points() const;  ///< without those left out
  std::uint32_t size() const { return static_cast<std::uint32_t>(shards.size()); }
  /// Whether boxes tell which shards a query must ask; under ip and braycurtis every query asks all.
  bool has_bounds() const;

  Bytes to_bytes() const;
  static ShardMap from_bytes(std::span<const std::byte> bytes);

 private:
  void require_sound() const;
};

}  // namespace kith::shards::inline v0
