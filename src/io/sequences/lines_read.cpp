// A string in each line, or a set of whole numbers.
#include "io/sequences/sequence_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr bool separates(char c) { return is_blank(c) || c == ','; }

void note_empty(SequenceFile& file, std::uint64_t empty, std::string_view are) {
  if (empty == 0) return;
  file.notes.push_back(fmt::format("{} empty line{} read as {}", empty, empty == 1 ? " was" : "s were", are));
}

}  // namespace

SequenceFile read_lines(const SequenceText& file) {
  SequenceFile result;
  result.sequences = SequenceSet(file.kind);
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(file.text, '\n'));
  result.sequences.reserve(lines + 1, file.text.size() - lines);
  std::uint64_t empty = 0;
  TextLine line;
  for (TextLines all(file.text); all.next(line);) {
    add_string(result.sequences, file, line, line.text);
    if (line.text.empty()) ++empty;
  }
  note_empty(result, empty, empty == 1 ? "an empty string" : "empty strings");
  return result;
}

SequenceFile read_sets(const SequenceText& file) {
  SequenceFile result;
  result.sequences = SequenceSet(SequenceKind::sets);
  std::uint64_t empty = 0, repeated = 0;
  std::vector<std::uint32_t> members;
  TextLine line;
  for (TextLines all(file.text); all.next(line);) {
    members.clear();
    const char* at = line.text.data();
    const char* const end = at + line.text.size();
    for (;;) {
      while (at != end && separates(*at)) ++at;
      if (at == end) break;
      const char* const word_end = std::find_if(at, end, separates);
      std::uint32_t number = 0;
      const auto [read_to, error] = std::from_chars(at, word_end, number);
      if (error != std::errc() || read_to != word_end) {
        constexpr std::size_t kShown = 40;
        refuse_line(file, line.number,
                    fmt::format("\"{}\" is not a whole number from 0 to 4294967295; a set is a line of such numbers, "
                                "separated by blanks or commas",
                                std::string_view(at, word_end).substr(0, kShown)));
      }
      members.push_back(number);
      at = word_end;
    }
    result.sequences.add(members);
    if (members.empty()) ++empty;
    if (result.sequences.sequence(result.sequences.size() - 1).size() < members.size()) ++repeated;
  }
  note_empty(result, empty, empty == 1 ? "an empty set" : "empty sets");
  if (repeated > 0) {
    result.notes.push_back(
        fmt::format("{} set{} a number more than once; once counts", repeated, repeated == 1 ? " holds" : "s hold"));
  }
  return result;
}

}  // namespace kith::io::inline v0
