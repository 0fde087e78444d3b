// Reads the atoms of a PDB file: ATOM and HETATM records, whose fields stand in fixed columns.
#include "io/molecules/line_cursor.hpp"
#include "io/records/record_source.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <array>
#include <limits>

namespace kith::io::inline v0 {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

enum class PdbKind : std::uint8_t { coordinate, number, text };

/// One column; `begin` counts from 0. Numbers may be blank or, beyond what their width holds, letters: NaN then.
struct PdbField {
  std::string_view name;
  PdbKind kind;
  std::size_t begin;
  std::size_t length;
};
/// In the order of a line, so that positions are those that its words have.
constexpr std::array<PdbField, 14> kPdbFields = {{{"record", PdbKind::text, 0, 6},
                                                  {"serial", PdbKind::number, 6, 5},
                                                  {"name", PdbKind::text, 12, 4},
                                                  {"resname", PdbKind::text, 17, 3},
                                                  {"chain", PdbKind::text, 21, 1},
                                                  {"resseq", PdbKind::number, 22, 4},
                                                  {"x", PdbKind::coordinate, 30, 8},
                                                  {"y", PdbKind::coordinate, 38, 8},
                                                  {"z", PdbKind::coordinate, 46, 8},
                                                  {"occupancy", PdbKind::number, 54, 6},
                                                  {"bfactor", PdbKind::number, 60, 6},
                                                  {"element", PdbKind::text, 76, 2},
                                                  {"altloc", PdbKind::text, 16, 1},
                                                  {"icode", PdbKind::text, 26, 1}}};

class PdbReader {
 public:
  PdbReader(const runtime::InputFile& file, const ReadOptions& options) : file_(file), lines_(file, options) {
    for (const PdbField& field : kPdbFields) {
      field.kind == PdbKind::text ? rows_.add_text(std::string(field.name)) : rows_.add_number(std::string(field.name));
    }
  }

  RecordSource read() {
    std::uint64_t models = 0;
    std::uint64_t alternates = 0;
    bool is_open = false;  // whether atoms go on with the model of the atom before
    std::string_view line;
    while (lines_.next(line)) {
      if (line.starts_with("MODEL ") || line.starts_with("END")) is_open = false;
      if (!line.starts_with("ATOM  ") && !line.starts_with("HETATM")) continue;
      if (!is_open) ++models;
      is_open = true;
      if (models > 1) continue;
      add_atom(line);
      alternates += line.size() > 16 && line[16] != ' ' && line[16] != 'A';
    }
    if (rows_.rows() == 0) throw BadData(fmt::format("{}: holds no points: no ATOM or HETATM record", file_.name()));
    RecordSource source = rows_.finish(file_.name());
    if (models > 1) source.notes.push_back(fmt::format("{}: holds {} models; the first is read", file_.name(), models));
    if (alternates > 0) {
      source.notes.push_back(fmt::format("{}: {} atoms are alternate locations (column altloc) and points of their own",
                                         file_.name(), alternates));
    }
    return source;
  }

 private:
  void add_atom(std::string_view line) {
    if (line.size() < 54)
      lines_.fail("the record of an atom ends before its coordinates, which are in columns 31 to 54");
    rows_.start_row();
    for (std::size_t i = 0; i < kPdbFields.size(); ++i) {
      const PdbField& field = kPdbFields[i];
      const std::string_view text = fixed_field(line, field.begin, field.length);
      if (field.kind == PdbKind::text) {
        rows_.set(i, text);
      } else if (field.kind == PdbKind::coordinate || is_number(text)) {
        rows_.set(i, lines_.value(text, field.name));
      } else {
        rows_.set(i, kNoValue);
      }
    }
  }

  static bool is_number(std::string_view text) {
    return text.find_first_of("0123456789") != std::string_view::npos &&
           text.find_first_not_of("+-.0123456789") == std::string_view::npos;
  }

  const runtime::InputFile& file_;
  LineCursor lines_;
  RowBuilder rows_;
};

}  // namespace

RecordSource find_pdb(const runtime::InputFile& file, const ReadOptions& options) {
  return PdbReader(file, options).read();
}

}  // namespace kith::io::inline v0
