// An index file that was opened: its container is checked, its sections are in memory.
#pragma once

#include "engine/index_file/layout.hpp"
#include "engine/searcher.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

namespace kith::engine {

/// Sections lie in memory as in the file: 64-byte aligned, with kReadableAfterSection readable bytes behind each.
class IndexFile {
 public:
  /// Reads all of the file and checks lengths, table, checksums and padding. The largest allocation is the size of the
  /// file. Throws IoError, CorruptFile, OutOfMemory, Interrupted.
  static IndexFile read(const std::string& path, const RunOptions& run);
  /// Maps the file and checks its front matter only: for files that are trusted and that no one changes meanwhile.
  static IndexFile map(const std::string& path);
  /// The same checks as `read` on bytes in memory, which are copied. `name` stands in messages.
  static IndexFile copy_of(std::span<const std::byte> bytes, const std::string& name, const RunOptions& run);
  /// Only the front matter of a file, checked. Throws as `read`.
  static FrontMatter read_front(const std::string& path);
  static FrontMatter read_front(std::span<const std::byte> bytes, const std::string& name);

  /// For messages: the path.
  const std::string& name() const { return name_; }
  const IndexFacts& facts() const { return front_.facts; }
  /// False if contents must be checked before they are used.
  bool is_trusted() const { return is_trusted_; }
  bool has(SectionId id) const { return find(id) != nullptr; }
  /// Throws CorruptFile if a section is there that is neither in the list nor optional.
  void require_only(std::initializer_list<SectionId> known) const;
  /// How many elements a section has. Throws CorruptFile if it is not there.
  std::uint64_t count(SectionId id) const;
  /// The bytes of a section. Throws CorruptFile unless it is there with elements of that size and number.
  std::span<const std::byte> bytes(SectionId id, std::uint64_t element_bytes, std::uint64_t count) const;
  /// The same as `per_element` x `count` values.
  template <typename U>
  std::span<const U> values(SectionId id, std::uint64_t count, std::uint64_t per_element = 1) const {
    const std::span<const std::byte> raw = bytes(id, per_element * sizeof(U), count);
    return {reinterpret_cast<const U*>(raw.data()), raw.size() / sizeof(U)};
  }
  /// Keeps the sections alive.
  std::shared_ptr<const void> owner() const { return content_; }
  /// Throws CorruptFile that says what is wrong with the contents.
  [[noreturn]] void refuse(const std::string& what) const { throw_damaged(name_, what); }

 private:
  IndexFile(std::string name, FrontMatter front, std::shared_ptr<const std::byte> content, bool is_trusted);
  const SectionRecord* find(SectionId id) const;

  std::string name_;
  FrontMatter front_;
  std::shared_ptr<const std::byte> content_;
  bool is_trusted_;
};

}  // namespace kith::engine
