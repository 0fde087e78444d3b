// Strings as sets of their shingles or words. See read_sequences.hpp.
#include <kith/error.hpp>
#include <kith/io/read_sequences.hpp>

#include <vector>

namespace kith::io::inline v0 {
namespace {

/// The number that stands for some letters: FNV-1a over their bytes, then mixed so that all bits depend on all letters.
/// The same on every machine, because an index may be searched on another one.
std::uint32_t number_of(std::span<const std::uint32_t> letters) {
  std::uint32_t hash = 2166136261u;
  for (const std::uint32_t letter : letters) {
    for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (letter >> shift & 0xFFu)) * 16777619u;
  }
  hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
  hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
  return hash ^ hash >> 16;
}

bool is_white(std::uint32_t letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

void require_strings(SequenceView strings) {
  if (strings.kind() == SequenceKind::text || strings.kind() == SequenceKind::bytes) return;
  throw UsageError("shingles and words are made of strings, not of sets or numbers");
}

}  // namespace

SequenceSet shingles_of(SequenceView strings, std::uint32_t length) {
  require_strings(strings);
  if (length == 0) throw UsageError("a shingle has at least one letter");
  SequenceSet sets(SequenceKind::sets);
  std::vector<std::uint32_t> members;
  for (std::uint64_t i = 0; i < strings.size(); ++i) {
    const std::span<const std::uint32_t> letters = strings.sequence(i);
    members.clear();
    if (!letters.empty() && letters.size() < length) members.push_back(number_of(letters));
    for (std::size_t first = 0; first + length <= letters.size(); ++first) {
      members.push_back(number_of(letters.subspan(first, length)));
    }
    sets.add(members);
  }
  return sets;
}

SequenceSet words_of(SequenceView strings) {
  require_strings(strings);
  SequenceSet sets(SequenceKind::sets);
  std::vector<std::uint32_t> members;
  for (std::uint64_t i = 0; i < strings.size(); ++i) {
    const std::span<const std::uint32_t> letters = strings.sequence(i);
    members.clear();
    for (std::size_t at = 0; at < letters.size();) {
      const std::size_t first = at;
      while (at < letters.size() && !is_white(letters[at])) ++at;
      if (at > first) members.push_back(number_of(letters.subspan(first, at - first)));
      while (at < letters.size() && is_white(letters[at])) ++at;
    }
    sets.add(members);
  }
  return sets;
}

}  // namespace kith::io::inline v0
