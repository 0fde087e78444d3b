// See zip_read.hpp. No size is believed before the bytes of the file back it.
#include "io/numpy/zip_read.hpp"

#include "io/records/record_values.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kZip64DirectoryEnd = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::uint64_t kDirectoryEndBytes = 22;
constexpr std::uint64_t kLocatorBytes = 20;
constexpr std::uint64_t kMaxDirectoryBytes = std::uint64_t{1} << 26;
constexpr std::uint64_t kMaxDeflateRatio = 1032;  // deflate cannot do better
constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 22;

template <typename T>
T number(const char* from) {
  return load_value<T, std::endian::native == std::endian::big>(from);
}

struct Directory {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t entries;
};

[[noreturn]] void damaged(const runtime::InputFile& file, std::string_view why) {
  throw CorruptFile(fmt::format("{}: the ZIP archive is damaged: {}", file.name(), why));
}

/// Finds the record at the end of the archive, which a comment may follow.
Directory find_directory(const runtime::InputFile& file) {
  if (file.size() < kDirectoryEndBytes) damaged(file, "too short");
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(file.size(), kDirectoryEndBytes + 0xffff);
  const std::uint64_t tail_offset = file.size() - tail_bytes;
  std::vector<char> tail(static_cast<std::size_t>(tail_bytes));
  file.read_exact(tail_offset, tail.data(), tail.size());
  for (std::uint64_t at = tail_bytes - kDirectoryEndBytes + 1; at-- > 0;) {
    const char* end = tail.data() + at;
    if (number<std::uint32_t>(end) != kDirectoryEnd) continue;
    if (at + kDirectoryEndBytes + number<std::uint16_t>(end + 20) != tail_bytes) continue;
    Directory directory{number<std::uint32_t>(end + 16), number<std::uint32_t>(end + 12),
                        number<std::uint16_t>(end + 10)};
    std::uint64_t limit = tail_offset + at;
    char locator[kLocatorBytes];
    if (limit >= kLocatorBytes) {
      file.read_exact(limit - kLocatorBytes, locator, kLocatorBytes);
      if (number<std::uint32_t>(locator) == kZip64Locator) {
        const auto record_offset = number<std::uint64_t>(locator + 8);
        if (record_offset > limit - kLocatorBytes || limit - kLocatorBytes - record_offset < 56) {
          damaged(file, "the ZIP64 record lies outside");
        }
        char record[56];
        file.read_exact(record_offset, record, sizeof(record));
        if (number<std::uint32_t>(record) != kZip64DirectoryEnd) damaged(file, "the ZIP64 record is missing");
        directory = {number<std::uint64_t>(record + 48), number<std::uint64_t>(record + 40),
                     number<std::uint64_t>(record + 32)};
        limit = record_offset;
      }
    }
    if (directory.offset > limit || directory.bytes > limit - directory.offset) {
      damaged(file, "its directory lies outside the file");
    }
    if (directory.bytes > kMaxDirectoryBytes) damaged(file, "its directory is larger than 64 MiB");
    return directory;
  }
  damaged(file, "the directory at its end is missing; the file is cut short or no ZIP archive");
}

/// Takes the 64-bit values of the ZIP64 field for every 32-bit value that says "look there".
void apply_zip64(const runtime::InputFile& file, ZipEntry& entry, const char* extra, std::size_t extra_bytes) {
  constexpr std::uint64_t kLookThere = 0xffffffff;
  if (entry.bytes != kLookThere && entry.stored_bytes != kLookThere && entry.header_offset != kLookThere) return;
  std::size_t at = 0;
  while (extra_bytes - at >= 4) {
    const auto id = number<std::uint16_t>(extra + at);
    const auto size = static_cast<std::size_t>(number<std::uint16_t>(extra + at + 2));
    at += 4;
    if (size > extra_bytes - at) damaged(file, "an extra field is cut short");
    if (id == 1) {
      std::size_t used = 0;
      for (std::uint64_t* value : {&entry.bytes, &entry.stored_bytes, &entry.header_offset}) {
        if (*value != kLookThere) continue;
        if (size - used < 8) damaged(file, "a ZIP64 field is too short");
        *value = number<std::uint64_t>(extra + at + used);
        used += 8;
      }
      return;
    }
    at += size;
  }
}

}  // namespace

ZipArchive::ZipArchive(const runtime::InputFile& file) : file_(file) {
  const Directory directory = find_directory(file);
  directory_offset_ = directory.offset;
  std::vector<char> bytes(static_cast<std::size_t>(directory.bytes));
  file.read_exact(directory.offset, bytes.data(), bytes.size());
  constexpr std::size_t kFixedBytes = 46;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (bytes.size() - at < kFixedBytes) damaged(file, "its directory is cut short");
    const char* from = bytes.data() + at;
    if (number<std::uint32_t>(from) != kDirectoryEntry) damaged(file, "a directory entry has no signature");
    const std::size_t name_bytes = number<std::uint16_t>(from + 28);
    const std::size_t extra_bytes = number<std::uint16_t>(from + 30);
    const std::size_t comment_bytes = number<std::uint16_t>(from + 32);
    if (bytes.size() - at - kFixedBytes < name_bytes + extra_bytes + comment_bytes) {
      damaged(file, "a directory entry is cut short");
    }
    ZipEntry entry;
    entry.name.assign(from + kFixedBytes, name_bytes);
    entry.flags = number<std::uint16_t>(from + 8);
    entry.method = number<std::uint16_t>(from + 10);
    entry.checksum = number<std::uint32_t>(from + 16);
    entry.stored_bytes = number<std::uint32_t>(from + 20);
    entry.bytes = number<std::uint32_t>(from + 24);
    entry.header_offset = number<std::uint32_t>(from + 42);
    apply_zip64(file, entry, from + kFixedBytes + name_bytes, extra_bytes);
    entries_.push_back(std::move(entry));
    at += kFixedBytes + name_bytes + extra_bytes + comment_bytes;
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::string ZipArchive::describe(const ZipEntry& entry) const {
  return fmt::format("{}: {}", file_.name(), entry.name.substr(0, 80));
}

std::uint64_t ZipArchive::data_offset(const ZipEntry& entry) const {
  if ((entry.flags & 1) != 0) throw CorruptFile(fmt::format("{}: is encrypted; decrypt it first", describe(entry)));
  if (entry.method != 0 && entry.method != 8) {
    throw CorruptFile(fmt::format("{}: is compressed by ZIP method {}; kith reads stored and deflated members",
                                  describe(entry), entry.method));
  }
  constexpr std::uint64_t kFixedBytes = 30;
  if (entry.header_offset > directory_offset_ || directory_offset_ - entry.header_offset < kFixedBytes) {
    throw CorruptFile(fmt::format("{}: the ZIP directory points outside the file", describe(entry)));
  }
  char header[kFixedBytes];
  file_.read_exact(entry.header_offset, header, kFixedBytes);
  if (number<std::uint32_t>(header) != kLocalHeader) {
    throw CorruptFile(fmt::format("{}: no ZIP member starts at byte {}", describe(entry), entry.header_offset));
  }
  const std::uint64_t begin =
      entry.header_offset + kFixedBytes + number<std::uint16_t>(header + 26) + number<std::uint16_t>(header + 28);
  if (begin > directory_offset_ || entry.stored_bytes > directory_offset_ - begin) {
    throw CorruptFile(fmt::format("{}: claims {} bytes from byte {} on, but the ZIP directory starts at byte {}",
                                  describe(entry), entry.stored_bytes, begin, directory_offset_));
  }
  if (entry.method == 0 && entry.stored_bytes != entry.bytes) {
    throw CorruptFile(fmt::format("{}: is stored, yet its two sizes differ: {} and {}", describe(entry),
                                  entry.stored_bytes, entry.bytes));
  }
  if (entry.method == 8 && entry.bytes / kMaxDeflateRatio > entry.stored_bytes) {
    throw CorruptFile(fmt::format("{}: {} bytes cannot be deflated to {}; the directory is wrong", describe(entry),
                                  entry.bytes, entry.stored_bytes));
  }
  return begin;
}

std::vector<char> ZipArchive::inflate_member(const ZipEntry& entry, std::uint64_t limit,
                                             const ProgressCallback& progress) const {
  const std::uint64_t begin = data_offset(entry);
  const std::uint64_t wanted = std::min(entry.bytes, limit);
  runtime::ProgressMeter meter(&progress, "inflating", entry.stored_bytes);
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) throw OutOfMemory(fmt::format("{}: no memory to inflate", describe(entry)));
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};

  std::vector<unsigned char> input(std::size_t{1} << 18);
  std::vector<char> output;
  std::uint64_t taken = 0;
  std::size_t used = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END && used < wanted) {
    if (stream.avail_in == 0) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(input.size(), entry.stored_bytes - taken));
      if (step == 0) break;
      file_.read_exact(begin + taken, input.data(), step);
      taken += step;
      stream.next_in = input.data();
      stream.avail_in = static_cast<uInt>(step);
      meter.report(taken);
    }
    if (used == output.size()) {  // grows with what really comes out, never by what the directory says
      const std::uint64_t grown = std::max<std::uint64_t>(std::uint64_t{1} << 16, output.size() * std::uint64_t{2});
      try {
        output.resize(static_cast<std::size_t>(std::min(wanted, grown)));
      } catch (const std::bad_alloc&) {
        throw OutOfMemory(
            fmt::format("{}: not enough memory for the {} bytes that it inflates to", describe(entry), wanted));
      }
    }
    const std::size_t capacity = std::min<std::size_t>(output.size() - used, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<unsigned char*>(output.data()) + used;
    stream.avail_out = static_cast<uInt>(capacity);
    result = inflate(&stream, Z_NO_FLUSH);
    used += capacity - stream.avail_out;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      throw CorruptFile(fmt::format("{}: the deflated data is damaged near byte {} of the file", describe(entry),
                                    begin + taken - stream.avail_in));
    }
  }
  if (used < wanted) {
    throw CorruptFile(fmt::format("{}: inflates to {} bytes instead of {}", describe(entry), used, entry.bytes));
  }
  output.resize(used);
  meter.finish();
  return output;
}

ZipMember ZipArchive::open(const ZipEntry& entry, const ReadOptions& options) const {
  ZipMember member;
  const std::uint64_t begin = data_offset(entry);
  if (entry.method == 8) {
    member.inflated =
        std::make_unique<runtime::InputFile>(describe(entry), inflate_member(entry, entry.bytes, options.progress));
    member.file = member.inflated.get();
    member.begin = 0;
  } else {
    member.file = &file_;
    member.begin = begin;
  }
  member.bytes = entry.bytes;

  const std::uint64_t blocks = entry.bytes / kBlockBytes + (entry.bytes % kBlockBytes != 0);
  std::vector<std::uint32_t> checksums(static_cast<std::size_t>(blocks));
  const auto block_size = [&](std::uint64_t i) { return std::min(kBlockBytes, entry.bytes - i * kBlockBytes); };
  runtime::parallel_for(blocks,
                        {.threads = options.threads,
                         .stage = "checking",
                         .progress = &options.progress,
                         .units_per_task = kBlockBytes,
                         .total_units = entry.bytes},
                        [&](std::uint64_t i) {
                          std::vector<unsigned char> block(static_cast<std::size_t>(block_size(i)));
                          member.file->read_exact(member.begin + i * kBlockBytes, block.data(), block.size());
                          checksums[i] = static_cast<std::uint32_t>(crc32_z(0, block.data(), block.size()));
                        });
  uLong checksum = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    checksum = crc32_combine(checksum, checksums[i], static_cast<z_off_t>(block_size(i)));
  }
  if (checksum != entry.checksum) {
    throw CorruptFile(fmt::format("{}: its checksum is {:08x}, but the archive says {:08x}; the file is damaged",
                                  describe(entry), checksum, entry.checksum));
  }
  return member;
}

std::unique_ptr<runtime::InputFile> ZipArchive::head(const ZipEntry& entry, std::size_t limit) const {
  std::vector<char> bytes;
  if (entry.method == 8) {
    bytes = inflate_member(entry, limit, {});
  } else {
    const std::uint64_t begin = data_offset(entry);
    bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(limit, entry.bytes)));
    file_.read_exact(begin, bytes.data(), bytes.size());
  }
  return std::make_unique<runtime::InputFile>(describe(entry), std::move(bytes));
}

}  // namespace kith::io::inline v0
