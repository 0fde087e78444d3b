// See loaded_shards.hpp.
#include "shards/stored/loaded_shards.hpp"

#include "runtime/regular_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kith::shards {

std::uint64_t LoadedShards::bytes_of(std::uint32_t shard) const {
  return manifest_.files[shard].index_bytes + manifest_.map.shards[shard].points * sizeof(std::uint64_t);
}

std::uint64_t LoadedShards::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, shard] : shards_) bytes += bytes_of(number);
  return bytes;
}

bool LoadedShards::holds(std::uint32_t shard) const {
  return std::any_of(shards_.begin(), shards_.end(), [&](const auto& loaded) { return loaded.first == shard; });
}

void LoadedShards::shrink(std::uint64_t most) {
  while (!shards_.empty() && bytes() > most) shards_.erase(shards_.begin());
}

Shard LoadedShards::get(std::uint32_t shard, std::uint64_t most) {
  const auto found =
      std::find_if(shards_.begin(), shards_.end(), [&](const auto& loaded) { return loaded.first == shard; });
  if (found != shards_.end()) {
    std::rotate(found, found + 1, shards_.end());
    return shards_.back().second;
  }
  shrink(most - std::min(most, bytes_of(shard)));
  shards_.emplace_back(shard, load(shard));
  ++loads_;
  return shards_.back().second;
}

Shard LoadedShards::load(std::uint32_t shard) const {
  const std::string path = paths_.index(shard);
  const ShardFile& file = manifest_.files[shard];
  const ShardFacts& facts = manifest_.map.shards[shard];
  require_same_file(path, file);
  std::uint64_t first = 0;
  for (std::uint32_t before = 0; before < shard; ++before) first += manifest_.map.shards[before].points;
  const runtime::RegularFile all_numbers(paths_.numbers());
  if (all_numbers.size() != manifest_.map.points() * sizeof(std::uint64_t)) {
    throw CorruptFile(fmt::format("{}: has {} bytes, but {} are needed; {}", all_numbers.name(), all_numbers.size(),
                                  manifest_.map.points() * sizeof(std::uint64_t), kBuildAgain));
  }
  std::vector<std::uint64_t> numbers(facts.points);
  all_numbers.read_exact(first * sizeof(std::uint64_t), numbers.data(), numbers.size() * sizeof(std::uint64_t));
  if (checksum_of_numbers(numbers) != file.numbers_sum) {
    throw CorruptFile(fmt::format("{}: the checksum of the numbers of shard {} is wrong; {}", all_numbers.name(), shard,
                                  kBuildAgain));
  }
  Index index = Index::load(path, {.device = Device::cpu(), .threads = threads_, .map = map_});
  const ShardMap& map = manifest_.map;
  const bool fits = index.dims() == map.dims && index.dtype() == map.dtype && index.metric() == map.rules.metric;
  if (fits && (numbers.empty() || numbers.back() < map.rows)) {
    try {
      return Shard::of_index(std::move(index), std::move(numbers), facts);
    } catch (const UsageError&) {  // said below
    }
  }
  throw CorruptFile(fmt::format("{}: does not fit the manifest of its folder; {}", path, kBuildAgain));
}

}  // namespace kith::shards
