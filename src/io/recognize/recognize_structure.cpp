// See recognize_structure.hpp.
#include "io/recognize/recognize_structure.hpp"

#include "io/molecules/line_cursor.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::inline v0 {
namespace {

/// The whole lines of the head.
std::vector<std::string_view> lines_of(std::string_view head, std::uint64_t file_size) {
  std::vector<std::string_view> lines;
  const bool is_all = head.size() == file_size;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && !is_all) break;
    std::string_view line = head.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<std::uint64_t> count_alone(std::string_view line) {
  line = without_blanks(line);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  if (line.empty() || error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return count;
}

/// An atom has coordinates of 8 columns with 3 decimals from column 31 on.
bool is_pdb_atom(std::string_view line) {
  return (line.starts_with("ATOM  ") || line.starts_with("HETATM")) && line.size() >= 54 && line[34] == '.' &&
         line[42] == '.' && line[50] == '.' && std::isdigit(static_cast<unsigned char>(line[53])) != 0;
}

bool is_pdb(const std::vector<std::string_view>& lines) {
  if (lines.empty()) return false;
  // "HEADER    HYDROLASE, TRANSFERASE                  01-JAN-00   1ABC"
  const std::string_view first = lines[0];
  if (first.starts_with("HEADER    ") && first.size() >= 59 && first[52] == '-' && first[56] == '-') return true;
  return std::ranges::any_of(lines, is_pdb_atom);
}

/// A title, a count, and an atom whose coordinates are equally wide from column 21 on.
bool is_gro(const std::vector<std::string_view>& lines) {
  if (lines.size() < 3 || !count_alone(lines[1])) return false;
  const std::string_view atom = lines[2];
  if (atom.size() < 35 || !count_alone(atom.substr(0, 5)) || !count_alone(atom.substr(15, 5))) return false;
  const std::size_t first = atom.find('.');
  const std::size_t second = atom.find('.', first + 1);
  const std::size_t third = atom.find('.', second + 1);
  return first != std::string_view::npos && first > 20 && third != std::string_view::npos &&
         second - first == third - second;
}

/// "# comment", then lines such as "648 atoms" and "0.0 18.6 xlo xhi"; or the items of a dump.
bool is_lammps(std::string_view head, const std::vector<std::string_view>& lines) {
  if (head.starts_with("ITEM: TIMESTEP") || head.starts_with("ITEM: UNITS") || head.starts_with("ITEM: TIME"))
    return true;
  bool has_atoms = false;
  bool has_box = false;
  std::vector<std::string_view> words;
  for (const std::string_view line : lines) {
    split_words(line.substr(0, line.find('#')), words);
    has_atoms = has_atoms || (words.size() == 2 && words[1] == "atoms" && count_alone(words[0]));
    has_box = has_box || (words.size() == 4 && words[2] == "xlo" && words[3] == "xhi");
  }
  return has_atoms && has_box;
}

/// A count, a comment that names the columns, atoms.
bool is_extended_xyz(const std::vector<std::string_view>& lines) {
  return lines.size() >= 3 && count_alone(lines[0]) && lines[1].find("Properties=") != std::string_view::npos;
}

/// A molecule with another one behind it. The text reader reads molecules that are alone.
bool is_xyz_of_frames(const std::vector<std::string_view>& lines, const runtime::InputFile& file) {
  if (lines.size() < 3) return false;
  const auto atoms = count_alone(lines[0]);
  std::vector<std::string_view> words;
  split_words(lines[2], words);
  if (!atoms || *atoms == 0 || words.size() < 4 || std::isalpha(static_cast<unsigned char>(words[0][0])) == 0)
    return false;
  if (*atoms > file.size() / 8) return false;  // "H 0 0 0" and the end of the line
  const ReadOptions options;
  LineCursor cursor(file, options);
  std::string_view line;
  for (std::uint64_t i = 0; i < *atoms + 2; ++i) {
    if (!cursor.next(line)) return false;
  }
  if (!cursor.next_filled(line) || !count_alone(line)) return false;
  if (!cursor.next(line) || !cursor.next(line)) return false;
  split_words(line, words);
  return words.size() >= 4;
}

}  // namespace

Format format_of_structure(std::string_view head, const runtime::InputFile& file) {
  if (head.starts_with("# vtk DataFile")) return Format::vtk;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && head[first] == '<' && head.find("<VTKFile") != std::string_view::npos)
    return Format::vtk;
  const std::vector<std::string_view> lines = lines_of(head, file.size());
  if (is_pdb(lines)) return Format::pdb;
  if (is_gro(lines)) return Format::gro;
  if (is_lammps(head, lines)) return Format::lammps;
  if (is_extended_xyz(lines) || is_xyz_of_frames(lines, file)) return Format::extxyz;
  return Format::automatic;
}

}  // namespace kith::io::inline v0
