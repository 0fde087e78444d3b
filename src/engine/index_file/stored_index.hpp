// What saving and loading have in common whatever was indexed: a file or bytes in memory, errors of memory, the device.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/index_file/layout.hpp"
#include "engine/total_time.hpp"
#include "engine/with_memory.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/output_file.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace kith::engine {

inline void require_threads(int threads) {
  if (threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", threads));
}

/// Calls `write(sink)` for a file that appears whole or not at all.
template <typename Write>
void save_to_file(const std::string& path, std::uint64_t bytes, Write&& write) {
  with_memory(bytes, "saving the index", [&] {
    runtime::OutputFile file(path);
    write([&](std::span<const std::byte> part) { file.write(part.data(), part.size()); });
    file.commit();
  });
}

/// The same in memory. `index_bytes` are those of the index, which lies on `device`.
template <typename Write>
std::vector<std::byte> save_to_bytes(std::uint64_t index_bytes, Device device, Write&& write) {
  return with_memory(index_bytes, "the copy of the index", [&] {
    std::vector<std::byte> all;
    write([&](std::span<const std::byte> part) {
      if (all.empty()) {  // the front matter, which starts with the header
        HeaderRecord header;
        std::memcpy(&header, part.data(), sizeof(header));
        if (device == Device::cpu()) {
          runtime::require_allowed(index_bytes + header.file_bytes, "the copy of the index");
        }
        all.reserve(header.file_bytes);
      }
      all.insert(all.end(), part.begin(), part.end());
    });
    return all;
  });
}

/// Returns `load(file)` of the file, read or mapped.
template <typename Load>
auto load_from_file(const std::string& path, const LoadOptions& options, Load&& load) {
  require_threads(options.threads);
  const TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "checking");
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!options.map && options.device.kind() != Device::Kind::cuda)
    runtime::require_allowed(unknown ? 0 : bytes, "the index");
  return with_memory(unknown || options.map ? 0 : bytes, "the index", [&] {
    const RunOptions run{options.threads, &options.progress};
    return load(options.map ? IndexFile::map(path) : IndexFile::read(path, run));
  });
}

template <typename Load>
auto load_from_bytes(std::span<const std::byte> bytes, const LoadOptions& options, Load&& load) {
  require_threads(options.threads);
  const TotalTime total(options.times);
  const runtime::Watched watched(&options.progress, "checking");
  if (options.map) throw UsageError("map is for files; bytes in memory are always copied and checked");
  if (options.device.kind() != Device::Kind::cuda) runtime::require_allowed(bytes.size(), "the index");
  return with_memory(bytes.size(), "the index", [&] {
    return load(IndexFile::copy_of(bytes, "index in memory", {options.threads, &options.progress}));
  });
}

/// A mapped file is searched where it lies, unless a GPU was requested: `automatic` looks for none.
inline Device device_for(const IndexFile& file, Device wanted) {
  return file.is_trusted() && wanted.kind() == Device::Kind::automatic ? Device::cpu() : wanted;
}

/// Why the engine of a loaded index is what it is.
inline std::string loaded_text(const IndexFile& file) {
  return fmt::format("that of {}, {}", file.name(),
                     file.is_trusted() ? "mapped and not checked" : "loaded and checked");
}

/// Throws UsageError unless the file is an index of `wanted`.
inline void require_content(const IndexFile& file, IndexContent wanted) {
  const IndexContent content = file.facts().content;
  if (content == wanted) return;
  constexpr const char* kLoaders[] = {"Index", "BitIndex", "SequenceIndex"};
  throw UsageError(fmt::format("{}: is an index of {}, not of {}; load it with {}", file.name(), kith::name_of(content),
                               kith::name_of(wanted), kLoaders[static_cast<int>(content)]));
}

}  // namespace kith::engine
