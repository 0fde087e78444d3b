// Shards in a folder on the disk: built from files of points and searched within a limit of memory.
#pragma once

#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/io/point_rows.hpp>
#include <kith/neighbors.hpp>
#include <kith/shards/search.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace kith::shards::inline v0 {

/// How a folder of shards is built.
struct StoredBuildOptions {
  /// 1 to 4096; 0: as few as `memory` allows.
  std::uint32_t shards = 0;
  /// The most bytes of memory that the build takes, the program included. 0: what the MemoryLimit of the thread allows,
  /// or half of the machine's memory.
  std::uint64_t memory = 0;
  /// For each shard; on the CPU. seuclidean and mahalanobis need their `metric_params`.
  BuildOptions build = {};
  /// Receives what a person should know: that an earlier build goes on, or that it does not and why.
  std::function<void(const std::string&)> note = {};
};

/// How a folder of shards is opened.
struct StoredOpenOptions {
  /// The most bytes of memory that a search takes, its result and the program included. 0: what the MemoryLimit of the
  /// thread that searches allows, or half of the machine's memory.
  std::uint64_t memory = 0;
  /// Search index files where they lie instead of reading and checking them, as LoadOptions::map.
  bool map = false;
  /// Threads on the CPU that load; 0 means all cores.
  int threads = 0;
};

/// As ShardedIndex, with its shards on the disk: as many of them as the memory allows are in memory at a time, at least
/// one. For the same points, queries and options its answers are those of an Index. Immutable; copies share it; every
/// call is thread-safe, but searches wait for each other.
class KITH_EXPORT StoredShards {
 public:
  /// Builds a folder from files of points, which are numbered one file after the other: their shards are those of
  /// ShardedIndex. The folder may be missing or empty, hold shards, which are replaced, or an unfinished build. A build
  /// of the same files with the same options goes on where it was interrupted or killed; one that is finished stays.
  /// Throws as `Index::build` does; IoError, also if the disk has not enough space; OutOfMemory, which says how many
  /// bytes would do; UsageError for a folder with other files. Passes over the files: 2, and 2 for each level of the
  /// cuts (ceil(log2 shards)), more where many coordinates are equal and memory is short.
  static StoredShards build(std::span<const io::PointRows> files, const std::string& folder,
                            const StoredBuildOptions& options = {});
  /// Reads the manifest, and no shard. Throws IoError, CorruptFile if it is damaged; searches throw that for shards.
  static StoredShards open(const std::string& folder, const StoredOpenOptions& options = {});

  WideNeighbors knn(PointView queries, std::uint32_t k, const ShardSearchOptions& options = {}) const;
  WideNeighborLists radius(PointView queries, const Radii& radii, const ShardSearchOptions& options = {}) const;
  std::vector<std::uint64_t> count(PointView queries, const Radii& radii, const ShardSearchOptions& options = {}) const;

  /// Rows of the caller, those left out included.
  std::uint64_t size() const { return map().rows; }
  std::uint64_t skipped() const { return map().rows - map().points(); }
  std::uint32_t dims() const { return map().dims; }
  DType dtype() const { return map().dtype; }
  Metric metric() const { return map().rules.metric; }
  const ShardMap& map() const;
  const std::string& folder() const;
  /// Bytes of its files.
  std::uint64_t file_bytes() const;
  /// The most that a shard takes in memory, its numbers included.
  std::uint64_t largest_shard_bytes() const;
  /// How many shards were read from the disk so far.
  std::uint64_t loads() const;
  /// What it holds, for people.
  std::string explain() const;

  struct State;  // src/shards/stored/stored_shards.cpp

 private:
  explicit StoredShards(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Whether a path is a folder of shards, finished or not. Throws nothing.
KITH_EXPORT bool is_stored_shards(const std::string& path);

}  // namespace kith::shards::inline v0
