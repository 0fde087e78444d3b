// Reads the atoms of LAMMPS: the Atoms section of a data file, or the first snapshot of a text dump.
#include "io/molecules/line_cursor.hpp"
#include "io/records/record_source.hpp"
#include "io/text/text_field.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace kith::io::inline v0 {
namespace {

using Words = std::vector<std::string_view>;

/// What the lines of an atom style hold; three whole numbers, the image flags, may follow.
struct AtomStyle {
  std::string_view name;
  std::string_view columns;
};
constexpr std::array<AtomStyle, 15> kStyles = {{{"atomic", "id type x y z"},
                                                {"charge", "id type q x y z"},
                                                {"molecular", "id mol type x y z"},
                                                {"bond", "id mol type x y z"},
                                                {"angle", "id mol type x y z"},
                                                {"full", "id mol type q x y z"},
                                                {"sphere", "id type diameter density x y z"},
                                                {"ellipsoid", "id type ellipsoidflag density x y z"},
                                                {"dipole", "id type q x y z mux muy muz"},
                                                {"dpd", "id type theta x y z"},
                                                {"peri", "id type volume density x y z"},
                                                {"line", "id mol type lineflag density x y z"},
                                                {"tri", "id mol type triangleflag density x y z"},
                                                {"body", "id type bodyflag mass x y z"},
                                                {"template", "id type mol template atom x y z"}}};

bool is_whole_word(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// By the number of fields, the image flags, and whether the third field is the type of an atom or a charge.
std::string_view guess_style(const Words& words) {
  const bool has_flags = words.size() >= 8 && std::all_of(words.end() - 3, words.end(), is_whole_word) &&
                         !std::all_of(words.end() - 6, words.end() - 3, is_whole_word);
  switch (words.size() - (has_flags ? 3 : 0)) {
    case 5:
      return "atomic";
    case 6:
      return is_whole_word(words[2]) ? "molecular" : "charge";
    case 7:
      return is_whole_word(words[2]) ? "full" : "sphere";
    default:
      return {};
  }
}

class LammpsReader {
 public:
  LammpsReader(const runtime::InputFile& file, const ReadOptions& options) : file_(file), lines_(file, options) {}

  RecordSource read() {
    std::string_view line;
    if (!lines_.next(line)) throw BadData(fmt::format("{}: holds no points, the file is empty", file_.name()));
    const std::optional<std::uint64_t> atoms = line.starts_with("ITEM:") ? find_snapshot(line) : find_atoms_section();
    if (!atoms) throw BadData(fmt::format("{}: holds no points: it has no atoms", file_.name()));
    add_atoms(*atoms);
    if (is_dump_) note_further_snapshots();
    RecordSource source = rows_.finish(file_.name());
    source.defaults = std::move(defaults_);
    source.notes = std::move(notes_);
    return source;
  }

 private:
  void declare(std::string name) {
    const bool is_text = name == "element" || name == "mol_name" || name == "typelabel";
    names_.push_back(name);
    is_text_.push_back(is_text);
    is_text ? rows_.add_text(std::move(name)) : rows_.add_number(std::move(name));
  }

  bool has_column(std::string_view name) const { return std::ranges::find(names_, name) != names_.end(); }

  /// The header of a data file is lines such as "648 atoms" and "0 18.6 xlo xhi", in any order.
  std::optional<std::uint64_t> find_atoms_section() {
    std::optional<std::uint64_t> atoms;
    std::array<double, 3> lengths{};
    bool is_tilted = false;
    std::string_view line;
    while (lines_.next_filled(line)) {
      const std::size_t comment = line.find('#');
      Words words;
      split_words(line.substr(0, comment), words);
      if (words.empty()) continue;
      if (words.size() == 2 && words[1] == "atoms") atoms = lines_.count(words[0], "number of atoms");
      for (std::size_t axis = 0; axis < 3; ++axis) {
        constexpr std::array<std::string_view, 3> kLower = {"xlo", "ylo", "zlo"};
        if (words.size() == 4 && words[2] == kLower[axis]) {
          lengths[axis] = lines_.value(words[1], words[3]) - lines_.value(words[0], words[2]);
        }
      }
      is_tilted = is_tilted || words.back() == "yz";
      if (words.size() != 1 || words[0] != "Atoms") continue;
      if (!atoms) lines_.fail("the header does not say how many atoms there are (\"N atoms\")");
      note_box(lengths, is_tilted);
      const std::string style(comment == std::string_view::npos ? std::string_view()
                                                                : without_blanks(line.substr(comment + 1)));
      declare_style(style);
      return *atoms > 0 ? atoms : std::nullopt;
    }
    return std::nullopt;
  }

  void declare_style(std::string style) {
    // Look at the first atom, then go back to it.
    std::string_view line;
    const std::uint64_t number = lines_.number();
    const std::uint64_t begin = lines_.offset();
    if (!lines_.next_filled(line)) lines_.fail("the section Atoms is empty; the file is cut short");
    Words words;
    split_words(line.substr(0, line.find('#')), words);
    if (style.empty()) {
      style = words.size() < 5 ? std::string_view() : guess_style(words);
      if (style.empty()) {
        lines_.fail(fmt::format("{} fields fit no atom style; name it after the section: Atoms # full", words.size()));
      }
      notes_.push_back(fmt::format("{}: the atom style is taken to be {}; \"Atoms # STYLE\" in the file would say it",
                                   file_.name(), style));
    }
    const auto known = std::ranges::find(kStyles, style, &AtomStyle::name);
    if (known == kStyles.end()) {
      lines_.fail(
          fmt::format("the atom style {} is not known; kith reads atomic, charge, molecular, full, sphere and others "
                      "whose coordinates are at a fixed position",
                      shown(style)));
    }
    Words columns;
    split_words(known->columns, columns);
    for (const std::string_view name : columns) declare(std::string(name));
    if (words.size() == columns.size() + 3) {
      for (const char* name : {"ix", "iy", "iz"}) declare(name);
    }
    defaults_ = {"x", "y", "z"};
    lines_.seek(begin, number);
  }

  /// A dump is items: TIMESTEP, NUMBER OF ATOMS, BOX BOUNDS, ATOMS with the names of the columns.
  std::optional<std::uint64_t> find_snapshot(std::string_view line) {
    is_dump_ = true;
    std::optional<std::uint64_t> atoms;
    std::array<double, 3> lengths{};
    bool is_tilted = false;
    do {
      if (line.starts_with("ITEM: NUMBER OF ATOMS")) {
        if (!lines_.next(line)) lines_.fail("the number of atoms is missing; the file is cut short");
        atoms = lines_.count(line, "number of atoms");
      } else if (line.starts_with("ITEM: BOX BOUNDS")) {
        is_tilted = line.find("xy") != std::string_view::npos || line.find("abc") != std::string_view::npos;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          if (!lines_.next(line)) lines_.fail("the box is cut short");
          Words words;
          split_words(line, words);
          if (words.size() < 2) lines_.fail("the bounds of a box are two numbers");
          lengths[axis] = lines_.value(words[1], "box") - lines_.value(words[0], "box");
        }
      } else if (line.starts_with("ITEM: ATOMS")) {
        if (!atoms) lines_.fail("the number of atoms is missing (ITEM: NUMBER OF ATOMS)");
        Words words;
        split_words(line.substr(std::string_view("ITEM: ATOMS").size()), words);
        for (const std::string_view name : words) declare(std::string(name));
        choose_coordinates(lengths, is_tilted);
        return *atoms > 0 ? atoms : std::nullopt;
      }
    } while (lines_.next(line));
    return std::nullopt;
  }

  void choose_coordinates(const std::array<double, 3>& lengths, bool is_tilted) {
    for (const std::string_view kind : {"", "u", "s", "su"}) {
      defaults_.clear();
      for (const char axis : {'x', 'y', 'z'}) defaults_.push_back(std::string(1, axis) + std::string(kind));
      if (!std::ranges::all_of(defaults_, [&](const std::string& name) { return has_column(name); })) continue;
      if (kind.starts_with('s')) {
        notes_.push_back(fmt::format("{}: the coordinates ({}, {}, {}) are fractions of the box", file_.name(),
                                     defaults_[0], defaults_[1], defaults_[2]));
      } else {
        note_box(lengths, is_tilted);
      }
      return;
    }
    lines_.fail("the atoms have no columns x y z, xu yu zu or xs ys zs");
  }

  void note_box(const std::array<double, 3>& lengths, bool is_tilted) {
    const std::string period = is_tilted ? std::string() : period_advice(lengths[0], lengths[1], lengths[2]);
    if (!period.empty()) {
      notes_.push_back(fmt::format("{}: if the box repeats, a search across its faces takes {}", file_.name(), period));
    }
  }

  void add_atoms(std::uint64_t atoms) {
    Words words;
    std::string_view line;
    for (std::uint64_t i = 0; i < atoms; ++i) {
      if (!lines_.next_filled(line)) {
        throw CorruptFile(
            fmt::format("{}: says {} atoms, but ends after {}; the file is cut short", file_.name(), atoms, i));
      }
      split_words(line.substr(0, is_dump_ ? line.size() : line.find('#')), words);
      if (words.size() != names_.size()) {
        lines_.fail(fmt::format("has {} fields where an atom has {}; after {} of {} atoms", words.size(), names_.size(),
                                i, atoms));
      }
      rows_.start_row();
      for (std::size_t c = 0; c < words.size(); ++c) {
        if (is_text_[c]) {
          rows_.set(c, words[c]);
        } else {
          rows_.set(c, lines_.value(words[c], names_[c]));
        }
      }
    }
  }

  void note_further_snapshots() {
    std::uint64_t snapshots = 1;
    std::string_view line;
    while (lines_.next(line)) snapshots += line.starts_with("ITEM: TIMESTEP");
    if (snapshots > 1)
      notes_.push_back(fmt::format("{}: holds {} snapshots; the first is read", file_.name(), snapshots));
  }

  const runtime::InputFile& file_;
  LineCursor lines_;
  RowBuilder rows_;
  std::vector<std::string> names_;
  std::vector<bool> is_text_;
  std::vector<std::string> defaults_;
  std::vector<std::string> notes_;
  bool is_dump_ = false;
};

}  // namespace

RecordSource find_lammps(const runtime::InputFile& file, const ReadOptions& options) {
  return LammpsReader(file, options).read();
}

}  // namespace kith::io::inline v0
