// See las_header.hpp. Offsets follow the ASPRS LAS specification, versions 1.0 to 1.4.
#include "io/clouds/las_header.hpp"

#include "io/clouds/las_extra_bytes.hpp"
#include "io/clouds/las_point_format.hpp"
#include "io/records/record_values.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kHeaderBytes = 227;      // up to version 1.2
constexpr std::size_t kHeaderBytes14 = 375;    // version 1.4
constexpr std::uint64_t kVariableRecord = 54;  // header of a variable length record

template <typename T>
T number(const char* from) {
  return load_value<T, std::endian::native == std::endian::big>(from);
}

[[noreturn]] void refuse_laz(const runtime::InputFile& file) {
  throw CorruptFile(fmt::format(
      "{}: is LAZ (compressed LAS), which kith does not read; decompress it first, e.g. with "
      "\"laszip -i in.laz -o out.las\", \"pdal translate in.laz out.las\" or, after pip install laspy[lazrs], "
      "python3 -c \"import laspy; laspy.read('in.laz').write('out.las')\"",
      file.name()));
}

/// The records between header and points: which bytes they take, and what matters of them.
struct VariableRecords {
  std::string others;  ///< all but those that describe extra bytes
  std::uint32_t count = 0;
  std::string extra_bytes;  ///< the body of the record that describes them
  bool is_compressed = false;
};

VariableRecords read_variable_records(const runtime::InputFile& file, std::uint64_t at, std::uint32_t records,
                                      std::uint64_t end) {
  VariableRecords result;
  for (std::uint32_t i = 0; i < records && end - at >= kVariableRecord; ++i) {
    char head[kVariableRecord];
    file.read_exact(at, head, sizeof(head));
    const std::uint64_t bytes = kVariableRecord + number<std::uint16_t>(head + 20);
    const auto id = number<std::uint16_t>(head + 18);
    if (id == 22204 && std::memcmp(head + 2, "laszip encoded", 14) == 0) result.is_compressed = true;
    if (bytes > end - at) break;
    std::string record(static_cast<std::size_t>(bytes), '\0');
    file.read_exact(at, record.data(), record.size());
    if (id == 4 && std::memcmp(head + 2, "LASF_Spec", 10) == 0 && result.extra_bytes.empty()) {
      result.extra_bytes = record.substr(kVariableRecord);
    } else {
      result.others += record;
      ++result.count;
    }
    at += bytes;
  }
  return result;
}

}  // namespace

LasFile read_las_header(const runtime::InputFile& file) {
  const auto damaged = [&](std::string_view why) -> CorruptFile {
    return CorruptFile(fmt::format("{}: the LAS header is wrong: {}", file.name(), why));
  };
  std::array<char, kHeaderBytes14> header{};
  file.read_exact(0, header.data(), kHeaderBytes);
  if (std::memcmp(header.data(), "LASF", 4) != 0) throw damaged("it does not start with \"LASF\"");
  const int major = static_cast<unsigned char>(header[24]);
  const int minor = static_cast<unsigned char>(header[25]);
  if (major != 1 || minor > 4) {
    throw CorruptFile(
        fmt::format("{}: LAS version {}.{} is not known; kith reads 1.0 to 1.4", file.name(), major, minor));
  }
  const std::uint64_t header_bytes = number<std::uint16_t>(&header[94]);
  if (header_bytes < (minor == 4 ? kHeaderBytes14 : kHeaderBytes)) {
    throw damaged(fmt::format("it claims {} bytes, too few for version {}.{}", header_bytes, major, minor));
  }
  if (minor == 4) file.read_exact(0, header.data(), kHeaderBytes14);

  const std::uint64_t first_byte = number<std::uint32_t>(&header[96]);
  if (first_byte < header_bytes || first_byte > file.size()) {
    throw damaged(
        fmt::format("the points start at byte {}, outside the {} bytes after the header", first_byte, file.size()));
  }
  const int format = static_cast<unsigned char>(header[104]);
  VariableRecords records = read_variable_records(file, header_bytes, number<std::uint32_t>(&header[100]), first_byte);
  if ((format & 0xc0) != 0 || file.name().ends_with(".laz") || file.name().ends_with(".LAZ") || records.is_compressed) {
    refuse_laz(file);
  }
  if (format >= kLasFormats) throw damaged(fmt::format("point format {} is not known", format));

  LasFile las;
  RecordLayout& layout = las.layout;
  layout = las_point_layout(format);
  layout.first_byte = first_byte;
  layout.record_bytes = number<std::uint16_t>(&header[105]);
  if (layout.record_bytes < las_record_bytes(format)) {
    throw damaged(fmt::format("records of {} bytes are too short for point format {}", layout.record_bytes, format));
  }
  layout.rows = number<std::uint32_t>(&header[107]);
  if (minor == 4) {
    const auto count = number<std::uint64_t>(&header[247]);
    if (layout.rows != 0 && count != 0 && count != layout.rows) {
      throw damaged(fmt::format("it says {} points in one place and {} in another", layout.rows, count));
    }
    layout.rows = std::max(layout.rows, count);
  }
  require_backed(file, layout.rows, layout.record_bytes, layout.first_byte, "points");

  for (std::size_t axis = 0; axis < 3; ++axis) {
    RecordField& field = layout.fields[axis];
    field.scale = number<double>(&header[131 + axis * 8]);
    field.origin = number<double>(&header[155 + axis * 8]);
    if (!std::isfinite(field.scale) || !std::isfinite(field.origin) || field.scale == 0) {
      throw damaged(
          fmt::format("the scale {} or offset {} of {} cannot be used", field.scale, field.origin, field.name));
    }
  }
  add_extra_bytes(layout, records.extra_bytes, las_record_bytes(format));

  las.header.bytes.assign(header.data(), minor == 4 ? kHeaderBytes14 : kHeaderBytes);
  las.header.variable_records = std::move(records.others);
  las.header.record_count = records.count;
  if (las_has_waves(format)) las.notes.push_back("the wave packets of the points are left out: they are not read");
  if (minor == 4 && number<std::uint32_t>(&header[243]) > 0) {
    las.notes.push_back("the records after the points (EVLR) are left out: they are not read");
  }
  return las;
}

}  // namespace kith::io::inline v0
