// Folders of shards for knn and radius: see prepared_search.hpp.
#pragma once

#include "sources.hpp"

#include <kith/error.hpp>
#include <kith/shards/stored_shards.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// A folder of shards with the face of an index. Points have numbers of 32 bits where they fit, as in an index.
template <typename Number>
class StoredIndex {
 public:
  /// As StoredShards::open; the memory is that of --memory.
  static StoredIndex load(const std::string& path, const LoadOptions& options);

  NeighborsOf<Number> knn(PointView queries, std::uint32_t k, const SearchOptions& options) const;
  NeighborListsOf<Number> radius(PointView queries, const Radii& radii, const SearchOptions& options) const;
  std::vector<std::uint32_t> count(PointView queries, const Radii& radii, const SearchOptions& options) const;
  [[noreturn]] NeighborsOf<Number> knn_self(std::uint32_t, const SearchOptions&) const { refuse_self(); }
  [[noreturn]] NeighborListsOf<Number> radius_self(const Radii&, const SearchOptions&) const { refuse_self(); }
  [[noreturn]] std::vector<std::uint32_t> count_self(const Radii&, const SearchOptions&) const { refuse_self(); }

  std::uint64_t size() const { return stored_.size(); }
  std::uint64_t skipped() const { return stored_.skipped(); }
  std::uint32_t dims() const { return stored_.dims(); }
  DType dtype() const { return stored_.dtype(); }
  kith::Metric metric() const { return stored_.metric(); }
  Engine engine() const { return engine_; }
  Device device() const { return Device::cpu(); }
  std::uint64_t memory_bytes() const { return stored_.file_bytes(); }
  std::string explain() const { return stored_.explain(); }
  std::string explain_knn(std::uint32_t, std::optional<std::uint64_t>, const SearchOptions&) const {
    return path_text();
  }
  std::string explain_radius(std::optional<std::uint64_t>, const SearchOptions&) const { return path_text(); }

 private:
  StoredIndex(shards::StoredShards stored, Engine engine) : stored_(std::move(stored)), engine_(engine) {}
  [[noreturn]] static void refuse_self();
  static std::string path_text();

  shards::StoredShards stored_;
  Engine engine_;
};

/// Whether the points of a folder have numbers of 32 bits.
bool has_narrow_numbers(const std::string& folder);

template <typename Number>
class StoredSource : public PointSource {
 public:
  using Index = StoredIndex<Number>;

  static bool is_index(const std::string&) { return true; }
  static IndexFileInfo describe(const std::string& path);
  void require_flags(const SourceInput& input, bool is_index) const;
  [[noreturn]] Index build(const SourceInput&, const BuildOptions&) const {
    throw UsageError("a folder of shards is loaded, not built");
  }
  void take_columns(const SourceInput&, const Index&) const {}
};

}  // namespace kith::cli
