// The shards of a folder that are in memory: loaded when a search asks them, as many at a time as fit.
#pragma once

#include "shards/stored/files.hpp"

#include <kith/shards/shard.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::shards {

/// For one thread at a time.
class LoadedShards {
 public:
  /// Both must outlive it. `map`: as LoadOptions::map.
  LoadedShards(const StoredPaths& paths, const Manifest& manifest, bool map, int threads)
      : paths_(paths), manifest_(manifest), map_(map), threads_(threads) {}

  /// What a shard takes in memory.
  std::uint64_t bytes_of(std::uint32_t shard) const;
  /// Of all that are in memory.
  std::uint64_t bytes() const;
  bool holds(std::uint32_t shard) const;
  /// The shard, which has points. Others that were used longest ago make place for it, so that all take at most `most`
  /// bytes. Throws IoError, CorruptFile if its files are damaged, OutOfMemory.
  Shard get(std::uint32_t shard, std::uint64_t most);
  /// Forgets shards until they take at most that many bytes.
  void shrink(std::uint64_t most);
  std::uint64_t loads() const { return loads_; }

 private:
  Shard load(std::uint32_t shard) const;

  const StoredPaths& paths_;
  const Manifest& manifest_;
  bool map_;
  int threads_;
  std::uint64_t loads_ = 0;
  std::vector<std::pair<std::uint32_t, Shard>> shards_;  ///< the one used last at the end
};

}  // namespace kith::shards
