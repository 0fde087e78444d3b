// The files in a folder of shards: their names, what the manifest says, and how far an unfinished build is.
//
//   manifest          written last: what was built, the map of all shards, checksums of all files
//   shard-0000.kith   an index file for each shard that has points
//   numbers           of all points, 8 bytes each, shard by shard
//   building/         while it is built: `state`, and the rows of all points, shard by shard
#pragma once

#include <kith/shards/cut.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::shards {

/// One shard on the disk.
struct ShardFile {
  std::uint64_t index_bytes = 0;  ///< 0: it has no points, and no file
  std::uint64_t index_head = 0;   ///< checksum of the first bytes, which hold checksums of all others
  std::uint64_t numbers_sum = 0;  ///< checksum of its numbers
};

struct Manifest {
  std::string source;  ///< what it was built from, and how
  ShardMap map;
  std::vector<ShardFile> files;  ///< of all shards
};

/// What an unfinished build has done.
struct BuildState {
  std::string source;
  CutRules rules;
  std::optional<PointFacts> facts;
  std::optional<CutPlan> plan;
  bool is_dealt = false;
  std::vector<ShardFacts> facts_of_shards;  ///< of those that are built, in their order
  std::vector<ShardFile> files;
};

/// The paths in a folder.
struct StoredPaths {
  std::string folder;

  std::string manifest() const { return folder + "/manifest"; }
  std::string numbers() const { return folder + "/numbers"; }
  std::string index(std::uint32_t shard) const;
  std::string building() const { return folder + "/building"; }
  std::string state() const { return building() + "/state"; }
  std::string rows() const { return building() + "/rows"; }
};

/// What to do about a damaged folder.
inline constexpr const char* kBuildAgain = "remove the folder and build the shards again";

/// Throws IoError, and CorruptFile if the file is damaged or no such file.
Manifest read_manifest(const StoredPaths& paths);
void write_manifest(const StoredPaths& paths, const Manifest& manifest);
/// Nothing if there is none that could be read.
std::optional<BuildState> read_state(const StoredPaths& paths);
void write_state(const StoredPaths& paths, const BuildState& state);

/// What the manifest says of the index of a shard that was saved.
ShardFile describe_shard_file(const std::string& index, std::span<const std::uint64_t> numbers);
/// Throws CorruptFile unless the index file is the one that was saved.
void require_same_file(const std::string& index, const ShardFile& file);
std::uint64_t checksum_of_numbers(std::span<const std::uint64_t> numbers);

}  // namespace kith::shards
