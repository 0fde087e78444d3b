// See recognize.hpp.
#include "io/recognize/recognize.hpp"

#include "io/recognize/foreign_file.hpp"
#include "io/recognize/recognize_structure.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kHeadBytes = 4096;
constexpr std::string_view kReadable =
    "CSV and other text, NPY, NPZ, PLY, PCD, LAS, fvecs, bvecs, ivecs, IDX, PDB, GRO, XYZ, LAMMPS and VTK are read, "
    "and plain numbers if you say which: `layout=f32 x,y,z`";

/// In a zip archive the name of the first member stands at byte 30; arrays are members that end with ".npy".
bool is_zip_of_arrays(std::string_view head) {
  if (head.size() < 30) return false;
  const std::size_t length = static_cast<unsigned char>(head[26]) + 256u * static_cast<unsigned char>(head[27]);
  return head.substr(30, length).ends_with(".npy");
}

/// PCD begins with an optional comment and then one of its keywords.
bool is_pcd(std::string_view head) {
  if (head.starts_with("# .PCD")) return true;
  while (head.starts_with('#') || head.starts_with('\n') || head.starts_with('\r')) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos) return false;
    head.remove_prefix(end + 1);
  }
  const bool keyword = head.starts_with("VERSION ") || head.starts_with("FIELDS ") || head.starts_with("COLUMNS ");
  return keyword && head.find("\nSIZE ") != std::string_view::npos;
}

/// IDX: 0, 0, element type, number of dimensions, the sizes, and exactly as much data as they say.
bool is_idx(std::string_view head, std::uint64_t file_size) {
  if (head.size() < 8 || head[0] != 0 || head[1] != 0) return false;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(head[i])); };
  std::uint64_t bytes = 0;
  switch (byte(2)) {
    case 0x08:
    case 0x09:
      bytes = 1;
      break;
    case 0x0B:
      bytes = 2;
      break;
    case 0x0C:
    case 0x0D:
      bytes = 4;
      break;
    case 0x0E:
      bytes = 8;
      break;
    default:
      return false;
  }
  const std::uint64_t dims = byte(3);
  const std::uint64_t header = 4 + 4 * dims;
  if (dims == 0 || header > head.size()) return false;
  for (std::uint64_t d = 0; d < dims; ++d) {
    const std::size_t at = static_cast<std::size_t>(4 + 4 * d);
    const std::uint64_t size = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (size != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / 2 / size) return false;
    bytes *= size;
  }
  return header + bytes == file_size;
}

/// What the first bytes say; `automatic` if nothing.
Format format_of_content(std::string_view head, const runtime::InputFile& file) {
  if (head.starts_with("\x93NUMPY")) return Format::npy;
  if (head.starts_with("ply\n") || head.starts_with("ply\r")) return Format::ply;
  if (head.starts_with("LASF")) return Format::las;
  if (is_pcd(head)) return Format::pcd;
  if (is_idx(head, file.size())) return Format::idx;
  if (const Format structure = format_of_structure(head, file); structure != Format::automatic) return structure;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
    if (is_zip_of_arrays(head) || format_of_extension(file.name()) == Format::npz) return Format::npz;
  }
  std::optional<ForeignKind> foreign = foreign_by_magic(head);
  if (!foreign) foreign = foreign_by_structure(head, file);
  if (foreign) throw CorruptFile(refusal_of(*foreign, file.name()));
  return Format::automatic;
}

/// Formats that always begin with a magic word.
bool has_magic(Format format) {
  return format == Format::npy || format == Format::npz || format == Format::ply || format == Format::pcd ||
         format == Format::las;
}

bool begins_as_utf16(std::string_view head) { return head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"); }

/// A NUL, or the first of many control characters: text has few.
std::optional<std::size_t> first_byte_of_no_text(std::string_view head) {
  constexpr std::size_t kBytesPerControl = 20;
  const std::size_t nul = head.find('\0');
  if (nul != std::string_view::npos) return nul;
  const auto is_odd = [](unsigned char c) { return c < '\t' || (c > '\r' && c < ' ' && c != 0x1a && c != 0x1b); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(head, is_odd));
  if (count == 0 || count < head.size() / kBytesPerControl) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find_if(head, is_odd) - head.begin());
}

}  // namespace

Format recognize(const runtime::InputFile& file) {
  const std::string head = file.head(kHeadBytes);
  const Format extension = format_of_extension(file.name());
  // These have no magic; their first bytes may look like anything.
  if (extension == Format::fvecs || extension == Format::bvecs || extension == Format::ivecs) return extension;
  const Format content = format_of_content(head, file);
  if (content != Format::automatic) return content;
  if (head.empty() || begins_as_utf16(head)) return Format::text;  // the text reader says what is wrong
  if (has_magic(extension)) {
    throw CorruptFile(
        fmt::format("{}: is named as {} but does not begin as such a file does; it is damaged or of another "
                    "kind (if it is text, say so: `format=text`)",
                    file.name(), name_of(extension)));
  }
  if (extension != Format::automatic) return extension;
  if (const auto odd = first_byte_of_no_text(head)) {
    throw CorruptFile(fmt::format("{}: is a binary file of a kind that is not known (byte {} is {}); {}", file.name(),
                                  *odd, head[*odd] == '\0' ? "NUL" : "a control character", kReadable));
  }
  return Format::text;
}

}  // namespace kith::io::inline v0
