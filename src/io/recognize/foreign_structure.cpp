// See foreign_file.hpp: kinds without magic bytes, recognised by how they are built.
#include "io/recognize/foreign_file.hpp"

#include "io/records/record_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::string_view kCommandMark = "$ ";
constexpr std::string_view kBlanks = " \t\r\n";

constexpr std::string_view kFlatten = "$ ogr2ogr -f CSV out.csv {} -lco GEOMETRY=AS_XY";

std::string_view from_first_word(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

char last_character(const runtime::InputFile& file) {
  std::array<char, 64> end{};
  const std::uint64_t from = file.size() - std::min<std::uint64_t>(file.size(), end.size());
  const std::string_view text(end.data(), file.read_at(from, end.data(), end.size()));
  const std::size_t last = text.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? '\0' : text[last];
}

/// The first lines of the head, at most `count`, without those that the head cuts.
std::vector<std::string_view> first_lines(std::string_view head, std::size_t count) {
  std::vector<std::string_view> lines;
  while (lines.size() < count) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos) break;
    lines.push_back(head.substr(0, end));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
    head.remove_prefix(end + 1);
  }
  return lines;
}

bool is_json(std::string_view text, const runtime::InputFile& file) {
  if (text.size() < 2 || (text.front() != '{' && text.front() != '[')) return false;
  const std::string_view inside = from_first_word(text.substr(1));
  if (inside.empty()) return false;
  if (text.front() == '{') return inside.front() == '"' || inside.front() == '}';
  const bool begins_a_value = std::string_view("[{\"-0123456789]").find(inside.front()) != std::string_view::npos;
  return begins_a_value && last_character(file) == ']';  // a header of CSV may be "[1],[2]"
}

bool is_fasta(std::string_view text) {
  if (!text.starts_with('>')) return false;
  const std::vector<std::string_view> lines = first_lines(text, 2);
  return lines.size() == 2 && !lines[1].empty() && std::ranges::all_of(lines[1], [](unsigned char c) {
           return std::isalpha(c) || c == '*' || c == '-' || c == ' ' || c == '.';
         });
}

bool is_fastq(std::string_view text) {
  const std::vector<std::string_view> lines = first_lines(text, 4);
  return lines.size() == 4 && lines[0].starts_with('@') && lines[2].starts_with('+') &&
         lines[1].size() == lines[3].size() && !lines[1].empty() &&
         std::ranges::all_of(lines[1], [](unsigned char c) { return std::isalpha(c) || c == '.' || c == '*'; });
}

/// "  4  3  0  0  0 …  V2000" is the fourth line of a molecule.
bool is_mol(std::string_view text) {
  const std::vector<std::string_view> lines = first_lines(text, 4);
  return lines.size() == 4 && (lines[3].ends_with("V2000") || lines[3].ends_with("V3000"));
}

/// "OFF", then the numbers of vertices, faces and edges.
bool is_off(std::string_view text) {
  const std::vector<std::string_view> lines = first_lines(text, 2);
  return lines.size() == 2 && (lines[0] == "OFF" || lines[0] == "COFF" || lines[0] == "NOFF") &&
         words_of(lines[1]).size() == 3;
}

/// "v 1 2 3": the first line that is neither blank nor a comment nor the name of a material or object. Faces, normals
/// or the extension must confirm it: "v" may be a label.
bool is_obj(std::string_view head, std::string_view file_name) {
  const auto has = [&](std::string_view line) { return head.find(line) != std::string_view::npos; };
  if (!file_name.ends_with(".obj") && !has("\nf ") && !has("\nvn ") && !has("\nvt ")) return false;
  for (const std::string_view line : first_lines(head, 64)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0].starts_with('#') || words[0] == "mtllib" || words[0] == "o" || words[0] == "g")
      continue;
    return words[0] == "v" && words.size() >= 4 &&
           words[1].find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  }
  return false;
}

std::uint32_t number_at(std::string_view head, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i > 0; --i) value = value << 8 | static_cast<unsigned char>(head[at + i - 1]);
  return value;
}

/// 80 bytes of anything, the number of triangles, 50 bytes for each.
bool is_binary_stl(std::string_view head, std::uint64_t file_size) {
  return head.size() >= 84 && file_size > 84 && file_size == 84 + std::uint64_t{50} * number_at(head, 80);
}

/// Records of Fortran: their length in 4 bytes before and after each. The length of the first one, if it is so.
std::optional<std::uint32_t> first_fortran_record(std::string_view head, const runtime::InputFile& file) {
  if (head.size() < 8) return std::nullopt;
  const std::uint32_t bytes = number_at(head, 0);
  if (bytes == 0 || std::uint64_t{bytes} + 8 > file.size()) return std::nullopt;
  std::array<char, 4> end{};
  if (file.read_at(std::uint64_t{bytes} + 4, end.data(), 4) != 4) return std::nullopt;
  if (number_at(std::string_view(end.data(), 4), 0) != bytes) return std::nullopt;
  return bytes;
}

std::optional<ForeignKind> foreign_zip(std::string_view head) {
  if (!head.starts_with("PK\x03\x04") && !head.starts_with("PK\x05\x06")) return std::nullopt;
  constexpr std::string_view kSheetToCsv = "$ libreoffice --headless --convert-to csv {}";
  if (head.find("xl/") != std::string_view::npos) return ForeignKind{"an Excel workbook", kSheetToCsv};
  if (head.find("opendocument.spreadsheet") != std::string_view::npos)
    return ForeignKind{"an OpenDocument sheet", kSheetToCsv};
  if (head.find("[Content_Types].xml") != std::string_view::npos) return ForeignKind{"an Office document", kSheetToCsv};
  if (head.find("data.pkl") != std::string_view::npos) {
    return ForeignKind{"a PyTorch file",
                       "$ python3 -c \"import numpy, torch; numpy.save('out.npy', torch.load('{}').numpy())\""};
  }
  return ForeignKind{"a zip archive without NumPy arrays", "unpack it first: unzip {}"};
}

std::optional<ForeignKind> foreign_xml(std::string_view text) {
  if (!text.starts_with("<?xml") && !text.starts_with("<gpx") && !text.starts_with("<kml")) return std::nullopt;
  if (text.find("<gpx") != std::string_view::npos) return ForeignKind{"a GPX track", kFlatten};
  if (text.find("<kml") != std::string_view::npos) return ForeignKind{"a KML map", kFlatten};
  if (text.find("<html") != std::string_view::npos) {
    return ForeignKind{"a web page, not data", "was the download a link to a page?"};
  }
  return ForeignKind{"an XML document",
                     "$ python3 -c \"import pandas; pandas.read_xml('{}').to_csv('out.csv', index=False)\""};
}

std::optional<ForeignKind> foreign_binary(std::string_view head, const runtime::InputFile& file) {
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return ForeignKind{"a Python pickle",
                       "$ python3 -c \"import numpy, pickle; numpy.save('out.npy', "
                       "numpy.asarray(pickle.load(open('{}', 'rb'))))\" if you trust who made it"};
  }
  if (head.find('\0') == std::string_view::npos) return std::nullopt;
  if (head.size() > 9 && head[8] == '{' && head[9] == '"' && number_at(head, 4) == 0) {
    return ForeignKind{"a safetensors file",
                       "$ python3 -c \"import numpy; from safetensors.numpy import load_file; numpy.save('out.npy', "
                       "load_file('{}')['NAME'])\""};
  }
  if (is_binary_stl(head, file.size())) return ForeignKind{"an STL mesh", "$ meshio convert {} out.ply"};
  const std::optional<std::uint32_t> record = first_fortran_record(head, file);
  if (record == 256) {
    return ForeignKind{"a GADGET snapshot",
                       "name the record of the positions: `layout=fortran skip=1 records=1 f32 x,y,z`"};
  }
  if (record == 8 && head.substr(4).starts_with("HEAD")) {
    return ForeignKind{"a GADGET snapshot (format 2)",
                       "name the record of the positions: `layout=fortran skip=3 records=1 f32 x,y,z`"};
  }
  if (record) {
    return ForeignKind{"a file of Fortran records",
                       "describe them: `layout=fortran f64 x,y,z` (types i8 to f64, names of your own)"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ForeignKind> foreign_by_structure(std::string_view head, const runtime::InputFile& file) {
  if (const auto zip = foreign_zip(head)) return zip;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::string_view text = from_first_word(head);
  if (const auto xml = foreign_xml(text)) return xml;
  if (const auto binary = foreign_binary(head, file)) return binary;
  if (is_json(text, file)) {
    if (text.find("\"FeatureCollection\"") != std::string_view::npos) return ForeignKind{"a GeoJSON map", kFlatten};
    const std::size_t second_line = text.find('\n') + 1;
    if (text.front() == '{' && text.substr(second_line).starts_with('{')) {
      return ForeignKind{
          "JSON, an object per line",
          "$ python3 -c \"import pandas; pandas.read_json('{}', lines=True).to_csv('out.csv', index=False)\""};
    }
    return ForeignKind{"JSON", "$ python3 -c \"import pandas; pandas.read_json('{}').to_csv('out.csv', index=False)\""};
  }
  if (is_fasta(text))
    return ForeignKind{"FASTA: strings, not points", "compare them with `metric=edit` or `metric=hamming`"};
  if (is_fastq(text)) {
    return ForeignKind{"FASTQ: strings, not points",
                       "$ awk 'NR % 4 == 2' {} > out.txt makes lines of them, for `metric=edit` or `metric=hamming`"};
  }
  if (text.starts_with("solid ") && head.find("facet normal") != std::string_view::npos) {
    return ForeignKind{"an STL mesh", "$ meshio convert {} out.ply"};
  }
  if (is_off(text)) return ForeignKind{"an OFF mesh", "$ meshio convert {} out.ply"};
  if (is_obj(head, file.name()))
    return ForeignKind{"an OBJ mesh", "$ awk '$1 == \"v\" {print $2, $3, $4}' {} > out.xyz"};
  if (is_mol(text)) return ForeignKind{"a MOL or SDF molecule", "$ obabel {} -O out.xyz"};
  if (text.starts_with("data_") && head.find("\n_") != std::string_view::npos) {
    return ForeignKind{"a CIF file", "$ gemmi convert {} out.pdb"};
  }
  if (text.starts_with("@relation") || text.starts_with("@RELATION")) {
    return ForeignKind{"an ARFF table", "$ sed '1,/^@data/Id' {} > out.csv"};
  }
  return std::nullopt;
}

std::string refusal_of(const ForeignKind& kind, const std::string& file_name) {
  // A name that a shell would take apart, or a pipe: FILE stands for it.
  const bool plain = std::ranges::all_of(file_name, [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+,:=@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  const std::string_view name = plain ? std::string_view(file_name) : "FILE";
  std::string advice(kind.advice);
  for (std::size_t at = advice.find("{}"); at != std::string::npos; at = advice.find("{}", at + name.size())) {
    advice.replace(at, 2, name);
  }
  if (!advice.starts_with(kCommandMark)) return fmt::format("{}: is {}; {}", file_name, kind.what, advice);
  return fmt::format("{}: is {}, which kith does not read; convert it: {}", file_name, kind.what,
                     advice.substr(kCommandMark.size()));
}

}  // namespace kith::io::inline v0
