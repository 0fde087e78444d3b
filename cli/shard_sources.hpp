// Shards for knn and radius: of a folder on the disk, or on several devices. See prepared_search.hpp.
#pragma once

#include "sources.hpp"

#include <kith/error.hpp>
#include <kith/shards/sharded_index.hpp>
#include <kith/shards/stored_shards.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

/// Shards with the face of an index. Points have numbers of 32 bits where they fit, as in an index.
template <typename Shards, typename Number>
class ShardsAsIndex {
 public:
  /// The names of several devices, as `Device::name` is that of one.
  struct DeviceNames {
    std::string names;
    std::string name() const { return names; }
  };

  ShardsAsIndex(Shards shards, Engine engine, std::string devices)
      : shards_(std::move(shards)), engine_(engine), devices_(std::move(devices)) {}
  /// A folder; the memory is that of --memory.
  static ShardsAsIndex load(const std::string& path, const LoadOptions& options);

  NeighborsOf<Number> knn(PointView queries, std::uint32_t k, const SearchOptions& options) const;
  NeighborListsOf<Number> radius(PointView queries, const Radii& radii, const SearchOptions& options) const;
  std::vector<std::uint32_t> count(PointView queries, const Radii& radii, const SearchOptions& options) const;
  NeighborsOf<Number> knn_self(std::uint32_t k, const SearchOptions& options) const;
  NeighborListsOf<Number> radius_self(const Radii& radii, const SearchOptions& options) const;
  std::vector<std::uint32_t> count_self(const Radii& radii, const SearchOptions& options) const;

  std::uint64_t size() const { return shards_.size(); }
  std::uint64_t skipped() const { return shards_.skipped(); }
  std::uint32_t dims() const { return shards_.dims(); }
  DType dtype() const { return shards_.dtype(); }
  kith::Metric metric() const { return shards_.metric(); }
  Engine engine() const { return engine_; }
  DeviceNames device() const { return {devices_}; }
  std::uint64_t memory_bytes() const;
  std::string explain() const { return shards_.explain(); }
  std::string explain_knn(std::uint32_t, std::optional<std::uint64_t>, const SearchOptions&) const;
  std::string explain_radius(std::optional<std::uint64_t>, const SearchOptions&) const;

 private:
  Shards shards_;
  Engine engine_;
  std::string devices_;
};

/// Whether the points of a folder have numbers of 32 bits.
bool has_narrow_numbers(const std::string& folder);

/// POINTS is a folder of shards.
template <typename Number>
class StoredSource : public PointSource {
 public:
  using Index = ShardsAsIndex<shards::StoredShards, Number>;

  static bool is_index(const std::string&) { return true; }
  static IndexFileInfo describe(const std::string& path);
  void require_flags(const SourceInput& input, bool is_index) const;
  [[noreturn]] Index build(const SourceInput&, const BuildOptions&) const {
    throw UsageError("a folder of shards is loaded, not built");
  }
  void take_columns(const SourceInput&, const Index&) const {}
};

/// --device names several.
class SeveralDevicesSource : public PointSource {
 public:
  using Index = ShardsAsIndex<shards::ShardedIndex, std::uint32_t>;

  void require_flags(const SourceInput& input, bool is_index) const;
  Index build(const SourceInput& input, const BuildOptions& options) const;
  void take_columns(const SourceInput&, const Index&) const {}
};

}  // namespace kith::cli
