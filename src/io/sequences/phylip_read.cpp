// PHYLIP: the number of sequences and their length, then names and letters, one sequence after the other or in blocks.
//
// The file does not say which of its four forms it has: sequential or interleaved, names of exactly ten characters
// (which may hold blanks) or names that end at the first blank. But it says how long the sequences are, and a form that
// is not meant does not give that length; so all are tried.
#include "io/sequences/sequence_formats.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::inline v0 {
namespace {

struct Record {
  std::string name;
  std::string letters;
  TextLine line;             ///< its first
  std::uint64_t length = 0;  ///< letters: code points of UTF-8, if they are read as such

  friend bool operator==(const Record& a, const Record& b) { return a.name == b.name && a.letters == b.letters; }
};

/// Which form is tried, and what it gave.
struct Attempt {
  std::vector<Record> records;
  std::uint64_t wrong_line = 0;  ///< 0: it fits
  std::string what;

  bool fits() const { return wrong_line == 0; }
};

struct Header {
  std::uint64_t count = 0;
  std::uint64_t length = 0;
  std::uint64_t line = 0;
};

class PhylipReader {
 public:
  explicit PhylipReader(const SequenceText& file) : file_(file) {
    TextLine line;
    for (TextLines all(file.text); all.next(line);) {
      if (!trimmed(line.text).empty()) lines_.push_back(line);
    }
    header_ = read_header();
    lines_.erase(lines_.begin());
  }

  std::vector<Record> run() const {
    if (header_.count == 0) {
      if (lines_.empty()) return {};
      refuse_line(file_, lines_.front().number, "follows, but no sequences are promised");
    }
    Attempt first;
    for (const bool strict : {false, true}) {
      Attempt interleaved = read_interleaved(strict), sequential = read_sequential(strict);
      if (interleaved.fits() && sequential.fits() && interleaved.records != sequential.records) {
        throw BadData(
            fmt::format("{}: can be read as sequential and as interleaved PHYLIP, and the two differ; write "
                        "each sequence in one line, or use FASTA",
                        file_.name));
      }
      if (interleaved.fits()) return std::move(interleaved.records);
      if (sequential.fits()) return std::move(sequential.records);
      if (!strict) first = interleaved.wrong_line > sequential.wrong_line ? interleaved : sequential;
    }
    refuse_line(file_, first.wrong_line, first.what);
  }

 private:
  Header read_header() const {
    if (lines_.empty()) {
      throw BadData(
          fmt::format("{}: is empty, but PHYLIP begins with the number of sequences and their length", file_.name));
    }
    const std::string_view text = trimmed(lines_.front().text);
    Header header;
    header.line = lines_.front().number;
    const auto [middle, error] = std::from_chars(text.data(), text.data() + text.size(), header.count);
    const std::string_view rest = trimmed({middle, text.data() + text.size()});
    const auto [end, second] = std::from_chars(rest.data(), rest.data() + rest.size(), header.length);
    if (error != std::errc() || second != std::errc() || trimmed({end, rest.data() + rest.size()}) != "") {
      refuse_line(file_, lines_.front().number,
                  "PHYLIP begins with the number of sequences and their length, two whole numbers");
    }
    if (header.count >= lines_.size()) {
      refuse_line(file_, lines_.front().number,
                  fmt::format("{} sequences are promised, but only {} lines follow; the file is cut short or damaged",
                              header.count, lines_.size() - 1));
    }
    return header;
  }

  void append(Record& record, std::string_view text) const {
    for (const char c : text) {
      if (is_blank(c)) continue;
      record.letters += c;
      const bool continues = file_.kind == SequenceKind::text && (static_cast<unsigned char>(c) & 0xC0) == 0x80;
      record.length += continues ? 0 : 1;
    }
  }

  Record begin(const TextLine& line, bool strict) const {
    constexpr std::size_t kStrictName = 10;
    std::string_view text = line.text;
    std::size_t end = std::min(kStrictName, text.size());
    if (!strict) {
      text = trimmed(text);
      end = static_cast<std::size_t>(std::ranges::find_if(text, is_blank) - text.begin());
    }
    Record record{std::string(trimmed(text.substr(0, end))), {}, line};
    append(record, text.substr(end));
    return record;
  }

  void require_length(Attempt& attempt, const Record& record, std::uint64_t line) const {
    if (record.length == header_.length || !attempt.fits()) return;
    attempt.wrong_line = line;
    attempt.what = fmt::format("\"{}\" has {} letters, but line {} promises {}", record.name, record.length,
                               header_.line, header_.length);
  }

  Attempt read_sequential(bool strict) const {
    Attempt attempt;
    std::size_t next = 0;
    while (attempt.records.size() < header_.count && next < lines_.size() && attempt.fits()) {
      Record record = begin(lines_[next++], strict);
      while (record.length < header_.length && next < lines_.size()) {
        append(record, lines_[next++].text);
      }
      require_length(attempt, record, lines_[next - 1].number);
      attempt.records.push_back(std::move(record));
    }
    if (attempt.fits() && (attempt.records.size() < header_.count || next < lines_.size())) {
      attempt.wrong_line = lines_[std::min(next, lines_.size() - 1)].number;
      attempt.what = next < lines_.size() ? fmt::format("follows the {} sequences that are promised", header_.count)
                                          : fmt::format("the last line, but only {} of {} sequences are there",
                                                        attempt.records.size(), header_.count);
    }
    return attempt;
  }

  Attempt read_interleaved(bool strict) const {
    Attempt attempt;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i < header_.count) {
        attempt.records.push_back(begin(lines_[i], strict));
      } else {
        append(attempt.records[i % header_.count], lines_[i].text);
      }
    }
    for (const Record& record : attempt.records) require_length(attempt, record, record.line.number);
    if (attempt.fits() && lines_.size() % header_.count != 0) {
      attempt.wrong_line = lines_.back().number;
      attempt.what = fmt::format("blocks of {} lines are wanted, but the last is cut short", header_.count);
    }
    return attempt;
  }

  const SequenceText& file_;
  std::vector<TextLine> lines_;
  Header header_;
};

}  // namespace

SequenceFile read_phylip(const SequenceText& file) {
  SequenceFile result;
  result.sequences = SequenceSet(file.kind);
  for (const Record& record : PhylipReader(file).run()) {
    add_string(result.sequences, file, record.line, record.letters);
    result.names.push_back(record.name);
  }
  return result;
}

}  // namespace kith::io::inline v0
