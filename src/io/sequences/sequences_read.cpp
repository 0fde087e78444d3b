// See read_sequences.hpp: opens a file, finds out what it is, and hands it to the reader of its format.
#include <kith/io/read_sequences.hpp>

#include "io/sequences/sequence_formats.hpp"
#include "runtime/physical_memory.hpp"
#include "runtime/utf8.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <stdexcept>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kMostSequences = 0xFFFFFFFEu;  // an index holds at most 2^32-2

constexpr std::array<std::pair<std::string_view, SequenceFormat>, 5> kNames = {{{"auto", SequenceFormat::automatic},
                                                                                {"lines", SequenceFormat::lines},
                                                                                {"fasta", SequenceFormat::fasta},
                                                                                {"phylip", SequenceFormat::phylip},
                                                                                {"sets", SequenceFormat::sets}}};
constexpr std::array<std::pair<std::string_view, SequenceFormat>, 11> kExtensions = {
    {{"fa", SequenceFormat::fasta},
     {"fas", SequenceFormat::fasta},
     {"fasta", SequenceFormat::fasta},
     {"fna", SequenceFormat::fasta},
     {"faa", SequenceFormat::fasta},
     {"ffn", SequenceFormat::fasta},
     {"frn", SequenceFormat::fasta},
     {"phy", SequenceFormat::phylip},
     {"phylip", SequenceFormat::phylip},
     {"txt", SequenceFormat::lines},
     {"sets", SequenceFormat::sets}}};

std::string text_of(const runtime::InputFile& file, const ProgressCallback& progress) {
  constexpr std::size_t kStep = std::size_t{16} << 20;
  runtime::require_memory(file.size(), "the text of " + file.name());
  std::string text(file.size(), '\0');
  for (std::size_t at = 0; at < text.size(); at += kStep) {
    file.read_exact(at, text.data() + at, std::min(kStep, text.size() - at));
    if (progress && !progress({"reading", std::min(at + kStep, text.size()), text.size()})) throw Interrupted();
  }
  return text;
}

/// Throws CorruptFile for files that hold no text.
void require_text(const SequenceText& file) {
  if (file.text.starts_with("\x93NUMPY")) {
    throw CorruptFile(
        fmt::format("{}: is a NumPy array, not text; strings and sets are read from text files", file.name));
  }
  if (file.text.starts_with("\x89KITH")) {
    throw CorruptFile(
        fmt::format("{}: is a kith index, not a file of sequences; name its file, not a pipe, where an "
                    "index is taken",
                    file.name));
  }
  if (file.text.starts_with("\xFF\xFE") || file.text.starts_with("\xFE\xFF")) {
    throw CorruptFile(fmt::format("{}: is UTF-16; convert it first (iconv -f utf-16 -t utf-8)", file.name));
  }
  const std::size_t nul = file.text.find('\0');
  if (nul != std::string_view::npos && file.kind != SequenceKind::bytes) {
    throw CorruptFile(
        fmt::format("{}: is not text: byte {} is NUL; if its lines are bytes, say so: `kind=bytes`", file.name, nul));
  }
}

SequenceFile read_as(SequenceFormat format, const SequenceText& file) {
  switch (format) {
    case SequenceFormat::fasta:
      return read_fasta(file);
    case SequenceFormat::phylip:
      return read_phylip(file);
    case SequenceFormat::sets:
      return read_sets(file);
    case SequenceFormat::automatic:
    case SequenceFormat::lines:
      break;
  }
  return read_lines(file);
}

}  // namespace

std::string_view name_of(SequenceFormat format) {
  for (const auto& [name, value] : kNames) {
    if (value == format) return name;
  }
  return "unknown";
}

SequenceFormat parse_sequence_format(std::string_view text) {
  for (const auto& [name, value] : kNames) {
    if (name == text) return value;
  }
  throw UsageError(
      fmt::format("\"{}\" is not a format of sequences; give one of auto, lines, fasta, phylip, sets", text));
}

SequenceFormat sequence_format_of_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return SequenceFormat::automatic;
  for (const auto& [extension, format] : kExtensions) {
    if (name.substr(dot + 1) == extension) return format;
  }
  return SequenceFormat::automatic;
}

SequenceFormat recognize_sequences(const SequenceText& file) {
  const SequenceFormat extension = sequence_format_of_extension(file.name);
  if (extension != SequenceFormat::automatic && extension != SequenceFormat::sets) return extension;
  TextLine line;
  TextLines lines(file.text);
  while (lines.next(line)) {
    const std::string_view text = trimmed(line.text);
    if (text.empty()) continue;
    if (text.front() == '>') return SequenceFormat::fasta;
    // "  14   232": two numbers and nothing else.
    std::size_t words = 0;
    bool are_digits = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (is_blank(text[i])) continue;
      are_digits = are_digits && text[i] >= '0' && text[i] <= '9';
      if (i == 0 || is_blank(text[i - 1])) ++words;
    }
    return are_digits && words == 2 ? SequenceFormat::phylip : SequenceFormat::lines;
  }
  return SequenceFormat::lines;
}

void refuse_line(const SequenceText& file, std::uint64_t line, const std::string& what) {
  throw BadData(fmt::format("{}: line {}: {}", file.name, line, what));
}

void add_string(SequenceSet& sequences, const SequenceText& file, const TextLine& line, std::string_view string) {
  if (sequences.size() >= kMostSequences) {
    refuse_line(file, line.number,
                fmt::format("more than the {} sequences that fit into one index; split the file", kMostSequences));
  }
  try {
    sequences.add(string);
  } catch (const BadData&) {  // which knows the row, but not the line
    std::vector<std::uint32_t> points;
    const std::size_t bad = runtime::append_code_points(string, points);
    refuse_line(
        file, line.number,
        fmt::format("byte {} of the string (counted from 1) is {:#04x}, which begins no UTF-8; convert the file "
                    "(iconv -f latin1 -t utf-8), or compare bytes: `kind=bytes`",
                    bad + 1, static_cast<unsigned char>(string[bad])));
  }
}

SequenceFile read_sequences(const runtime::InputFile& file, const SequenceReadOptions& options) {
  if (options.kind != SequenceKind::text && options.kind != SequenceKind::bytes) {
    throw UsageError("strings are read as text or as bytes");
  }
  if (options.shingle > 0 && options.words) throw UsageError("a set holds shingles or words, not both");
  const auto as_asked = [&](SequenceFile read) {
    if (options.shingle > 0 || options.words) {
      read.strings = std::move(read.sequences);
      read.sequences = options.words ? words_of(*read.strings) : shingles_of(*read.strings, options.shingle);
    }
    return read;
  };
  try {
    if (!options.text_column.empty()) return as_asked(read_text_column(file, options));
    const std::string content = text_of(file, options.progress);
    SequenceText text{file.name(), content, options.kind};
    if (text.text.starts_with("\xEF\xBB\xBF")) text.text.remove_prefix(3);  // UTF-8 with a mark of the byte order
    require_text(text);
    const SequenceFormat format =
        options.format == SequenceFormat::automatic ? recognize_sequences(text) : options.format;
    SequenceFile result = read_as(format, text);
    result.format = format;
    return as_asked(std::move(result));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  } catch (const std::length_error&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  }
}

SequenceFile read_sequences(const std::string& path, const SequenceReadOptions& options) {
  const runtime::InputFile file(path, options.progress);
  return read_sequences(file, options);
}

}  // namespace kith::io::inline v0
