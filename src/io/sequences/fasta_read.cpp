// FASTA: a name behind ">", then the sequence in any number of lines; lines behind ";" are comments.
#include "io/sequences/sequence_formats.hpp"

#include <fmt/format.h>

#include <string>

namespace kith::io::inline v0 {

SequenceFile read_fasta(const SequenceText& file) {
  SequenceFile result;
  result.sequences = SequenceSet(file.kind);
  std::string sequence;  // of the record that is open
  TextLine head;         // its first line
  std::uint64_t empty = 0;
  const auto finish = [&] {
    if (head.number == 0) return;
    add_string(result.sequences, file, head, sequence);
    if (sequence.empty()) ++empty;
    sequence.clear();
  };
  TextLine line;
  for (TextLines all(file.text); all.next(line);) {
    const std::string_view text = trimmed(line.text);
    if (text.empty() || text.front() == ';') continue;
    if (text.front() == '>') {
      finish();
      head = line;
      result.names.emplace_back(trimmed(text.substr(1)));
      continue;
    }
    if (head.number == 0) {
      refuse_line(file, line.number,
                  "letters before the first line with a name, which begins with \">\"; is this FASTA? (`format=lines` "
                  "reads a string in each line)");
    }
    for (const char c : text) {
      if (is_blank(c)) continue;
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        refuse_line(file, line.number,
                    fmt::format("a sequence holds no control characters, but {:#04x}", static_cast<unsigned char>(c)));
      }
      sequence += c;
    }
  }
  finish();
  if (empty > 0) {
    result.notes.push_back(
        fmt::format("{} name{} followed by no letters and read as empty", empty, empty == 1 ? " is" : "s are"));
  }
  return result;
}

}  // namespace kith::io::inline v0
