// See sequence_set.hpp.
#include <kith/sequence_set.hpp>

#include "runtime/utf8.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::inline v0 {
namespace {

template <typename Parts>
SequenceSet set_of(SequenceKind kind, const Parts& parts) {
  SequenceSet set(kind);
  std::uint64_t items = 0;
  for (const auto& part : parts) items += part.size();
  set.reserve(parts.size(), items);
  for (const auto& part : parts) set.add(part);
  return set;
}

}  // namespace

std::string_view name_of(SequenceKind kind) {
  switch (kind) {
    case SequenceKind::numbers:
      return "numbers";
    case SequenceKind::bytes:
      return "bytes";
    case SequenceKind::text:
      return "text";
    case SequenceKind::sets:
      break;
  }
  return "sets";
}

SequenceSet::SequenceSet(SequenceKind kind, std::vector<std::uint32_t> items, std::vector<std::uint64_t> offsets)
    : kind_(kind), items_(std::move(items)), offsets_(std::move(offsets)) {
  if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != items_.size() ||
      !std::is_sorted(offsets_.begin(), offsets_.end())) {
    throw UsageError("offsets of sequences ascend from 0 to the number of items");
  }
}

SequenceSet SequenceSet::from_bytes(std::span<const std::string_view> strings) {
  return set_of(SequenceKind::bytes, strings);
}
SequenceSet SequenceSet::from_bytes(std::initializer_list<std::string_view> strings) {
  return set_of(SequenceKind::bytes, strings);
}
SequenceSet SequenceSet::from_text(std::span<const std::string_view> strings) {
  return set_of(SequenceKind::text, strings);
}
SequenceSet SequenceSet::from_text(std::initializer_list<std::string_view> strings) {
  return set_of(SequenceKind::text, strings);
}
SequenceSet SequenceSet::from_sets(std::span<const std::vector<std::uint32_t>> sets) {
  return set_of(SequenceKind::sets, sets);
}
SequenceSet SequenceSet::from_sets(std::initializer_list<std::vector<std::uint32_t>> sets) {
  return set_of(SequenceKind::sets, sets);
}

void SequenceSet::add(std::string_view string) {
  const std::size_t before = items_.size();
  if (kind_ == SequenceKind::text) {
    const std::size_t bad = runtime::append_code_points(string, items_);
    if (bad < string.size()) {
      items_.resize(before);
      throw BadData(fmt::format(
          "row {}, byte {} (counted from 0): {:#04x} is not valid UTF-8; correct it, or take strings as bytes", size(),
          bad, static_cast<unsigned char>(string[bad])));
    }
  } else if (kind_ == SequenceKind::bytes) {
    for (const char c : string) items_.push_back(static_cast<unsigned char>(c));
  } else {
    throw UsageError(fmt::format("a string cannot be added to sequences of {}", name_of(kind_)));
  }
  offsets_.push_back(items_.size());
}

void SequenceSet::add(std::span<const std::uint32_t> items) {
  items_.insert(items_.end(), items.begin(), items.end());
  if (kind_ == SequenceKind::sets) {
    const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(offsets_.back());
    std::sort(begin, items_.end());
    items_.erase(std::unique(begin, items_.end()), items_.end());
  }
  offsets_.push_back(items_.size());
}

void SequenceSet::reserve(std::uint64_t sequences, std::uint64_t items) {
  offsets_.reserve(sequences + 1);
  items_.reserve(items);
}

std::string SequenceSet::string(std::uint64_t i) const {
  std::string text;
  if (kind_ != SequenceKind::text && kind_ != SequenceKind::bytes) {
    throw UsageError(fmt::format("sequences of {} are not strings", name_of(kind_)));
  }
  for (const std::uint32_t item : sequence(i)) {
    if (kind_ == SequenceKind::bytes) {
      text += static_cast<char>(item);
    } else {
      runtime::append_utf8(item, text);
    }
  }
  return text;
}

}  // namespace kith::inline v0
