// See las_header.hpp. Offsets follow the ASPRS LAS specification, versions 1.0 to 1.4, point formats 0 to 10.
#include "io/las_header.hpp"

#include "io/record_values.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

namespace kith::io {
namespace {

constexpr std::size_t kHeaderBytes = 227;      // up to version 1.2
constexpr std::size_t kHeaderBytes14 = 375;    // version 1.4
constexpr std::uint64_t kVariableRecord = 54;  // header of a variable length record
constexpr std::array<std::uint64_t, 11> kFormatBytes = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

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

/// True if a variable length record says that the points are compressed.
bool has_laszip_record(const runtime::InputFile& file, std::uint64_t at, std::uint32_t records, std::uint64_t end) {
  for (std::uint32_t i = 0; i < records && end - at >= kVariableRecord; ++i) {
    char record[kVariableRecord];
    file.read_exact(at, record, sizeof(record));
    if (number<std::uint16_t>(record + 18) == 22204 && std::memcmp(record + 2, "laszip encoded", 14) == 0) return true;
    const std::uint64_t bytes = kVariableRecord + number<std::uint16_t>(record + 20);
    if (bytes > end - at) break;
    at += bytes;
  }
  return false;
}

void add(RecordLayout& layout, std::string_view name, NumberType type, std::uint64_t offset) {
  RecordField field;
  field.name = name;
  field.type = type;
  field.offset = offset;
  layout.fields.push_back(std::move(field));
}

void add_bits(RecordLayout& layout, std::string_view name, std::uint64_t offset, int shift, int bits) {
  add(layout, name, NumberType::u8, offset);
  layout.fields.back().shift = static_cast<std::uint8_t>(shift);
  layout.fields.back().mask = static_cast<std::uint8_t>((1 << bits) - 1);
}

void add_attributes(RecordLayout& layout, int format) {
  const bool extended = format >= 6;
  const int return_bits = extended ? 4 : 3;
  add(layout, "intensity", NumberType::u16, 12);
  add_bits(layout, "return_number", 14, 0, return_bits);
  add_bits(layout, "number_of_returns", 14, return_bits, return_bits);
  if (extended) {
    add(layout, "classification", NumberType::u8, 16);
    add(layout, "user_data", NumberType::u8, 17);
    add(layout, "scan_angle", NumberType::i16, 18);
    add(layout, "point_source_id", NumberType::u16, 20);
  } else {
    add_bits(layout, "classification", 15, 0, 5);  // the upper three bits are flags
    add(layout, "scan_angle", NumberType::i8, 16);
    add(layout, "user_data", NumberType::u8, 17);
    add(layout, "point_source_id", NumberType::u16, 18);
  }
  constexpr std::array<std::uint64_t, 11> kTime = {0, 20, 0, 20, 20, 20, 22, 22, 22, 22, 22};
  constexpr std::array<std::uint64_t, 11> kColor = {0, 0, 20, 28, 0, 28, 0, 30, 30, 0, 30};
  const auto at = static_cast<std::size_t>(format);
  if (kTime[at] != 0) add(layout, "gps_time", NumberType::f64, kTime[at]);
  if (kColor[at] != 0) {
    add(layout, "red", NumberType::u16, kColor[at]);
    add(layout, "green", NumberType::u16, kColor[at] + 2);
    add(layout, "blue", NumberType::u16, kColor[at] + 4);
  }
  if (format == 8 || format == 10) add(layout, "nir", NumberType::u16, 36);
}

}  // namespace

RecordLayout read_las_layout(const runtime::InputFile& file) {
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

  RecordLayout layout;
  layout.first_byte = number<std::uint32_t>(&header[96]);
  if (layout.first_byte < header_bytes || layout.first_byte > file.size()) {
    throw damaged(fmt::format("the points start at byte {}, outside the {} bytes after the header", layout.first_byte,
                              file.size()));
  }
  const int format = static_cast<unsigned char>(header[104]);
  if ((format & 0xc0) != 0 || file.name().ends_with(".laz") || file.name().ends_with(".LAZ") ||
      has_laszip_record(file, header_bytes, number<std::uint32_t>(&header[100]), layout.first_byte)) {
    refuse_laz(file);
  }
  if (format > 10) throw damaged(fmt::format("point format {} is not known", format));
  layout.record_bytes = number<std::uint16_t>(&header[105]);
  if (layout.record_bytes < kFormatBytes[static_cast<std::size_t>(format)]) {
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

  layout.named = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    add(layout, std::string_view("xyz").substr(axis, 1), NumberType::i32, axis * 4);
    RecordField& field = layout.fields.back();
    field.scaled = true;
    field.scale = number<double>(&header[131 + axis * 8]);
    field.origin = number<double>(&header[155 + axis * 8]);
    if (!std::isfinite(field.scale) || !std::isfinite(field.origin) || field.scale == 0) {
      throw damaged(fmt::format("the scale {} or offset {} of {} is no use", field.scale, field.origin, field.name));
    }
  }
  add_attributes(layout, format);
  return layout;
}

}  // namespace kith::io
