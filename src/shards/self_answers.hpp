// The answers of a self-search, shard by shard, put into the order of all points.
#pragma once

#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::shards {

/// Rows of k neighbours. Those of points that were left out are missing.
class SelfNeighbors {
 public:
  SelfNeighbors(const ShardMap& map, std::uint32_t k, int threads);
  /// Row i of `found` is that of the point numbers[i].
  void place(std::span<const std::uint64_t> numbers, const WideNeighbors& found);
  WideNeighbors take() &&;

 private:
  std::uint64_t rows_;
  std::uint32_t k_;
  int threads_;
  ValueArray<std::uint64_t> numbers_;
  Distances distances_;
};

/// Lists of any length.
class SelfLists {
 public:
  SelfLists(const ShardMap& map, int threads);
  void add(const Shard& shard, WideNeighborLists found);
  WideNeighborLists take() &&;

 private:
  DType dtype_;
  std::uint64_t rows_;
  int threads_;
  std::vector<std::pair<Shard, WideNeighborLists>> found_;
};

/// The radii of the points of each shard, out of those of all.
class SelfRadii {
 public:
  SelfRadii(const Radii& radii, std::span<const Shard> shards);
  Radii of(std::uint32_t shard) const;

 private:
  double all_;
  std::vector<std::vector<double>> each_;  ///< of each shard; empty: one for all
};

}  // namespace kith::shards
