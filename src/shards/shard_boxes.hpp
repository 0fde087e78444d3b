// Bounds of the reduced distances from a query to the points of all shards, by their boxes.
#pragma once

#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <vector>

namespace kith::shards {

/// Side by side: one coordinate of all boxes, so that a query goes through them in vector code.
template <typename T>
class ShardBoxes {
 public:
  explicit ShardBoxes(const ShardMap& map);

  std::uint32_t size() const { return shards_; }
  /// No point of shard s is nearer to `row` than bounds[s]; below all distances where boxes tell nothing. `row` is as
  /// it is searched: mapped, and wrapped into periodic axes.
  void bounds(const T* row, T* bounds) const;
  /// Whether the box [lower, upper] has a place in common with that of a shard.
  bool overlap(const T* lower, const T* upper, std::uint32_t shard) const;
  /// Wraps a row that is mapped into periodic axes.
  void wrap(T* row) const;
  bool wraps() const { return !lengths_.empty(); }

 private:
  Metric metric_;
  bool has_bounds_;
  std::uint32_t shards_;
  std::uint32_t dims_ = 0;
  std::vector<T> lower_, upper_;  ///< dims x shards; those of empty shards mean nothing
  std::vector<T> lengths_;        ///< of periodic axes; empty: none wraps
};

}  // namespace kith::shards
