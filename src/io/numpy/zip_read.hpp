// The members of a ZIP archive: stored and deflated ones, ZIP64 included, checksums checked.
#pragma once

#include <kith/io/read_points.hpp>

#include "runtime/input_file.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// One entry of the central directory.
struct ZipEntry {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint32_t checksum = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t header_offset = 0;
};

/// The bytes of one member: a part of the archive itself if it is stored, else memory.
struct ZipMember {
  const runtime::InputFile* file = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::unique_ptr<runtime::InputFile> inflated;
};

/// Reads the directory once; members are opened one by one. The file must outlive the archive.
class ZipArchive {
 public:
  /// Throws CorruptFile if the directory is damaged.
  explicit ZipArchive(const runtime::InputFile& file);

  std::span<const ZipEntry> entries() const { return entries_; }
  /// The entry of that name, or null.
  const ZipEntry* find(std::string_view name) const;
  /// "archive.npz: name" for messages.
  std::string describe(const ZipEntry& entry) const;

  /// The whole member, its checksum verified. Throws CorruptFile; encrypted members and other methods are refused.
  ZipMember open(const ZipEntry& entry, const ReadOptions& options) const;
  /// The first bytes of the member, at most `limit`, without the checksum: enough to look at a header.
  std::unique_ptr<runtime::InputFile> head(const ZipEntry& entry, std::size_t limit) const;

 private:
  std::uint64_t data_offset(const ZipEntry& entry) const;
  std::vector<char> inflate_member(const ZipEntry& entry, std::uint64_t limit, const ProgressCallback& progress) const;

  const runtime::InputFile& file_;
  std::uint64_t directory_offset_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace kith::io::inline v0
