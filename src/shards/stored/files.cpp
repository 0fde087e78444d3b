// See files.hpp. The manifest and the state are messages that end with a checksum of all before.
#include "shards/stored/files.hpp"

#include "runtime/checksum.hpp"
#include "runtime/output_file.hpp"
#include "runtime/physical_memory.hpp"
#include "runtime/regular_file.hpp"
#include "shards/byte_message.hpp"
#include "shards/check_rules.hpp"
#include "shards/stored/placed_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kith::shards {
namespace {

constexpr std::uint32_t kVersion = 1;
/// Of an index file; its header lies in them.
constexpr std::uint64_t kHeadBytes = 4096;

Bytes with_checksum(ByteWriter writer) {
  Bytes bytes = std::move(writer).take();
  const std::uint64_t sum = runtime::checksum_of(bytes);
  const auto* start = reinterpret_cast<const std::byte*>(&sum);
  bytes.insert(bytes.end(), start, start + sizeof(sum));
  return bytes;
}

/// Calls read(reader) for the bytes before the checksum; all that is wrong is said with the name of the file.
template <typename Read>
auto read_checked(const std::string& path, MessageId id, const Read& read) {
  const runtime::RegularFile file(path);
  const auto refuse = [&](const std::string& what) {
    throw CorruptFile(fmt::format("{}: {}; {}", path, what, kBuildAgain));
  };
  std::uint64_t sum = 0;
  if (file.size() < sizeof(sum)) refuse("is cut short");
  runtime::require_memory(file.size(), path);
  Bytes bytes(file.size());
  file.read_exact(0, bytes.data(), bytes.size());
  const std::span<const std::byte> content = std::span(bytes).first(bytes.size() - sizeof(sum));
  std::memcpy(&sum, bytes.data() + content.size(), sizeof(sum));
  if (runtime::checksum_of(content) != sum) refuse("its checksum is wrong, so it is damaged or no such file");
  try {
    ByteReader reader(content, id);
    const auto version = reader.get<std::uint32_t>();
    if (version != kVersion) {
      refuse(fmt::format("is of version {}, but this kith reads version {}", version, kVersion));
    }
    auto result = read(reader);
    reader.finish();
    return result;
  } catch (const CorruptFile& error) {
    throw CorruptFile(std::string(error.what()).starts_with(path) ? error.what()
                                                                  : fmt::format("{}: {}", path, error.what()));
  }
}

ByteWriter begin(MessageId id) {
  ByteWriter writer(id);
  writer.put(kVersion);
  return writer;
}

/// Whole messages within one.
void put_message(ByteWriter& writer, const Bytes& bytes) { writer.put_array(bytes); }
template <typename Message>
Message get_message(ByteReader& reader) {
  return Message::from_bytes(reader.get_array<std::byte>());
}

}  // namespace

std::string StoredPaths::index(std::uint32_t shard) const { return fmt::format("{}/shard-{:04}.kith", folder, shard); }

Manifest read_manifest(const StoredPaths& paths) {
  return read_checked(paths.manifest(), MessageId::manifest, [](ByteReader& reader) {
    Manifest manifest;
    manifest.source = reader.get_text();
    manifest.map = get_message<ShardMap>(reader);
    manifest.files = reader.get_array<ShardFile>();
    const ShardMap& map = manifest.map;
    bool is_sound = manifest.files.size() == map.size() && map.size() <= kMostShards && map.rows <= kMostRows;
    std::uint64_t points = 0;
    for (std::uint32_t shard = 0; is_sound && shard < map.size(); ++shard) {
      is_sound = map.shards[shard].points <= map.rows - points &&
                 (map.shards[shard].points == 0) == (manifest.files[shard].index_bytes == 0);
      points += map.shards[shard].points;
    }
    if (!is_sound) throw CorruptFile("its shards do not fit together");
    return manifest;
  });
}

void write_manifest(const StoredPaths& paths, const Manifest& manifest) {
  ByteWriter writer = begin(MessageId::manifest);
  writer.put_text(manifest.source);
  put_message(writer, manifest.map.to_bytes());
  writer.put_array(manifest.files);
  const Bytes bytes = with_checksum(std::move(writer));
  runtime::OutputFile file(paths.manifest());
  file.write(bytes.data(), bytes.size());
  file.commit();
}

std::optional<BuildState> read_state(const StoredPaths& paths) {
  if (std::error_code unknown; !std::filesystem::exists(paths.state(), unknown)) return {};
  try {
    return read_checked(paths.state(), MessageId::building, [](ByteReader& reader) {
      BuildState state;
      state.source = reader.get_text();
      state.rules = get_rules(reader);
      if (reader.get_flag()) state.facts = get_message<PointFacts>(reader);
      if (reader.get_flag()) state.plan = get_message<CutPlan>(reader);
      state.is_dealt = reader.get_flag();
      const auto built = reader.get<std::uint64_t>();
      for (std::uint64_t i = 0; i < built; ++i) state.facts_of_shards.push_back(get_message<ShardFacts>(reader));
      state.files = reader.get_array<ShardFile>();
      if (state.files.size() != built || built > state.rules.shards)
        throw CorruptFile("its shards do not fit together");
      return state;
    });
  } catch (const CorruptFile&) {
    return {};
  }
}

void write_state(const StoredPaths& paths, const BuildState& state) {
  ByteWriter writer = begin(MessageId::building);
  writer.put_text(state.source);
  put_rules(writer, state.rules);
  writer.put(static_cast<std::uint8_t>(state.facts.has_value()));
  if (state.facts) put_message(writer, state.facts->to_bytes());
  writer.put(static_cast<std::uint8_t>(state.plan.has_value()));
  if (state.plan) put_message(writer, state.plan->to_bytes());
  writer.put(static_cast<std::uint8_t>(state.is_dealt));
  writer.put(static_cast<std::uint64_t>(state.facts_of_shards.size()));
  for (const ShardFacts& facts : state.facts_of_shards) put_message(writer, facts.to_bytes());
  writer.put_array(state.files);
  const Bytes bytes = with_checksum(std::move(writer));
  // Not synchronised to the disk: a state that is lost with the machine's power is only older, or no state.
  const std::string temporary = paths.state() + ".tmp";
  std::filesystem::remove(temporary);
  PlacedFile(temporary, bytes.size()).write_at(0, bytes.data(), bytes.size());
  std::filesystem::rename(temporary, paths.state());
}

namespace {

std::uint64_t checksum_of_head(const runtime::RegularFile& file) {
  Bytes head(std::min(kHeadBytes, file.size()));
  file.read_exact(0, head.data(), head.size());
  return runtime::checksum_of(head);
}

}  // namespace

std::uint64_t checksum_of_numbers(std::span<const std::uint64_t> numbers) {
  return runtime::checksum_of(std::as_bytes(numbers));
}

ShardFile describe_shard_file(const std::string& index, std::span<const std::uint64_t> numbers) {
  const runtime::RegularFile file(index);
  return {file.size(), checksum_of_head(file), checksum_of_numbers(numbers)};
}

void require_same_file(const std::string& index, const ShardFile& file) {
  const runtime::RegularFile there(index);
  if (there.size() == file.index_bytes && checksum_of_head(there) == file.index_head) return;
  throw CorruptFile(
      fmt::format("{}: is not the file that the manifest of its folder describes; {}", index, kBuildAgain));
}

}  // namespace kith::shards
