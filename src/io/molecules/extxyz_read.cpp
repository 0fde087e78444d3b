// Reads the atoms of an XYZ file: a count, a comment, an atom per line. In the extended form the comment names the
// columns (Properties=species:S:1:pos:R:3:…) and the cell (Lattice="…").
#include "io/molecules/line_cursor.hpp"
#include "io/records/record_source.hpp"
#include "io/text/text_field.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace kith::io::inline v0 {
namespace {

/// The value of `key` in a comment such as `Lattice="1 0 0 0 1 0 0 0 1" Properties=…`; empty if it is not there.
std::string_view comment_value(std::string_view comment, std::string_view key) {
  for (std::size_t at = comment.find(key); at != std::string_view::npos; at = comment.find(key, at + 1)) {
    const bool starts = at == 0 || comment[at - 1] == ' ' || comment[at - 1] == '\t';
    std::string_view rest = comment.substr(at + key.size());
    if (!starts || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    if (rest.starts_with('"')) return rest.substr(1, rest.find('"', 1) - 1);
    return rest.substr(0, rest.find_first_of(" \t"));
  }
  return {};
}

class ExtendedXyz {
 public:
  ExtendedXyz(const runtime::InputFile& file, const ReadOptions& options) : file_(file), lines_(file, options) {}

  RecordSource read() {
    std::string_view line;
    if (!lines_.next(line)) throw BadData(fmt::format("{}: holds no points, the file is empty", file_.name()));
    const std::uint64_t atoms = lines_.count(line, "number of atoms, which the first line gives");
    if (atoms == 0) throw BadData(fmt::format("{}: holds no points, it says 0 atoms", file_.name()));
    if (!lines_.next(line)) lines_.fail("the comment is missing after the number of atoms");
    const std::string comment(line);
    std::vector<std::string_view> words;
    for (std::uint64_t i = 0; i < atoms; ++i) {
      if (!lines_.next(line)) {
        throw CorruptFile(
            fmt::format("{}: says {} atoms, but ends after {}; the file is cut short", file_.name(), atoms, i));
      }
      split_words(line, words);
      if (i == 0) declare_columns(comment, words.size());
      add_atom(words);
    }
    std::vector<std::string> notes = cell_notes(comment);
    const std::uint64_t frames = 1 + further_frames();
    if (frames > 1) notes.push_back(fmt::format("{}: holds {} frames; the first is read", file_.name(), frames));
    RecordSource source = rows_.finish(file_.name());
    source.notes = std::move(notes);
    return source;
  }

 private:
  void declare_columns(std::string_view comment, std::size_t words) {
    std::string_view properties = comment_value(comment, "Properties");
    if (properties.empty()) {
      declare("species", 'S', 1);
      declare("pos", 'R', 3);
      while (kinds_.size() < words) declare(fmt::format("{}", kinds_.size() + 1), 'R', 1);
      return;
    }
    std::vector<std::string_view> parts;
    for (;;) {
      const std::size_t colon = properties.find(':');
      parts.push_back(properties.substr(0, colon));
      if (colon == std::string_view::npos) break;
      properties.remove_prefix(colon + 1);
    }
    bool has_positions = false;
    for (std::size_t i = 0; i + 2 < parts.size(); i += 3) {
      const std::uint64_t count = lines_.count(parts[i + 2], "number of columns in Properties (name:type:columns)");
      const bool known =
          parts[i + 1].size() == 1 && std::string_view("SRIL").find(parts[i + 1][0]) != std::string_view::npos;
      if (!known || count == 0 || count > words) {
        fail_properties(fmt::format("{}:{}:{}", parts[i], parts[i + 1], parts[i + 2]));
      }
      has_positions = has_positions || (parts[i] == "pos" && count == 3 && parts[i + 1] == "R");
      declare(parts[i], parts[i + 1][0], static_cast<std::size_t>(count));
    }
    if (parts.size() % 3 != 0) fail_properties(parts.back());
    if (!has_positions) fail_properties("no pos:R:3");
  }

  [[noreturn]] void fail_properties(std::string_view what) const {
    throw CorruptFile(
        fmt::format("{}: line 2: Properties are name:type:columns with the types S, R, I and L, and pos:R:3 "
                    "among them; here: {}",
                    file_.name(), shown(what)));
  }

  void declare(std::string_view name, char type, std::size_t count) {
    constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
    for (std::size_t i = 0; i < count; ++i) {
      std::string column(name == "species" ? "element" : name);  // as in files without Properties
      if (name == "pos" && count == 3) {
        column = kAxes[i];
      } else if (count == 3) {
        column += fmt::format("_{}", kAxes[i]);
      } else if (count > 1) {
        column += fmt::format("_{}", i + 1);
      }
      names_.push_back(column);
      kinds_.push_back(type == 'S' || type == 'L' ? 'S' : 'R');
      kinds_.back() == 'S' ? rows_.add_text(std::move(column)) : rows_.add_number(std::move(column));
    }
  }

  void add_atom(const std::vector<std::string_view>& words) {
    if (words.size() != kinds_.size()) {
      lines_.fail(fmt::format("has {} fields where an atom has {}", words.size(), kinds_.size()));
    }
    rows_.start_row();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (kinds_[i] == 'S') {
        rows_.set(i, words[i]);
      } else {
        rows_.set(i, lines_.value(words[i], names_[i]));
      }
    }
  }

  std::vector<std::string> cell_notes(std::string_view comment) const {
    const std::string_view lattice = comment_value(comment, "Lattice");
    if (lattice.empty()) return {};
    std::vector<std::string_view> words;
    split_words(lattice, words);
    std::array<double, 9> cell{};
    if (words.size() != 9) return {fmt::format("{}: the Lattice has {} numbers, not 9", file_.name(), words.size())};
    bool rectangular = true;
    for (std::size_t i = 0; i < 9; ++i) {
      cell[i] = lines_.value(words[i], "Lattice");
      rectangular = rectangular && (i % 4 == 0 || cell[i] == 0);
    }
    const std::string period = rectangular ? period_advice(cell[0], cell[4], cell[8]) : std::string();
    if (period.empty())
      return {fmt::format("{}: the cell is not rectangular: Lattice {}", file_.name(), shown(lattice))};
    return {fmt::format("{}: the cell repeats; a search across its faces takes {}", file_.name(), period)};
  }

  /// Frames behind the first; they are only counted.
  std::uint64_t further_frames() {
    std::string_view line;
    std::uint64_t frames = 0;
    while (lines_.next_filled(line)) {
      ++frames;
      const std::uint64_t atoms = lines_.count(line, "number of atoms, with which a frame begins");
      for (std::uint64_t i = 0; i <= atoms; ++i) {
        if (!lines_.next(line)) return frames;
      }
    }
    return frames;
  }

  const runtime::InputFile& file_;
  LineCursor lines_;
  RowBuilder rows_;
  std::vector<std::string> names_;
  std::vector<char> kinds_;  // per field: S or R
};

}  // namespace

RecordSource find_extxyz(const runtime::InputFile& file, const ReadOptions& options) {
  return ExtendedXyz(file, options).read();
}

}  // namespace kith::io::inline v0
