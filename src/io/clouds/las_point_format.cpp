// See las_point_format.hpp. Offsets follow the ASPRS LAS specification, versions 1.0 to 1.4, point formats 0 to 10.
#include "io/clouds/las_point_format.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::array<std::uint64_t, kLasFormats> kRecordBytes = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
constexpr std::array<std::uint64_t, kLasFormats> kTimeAt = {0, 20, 0, 20, 20, 20, 22, 22, 22, 22, 22};
constexpr std::array<std::uint64_t, kLasFormats> kColorAt = {0, 0, 20, 28, 0, 28, 0, 30, 30, 0, 30};

void add_las_field(RecordLayout& layout, std::string_view name, NumberType type, std::uint64_t offset) {
  RecordField field;
  field.name = name;
  field.type = type;
  field.offset = offset;
  layout.fields.push_back(std::move(field));
}

void add_las_bits(RecordLayout& layout, std::string_view name, std::uint64_t offset, int shift, int bits) {
  add_las_field(layout, name, NumberType::u8, offset);
  layout.fields.back().shift = static_cast<std::uint8_t>(shift);
  layout.fields.back().mask = static_cast<std::uint8_t>((1 << bits) - 1);
}

}  // namespace

std::uint64_t las_record_bytes(int format) { return kRecordBytes[static_cast<std::size_t>(format)]; }
bool las_has_time(int format) { return kTimeAt[static_cast<std::size_t>(format)] != 0; }
bool las_has_color(int format) { return kColorAt[static_cast<std::size_t>(format)] != 0; }
bool las_has_infrared(int format) { return format == 8 || format == 10; }
bool las_has_waves(int format) { return format == 4 || format == 5 || format >= 9; }

RecordLayout las_point_layout(int format) {
  RecordLayout layout;
  layout.named = true;
  layout.record_bytes = las_record_bytes(format);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    add_las_field(layout, std::string_view("xyz").substr(axis, 1), NumberType::i32, axis * 4);
    layout.fields.back().scaled = true;
  }
  const bool extended = format >= 6;
  const int return_bits = extended ? 4 : 3;
  add_las_field(layout, "intensity", NumberType::u16, 12);
  add_las_bits(layout, "return_number", 14, 0, return_bits);
  add_las_bits(layout, "number_of_returns", 14, return_bits, return_bits);
  if (extended) {
    add_las_field(layout, "classification", NumberType::u8, 16);
    add_las_field(layout, "user_data", NumberType::u8, 17);
    add_las_field(layout, "scan_angle", NumberType::i16, 18);
    add_las_field(layout, "point_source_id", NumberType::u16, 20);
  } else {
    add_las_bits(layout, "classification", 15, 0, 5);  // the upper three bits are flags
    add_las_field(layout, "scan_angle", NumberType::i8, 16);
    add_las_field(layout, "user_data", NumberType::u8, 17);
    add_las_field(layout, "point_source_id", NumberType::u16, 18);
  }
  const auto at = static_cast<std::size_t>(format);
  if (las_has_time(format)) add_las_field(layout, "gps_time", NumberType::f64, kTimeAt[at]);
  if (las_has_color(format)) {
    add_las_field(layout, "red", NumberType::u16, kColorAt[at]);
    add_las_field(layout, "green", NumberType::u16, kColorAt[at] + 2);
    add_las_field(layout, "blue", NumberType::u16, kColorAt[at] + 4);
  }
  if (las_has_infrared(format)) add_las_field(layout, "nir", NumberType::u16, 36);
  // The flags stand behind the rest, so that the positions of the other columns do not depend on them.
  const std::uint64_t flags = 15;
  if (extended) {
    add_las_bits(layout, "scan_direction_flag", flags, 6, 1);
    add_las_bits(layout, "edge_of_flight_line", flags, 7, 1);
    add_las_bits(layout, "synthetic", flags, 0, 1);
    add_las_bits(layout, "key_point", flags, 1, 1);
    add_las_bits(layout, "withheld", flags, 2, 1);
    add_las_bits(layout, "overlap", flags, 3, 1);
    add_las_bits(layout, "scanner_channel", flags, 4, 2);
  } else {
    add_las_bits(layout, "scan_direction_flag", flags - 1, 6, 1);
    add_las_bits(layout, "edge_of_flight_line", flags - 1, 7, 1);
    add_las_bits(layout, "synthetic", flags, 5, 1);
    add_las_bits(layout, "key_point", flags, 6, 1);
    add_las_bits(layout, "withheld", flags, 7, 1);
  }
  return layout;
}

}  // namespace kith::io::inline v0
