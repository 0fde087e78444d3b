// Sequences of whole numbers side by side: strings of letters or bytes, and sets.
#pragma once

#include <kith/export.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::inline v0 {

/// What the items of sequences are: any numbers, bytes of strings, Unicode code points of strings, or members of sets,
/// which are ascending and different.
enum class SequenceKind : std::uint8_t { numbers, bytes, text, sets };

/// "numbers", "bytes", "text" or "sets".
KITH_EXPORT std::string_view name_of(SequenceKind kind);

/// Borrows sequences: number i is items[offsets[i]] up to, but not with, items[offsets[i + 1]]. Copying is free; the
/// memory, on the host, must outlive the view.
class KITH_EXPORT SequenceView {
 public:
  /// No sequences.
  constexpr SequenceView() = default;
  /// `offsets` holds count + 1 values, ascending; the first need not be 0.
  constexpr SequenceView(SequenceKind kind, const std::uint32_t* items, const std::uint64_t* offsets,
                         std::uint64_t count)
      : items_(items), offsets_(offsets), count_(count), kind_(kind) {}

  constexpr SequenceKind kind() const { return kind_; }
  constexpr const std::uint32_t* items() const { return items_; }
  constexpr const std::uint64_t* offsets() const { return offsets_; }
  constexpr std::uint64_t size() const { return count_; }
  /// The same, as all views of queries name it.
  constexpr std::uint64_t rows() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }

  constexpr std::uint64_t length(std::uint64_t i) const { return offsets_[i + 1] - offsets_[i]; }
  constexpr std::span<const std::uint32_t> sequence(std::uint64_t i) const {
    return {items_ + offsets_[i], static_cast<std::size_t>(length(i))};
  }
  /// The sequences [first, first + count).
  constexpr SequenceView slice(std::uint64_t first, std::uint64_t count) const {
    return SequenceView(kind_, items_, offsets_ + first, count);
  }
  /// Items of all sequences together.
  constexpr std::uint64_t item_count() const { return count_ == 0 ? 0 : offsets_[count_] - offsets_[0]; }

 private:
  const std::uint32_t* items_ = nullptr;
  const std::uint64_t* offsets_ = nullptr;
  std::uint64_t count_ = 0;
  SequenceKind kind_ = SequenceKind::numbers;
};

/// Owns sequences and grows by one at a time.
class KITH_EXPORT SequenceSet {
 public:
  explicit SequenceSet(SequenceKind kind = SequenceKind::text) : kind_(kind) {}
  /// Takes arrays as SequenceView describes them; the first offset is 0, the last the number of items. What the items
  /// are is checked when an index is built. Throws UsageError if the offsets do not fit.
  SequenceSet(SequenceKind kind, std::vector<std::uint32_t> items, std::vector<std::uint64_t> offsets);

  /// An item for each byte.
  static SequenceSet from_bytes(std::span<const std::string_view> strings);
  static SequenceSet from_bytes(std::initializer_list<std::string_view> strings);
  /// An item for each code point of UTF-8. Throws BadData that names the row and the byte where it is none.
  static SequenceSet from_text(std::span<const std::string_view> strings);
  static SequenceSet from_text(std::initializer_list<std::string_view> strings);
  /// Sorted, and what is in one twice is kept once.
  static SequenceSet from_sets(std::span<const std::vector<std::uint32_t>> sets);
  static SequenceSet from_sets(std::initializer_list<std::vector<std::uint32_t>> sets);

  /// Adds a string, of bytes or of UTF-8 as the kind says; for other kinds UsageError is thrown. BadData as above.
  void add(std::string_view string);
  /// Adds items as they are; of a set sorted and once each.
  void add(std::span<const std::uint32_t> items);
  /// Makes room for so many sequences and items in all.
  void reserve(std::uint64_t sequences, std::uint64_t items);

  SequenceKind kind() const { return kind_; }
  std::uint64_t size() const { return offsets_.size() - 1; }
  std::span<const std::uint32_t> sequence(std::uint64_t i) const { return view().sequence(i); }
  /// Sequence i as a string again: bytes, or UTF-8. For other kinds UsageError is thrown.
  std::string string(std::uint64_t i) const;
  SequenceView view() const { return SequenceView(kind_, items_.data(), offsets_.data(), size()); }
  operator SequenceView() const { return view(); }  // NOLINT(google-explicit-constructor): a set can be searched
  /// Bytes of the sequences.
  std::uint64_t bytes() const { return items_.size() * 4 + offsets_.size() * 8; }

 private:
  SequenceKind kind_;
  std::vector<std::uint32_t> items_;
  std::vector<std::uint64_t> offsets_ = {0};
};

}  // namespace kith::inline v0
