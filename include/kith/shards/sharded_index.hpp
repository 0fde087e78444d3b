// Points in several shards of one process, searched as one index: each shard on a device of its own, if there are more.
#pragma once

#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/shards/search.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kith::shards::inline v0 {

/// How shards are built.
struct ShardedBuildOptions {
  /// 1 to 4096; 0: one for each device.
  std::uint32_t shards = 0;
  /// Where shards lie, in turn; a device may be named more than once. Empty: `build.device` for all.
  std::vector<Device> devices = {};
  /// For each shard; answers are the same on every device and by every engine.
  BuildOptions build = {};
};

/// As kith::Index, with 64-bit numbers: for the same points, queries and options its answers are the same, whatever the
/// number of shards. Points may be more than 2^32; a shard holds at most 2^32 - 2. Immutable; copies share it; every
/// call is thread-safe.
class KITH_EXPORT ShardedIndex {
 public:
  /// Points are numbered by their rows. Throws as `Index::build` does.
  static ShardedIndex build(PointView points, const ShardedBuildOptions& options = {});
  /// Points in several arrays, dealt out in any way.
  static ShardedIndex build(std::span<const NumberedPoints> parts, const ShardedBuildOptions& options = {});

  WideNeighbors knn(PointView queries, std::uint32_t k, const ShardSearchOptions& options = {}) const;
  WideNeighbors knn_self(std::uint32_t k, const ShardSearchOptions& options = {}) const;
  WideNeighborLists radius(PointView queries, const Radii& radii, const ShardSearchOptions& options = {}) const;
  WideNeighborLists radius_self(const Radii& radii, const ShardSearchOptions& options = {}) const;
  std::vector<std::uint64_t> count(PointView queries, const Radii& radii, const ShardSearchOptions& options = {}) const;
  std::vector<std::uint64_t> count_self(const Radii& radii, const ShardSearchOptions& options = {}) const;
  WidePointLists box(PointView lower, PointView upper, const ShardSearchOptions& options = {}) const;
  std::vector<std::uint64_t> box_count(PointView lower, PointView upper, const ShardSearchOptions& options = {}) const;

  /// Rows of the caller, those left out included.
  std::uint64_t size() const { return map().rows; }
  std::uint64_t skipped() const { return map().rows - map().points(); }
  std::uint32_t dims() const { return map().dims; }
  DType dtype() const { return map().dtype; }
  Metric metric() const { return map().rules.metric; }
  const ShardMap& map() const;
  const Shard& shard(std::uint32_t number) const;
  std::uint64_t memory_bytes() const;
  /// Shards with their devices, engines and counts, for people.
  std::string explain() const;

  struct State;  // src/shards/sharded_index.cpp

 private:
  explicit ShardedIndex(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace kith::shards::inline v0
