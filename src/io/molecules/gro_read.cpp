// Reads the atoms of a GROMACS structure (.gro): a title, a count, atoms in fixed columns, the box.
#include "io/molecules/line_cursor.hpp"
#include "io/records/record_source.hpp"
#include "io/text/text_field.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kNamesEnd = 20;  // residue number and name, atom name and number, 5 columns each
constexpr std::array<const char*, 6> kMotion = {"x", "y", "z", "vx", "vy", "vz"};

/// The width of a coordinate: the distance of the first two decimal points.
std::size_t coordinate_width(std::string_view line) {
  const std::size_t first = line.find('.', kNamesEnd);
  if (first == std::string_view::npos) return 0;
  const std::size_t second = line.find('.', first + 1);
  return second == std::string_view::npos ? 0 : second - first;
}

class GroReader {
 public:
  GroReader(const runtime::InputFile& file, const ReadOptions& options) : file_(file), lines_(file, options) {}

  RecordSource read() {
    std::string_view line;
    if (!lines_.next(line) || !lines_.next(line)) lines_.fail("the title and the number of atoms are missing");
    atoms_ = lines_.count(line, "number of atoms, which the second line of a .gro file gives");
    for (std::uint64_t i = 0; i < atoms_; ++i) {
      if (!lines_.next(line)) {
        throw CorruptFile(
            fmt::format("{}: says {} atoms, but ends after {}; the file is cut short", file_.name(), atoms_, i));
      }
      if (i == 0) declare_columns(line);
      add_atom(line);
    }
    if (atoms_ == 0) throw BadData(fmt::format("{}: holds no points, it says 0 atoms", file_.name()));
    if (!lines_.next(line)) lines_.fail("the box is missing after the last atom; the file is cut short");
    std::vector<std::string> notes = box_notes(line);
    std::string_view title;
    if (lines_.next_filled(title))
      notes.push_back(fmt::format("{}: holds several frames; the first is read", file_.name()));
    RecordSource source = rows_.finish(file_.name());
    source.notes = std::move(notes);
    return source;
  }

 private:
  void declare_columns(std::string_view line) {
    width_ = coordinate_width(line);
    if (width_ < 3)
      lines_.fail("has no coordinates in fixed columns with decimal points, as atoms of a .gro file have");
    const bool moves = !fixed_field(line, kNamesEnd + 3 * width_, 3 * width_).empty();
    values_ = moves ? 6 : 3;
    for (std::size_t i = 0; i < values_; ++i) rows_.add_number(kMotion[i]);
    rows_.add_number("resnr");
    rows_.add_text("resname");
    rows_.add_text("name");
    rows_.add_number("atomnr");
  }

  void add_atom(std::string_view line) {
    rows_.start_row();
    for (std::size_t i = 0; i < values_; ++i) {
      const std::string_view text = fixed_field(line, kNamesEnd + i * width_, width_);
      if (text.empty() && i < 3) {
        lines_.fail(
            fmt::format("atom {} of the {} that the second line promises ends before its {}; the file is cut short "
                        "or damaged",
                        rows_.rows(), atoms_, kMotion[i]));
      }
      rows_.set(i, lines_.value(text, kMotion[i]));
    }
    rows_.set(values_, lines_.value(fixed_field(line, 0, 5), "resnr"));
    rows_.set(values_ + 1, fixed_field(line, 5, 5));
    rows_.set(values_ + 2, fixed_field(line, 10, 5));
    rows_.set(values_ + 3, lines_.value(fixed_field(line, 15, 5), "atomnr"));
  }

  std::vector<std::string> box_notes(std::string_view line) const {
    std::vector<std::string_view> words;
    split_words(line, words);
    if (words.size() != 3 && words.size() != 9) {
      lines_.fail(fmt::format("the box has 3 or 9 numbers, not {}", shown(line)));
    }
    std::array<double, 9> box{};
    for (std::size_t i = 0; i < words.size(); ++i) box[i] = lines_.value(words[i], "box");
    for (std::size_t i = 3; i < 9; ++i) {
      if (box[i] != 0) return {fmt::format("{}: the box is not rectangular: {}", file_.name(), without_blanks(line))};
    }
    const std::string period = period_advice(box[0], box[1], box[2]);
    if (period.empty()) return {};
    return {fmt::format("{}: the box repeats; a search across its faces takes {}", file_.name(), period)};
  }

  const runtime::InputFile& file_;
  LineCursor lines_;
  RowBuilder rows_;
  std::uint64_t atoms_ = 0;
  std::size_t width_ = 0;
  std::size_t values_ = 3;
};

}  // namespace

RecordSource find_gro(const runtime::InputFile& file, const ReadOptions& options) {
  return GroReader(file, options).read();
}

}  // namespace kith::io::inline v0
