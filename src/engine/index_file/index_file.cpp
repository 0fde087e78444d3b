// See index_file.hpp.
#include "engine/index_file/index_file.hpp"

#include "engine/index_file/layout.hpp"
#include "runtime/first_match.hpp"
#include "runtime/regular_file.hpp"
#include "runtime/physical_memory.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace kith::engine {
namespace {

/// Puts `bytes` bytes from `offset` of the file to `out`.
using ReadBytes = std::function<void(std::uint64_t offset, std::byte* out, std::uint64_t bytes)>;

/// A part of the file that is read and checked at once: up to kBytesPerChecksum of a section, or of a gap, which must
/// be zero.
struct Piece {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  const SectionRecord* section = nullptr;  ///< null: a gap
  std::uint64_t checksum = 0;
};

void add_pieces(std::vector<Piece>& pieces, std::uint64_t first, std::uint64_t end, const SectionRecord* section,
                const std::uint64_t* checksums) {
  for (std::uint64_t offset = first; offset < end; offset += kBytesPerChecksum) {
    const std::uint64_t bytes = std::min(kBytesPerChecksum, end - offset);
    pieces.push_back({offset, bytes, section, checksums != nullptr ? *checksums++ : 0});
  }
}

/// All of the file behind the front matter.
std::vector<Piece> pieces_of(const FrontMatter& front) {
  std::vector<Piece> pieces;
  std::uint64_t at = front.header.front_bytes;
  const std::uint64_t* checksums = front.checksums.data();
  for (const SectionRecord& section : front.sections) {
    add_pieces(pieces, at, section.offset, nullptr, nullptr);
    add_pieces(pieces, section.offset, section.end(), &section, checksums);
    checksums += section.checksums();
    at = section.end();
  }
  add_pieces(pieces, at, front.header.file_bytes, nullptr, nullptr);
  return pieces;
}

bool is_right(const Piece& piece, std::span<const std::byte> bytes) {
  if (piece.section != nullptr) return checksum_of(bytes) == piece.checksum;
  // Zero is what begins with zero and equals itself one byte further on.
  return bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Reads the file into one block as it lies, so that sections are found at their offsets.
std::shared_ptr<const std::byte> read_all(const FrontMatter& front, std::span<const std::byte> front_bytes,
                                          const std::string& name, const RunOptions& run, const ReadBytes& read) {
  constexpr std::uint64_t kAlignment = 64;
  const std::uint64_t bytes = front.header.file_bytes;
  runtime::require_memory(bytes, "the index");
  const std::uint64_t capacity = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::byte* content = static_cast<std::byte*>(std::aligned_alloc(kAlignment, capacity));
  if (content == nullptr) throw OutOfMemory(fmt::format("not enough memory: the index needs {} bytes", bytes));
  std::shared_ptr<const std::byte> owner(content, [](const std::byte* p) { std::free(const_cast<std::byte*>(p)); });
  std::memcpy(content, front_bytes.data(), front_bytes.size());

  const std::vector<Piece> pieces = pieces_of(front);
  runtime::ProgressMeter meter(run.progress, "reading", bytes);
  std::uint64_t wrong = pieces.size();
  // In rounds, so that the calling thread reports between them and a stop is noticed.
  constexpr std::uint64_t kRound = 256;
  for (std::uint64_t first = 0; first < pieces.size() && wrong == pieces.size(); first += kRound) {
    meter.report(pieces[first].offset);
    const std::uint64_t count = std::min(kRound, pieces.size() - first);
    const std::uint64_t found = runtime::first_match(count, 1, run.threads, [&](std::uint64_t i) {
      const Piece& piece = pieces[first + i];
      read(piece.offset, content + piece.offset, piece.bytes);
      return !is_right(piece, {content + piece.offset, piece.bytes});
    });
    if (found < count) wrong = first + found;
  }
  meter.finish();
  if (wrong < pieces.size()) {
    const Piece& piece = pieces[wrong];
    if (piece.section == nullptr) {
      throw_damaged(name, fmt::format("the padding between bytes {} and {} is not zero", piece.offset,
                                      piece.offset + piece.bytes));
    }
    throw_damaged(name, fmt::format("the checksum of bytes {} to {} in section {} is wrong", piece.offset,
                                    piece.offset + piece.bytes, name_of(static_cast<SectionId>(piece.section->id))));
  }
  return owner;
}

/// The front matter's bytes, after as much of the header was checked as it takes to know their number.
std::vector<std::byte> read_front_bytes(std::uint64_t file_bytes, const std::string& name, const ReadBytes& read) {
  std::vector<std::byte> front(std::min<std::uint64_t>(file_bytes, sizeof(HeaderRecord)));
  read(0, front.data(), front.size());
  const HeaderRecord header = decode_header(front, file_bytes, name);
  runtime::require_memory(header.front_bytes, "the table of the index");
  front.resize(header.front_bytes);
  read(sizeof header, front.data() + sizeof header, front.size() - sizeof header);
  return front;
}

ReadBytes reader_of(const runtime::RegularFile& file) {
  return [&file](std::uint64_t offset, std::byte* out, std::uint64_t bytes) { file.read_exact(offset, out, bytes); };
}
ReadBytes reader_of(std::span<const std::byte> bytes) {
  return [bytes](std::uint64_t offset, std::byte* out, std::uint64_t count) {
    if (count > 0) std::memcpy(out, bytes.data() + offset, count);
  };
}

}  // namespace

IndexFile::IndexFile(std::string name, FrontMatter front, std::shared_ptr<const std::byte> content, bool is_trusted)
    : name_(std::move(name)), front_(std::move(front)), content_(std::move(content)), is_trusted_(is_trusted) {}

IndexFile IndexFile::read(const std::string& path, const RunOptions& run) {
  const runtime::RegularFile file(path);
  const ReadBytes read = reader_of(file);
  const std::vector<std::byte> front_bytes = read_front_bytes(file.size(), path, read);
  FrontMatter front = decode_front(front_bytes, file.size(), path);
  auto content = read_all(front, front_bytes, path, run, read);
  return IndexFile(path, std::move(front), std::move(content), /*is_trusted=*/false);
}

IndexFile IndexFile::map(const std::string& path) {
  const runtime::RegularFile file(path);
  FrontMatter front = decode_front(read_front_bytes(file.size(), path, reader_of(file)), file.size(), path);
  return IndexFile(path, std::move(front), runtime::map_file(file), /*is_trusted=*/true);
}

IndexFile IndexFile::copy_of(std::span<const std::byte> bytes, const std::string& name, const RunOptions& run) {
  const ReadBytes read = reader_of(bytes);
  const std::vector<std::byte> front_bytes = read_front_bytes(bytes.size(), name, read);
  FrontMatter front = decode_front(front_bytes, bytes.size(), name);
  auto content = read_all(front, front_bytes, name, run, read);
  return IndexFile(name, std::move(front), std::move(content), /*is_trusted=*/false);
}

FrontMatter IndexFile::read_front(const std::string& path) {
  const runtime::RegularFile file(path);
  return decode_front(read_front_bytes(file.size(), path, reader_of(file)), file.size(), path);
}

FrontMatter IndexFile::read_front(std::span<const std::byte> bytes, const std::string& name) {
  return decode_front(read_front_bytes(bytes.size(), name, reader_of(bytes)), bytes.size(), name);
}

const SectionRecord* IndexFile::find(SectionId id) const {
  for (const SectionRecord& section : front_.sections) {
    if (section.id == static_cast<std::uint32_t>(id)) return &section;
  }
  return nullptr;
}

void IndexFile::require_only(std::initializer_list<SectionId> known) const {
  for (const SectionRecord& section : front_.sections) {
    const auto id = static_cast<SectionId>(section.id);
    if ((section.id & kOptionalSection) != 0 || std::find(known.begin(), known.end(), id) != known.end()) continue;
    refuse(fmt::format("section {} ({}) does not belong to engine {}", section.id, engine::name_of(id),
                       kith::name_of(facts().engine)));
  }
}

std::uint64_t IndexFile::count(SectionId id) const {
  const SectionRecord* section = find(id);
  if (section == nullptr) refuse(fmt::format("section {} is missing", engine::name_of(id)));
  return section->count;
}

std::span<const std::byte> IndexFile::bytes(SectionId id, std::uint64_t element_bytes, std::uint64_t count) const {
  const SectionRecord* section = find(id);
  if (section == nullptr) refuse(fmt::format("section {} is missing", engine::name_of(id)));
  if (section->element_bytes != element_bytes || section->count != count) {
    refuse(fmt::format("section {} has {} elements of {} bytes, but {} of {} bytes are needed", engine::name_of(id),
                       section->count, section->element_bytes, count, element_bytes));
  }
  return {content_.get() + section->offset, section->bytes()};
}

}  // namespace kith::engine
