// Reads IDX, the format of MNIST: big-endian numbers of one type, n x anything; each item becomes one row.
#include "io/formats.hpp"
#include "io/records/record_layout.hpp"
#include "io/records/record_values.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <bit>
#include <vector>

namespace kith::io::inline v0 {
namespace {

NumberType type_of_code(const runtime::InputFile& file, unsigned code) {
  switch (code) {
    case 0x08:
      return NumberType::u8;
    case 0x09:
      return NumberType::i8;
    case 0x0B:
      return NumberType::i16;
    case 0x0C:
      return NumberType::i32;
    case 0x0D:
      return NumberType::f32;
    case 0x0E:
      return NumberType::f64;
    default:
      throw CorruptFile(fmt::format("{}: IDX type code {:#04x} is not known", file.name(), code));
  }
}

}  // namespace

PointFile read_idx(const runtime::InputFile& file, const ReadOptions& options) {
  unsigned char head[4];
  file.read_exact(0, head, 4);
  if (head[0] != 0 || head[1] != 0) {
    throw CorruptFile(fmt::format("{}: does not start with two zero bytes; it is not an IDX file", file.name()));
  }
  const NumberType type = type_of_code(file, head[2]);
  const std::size_t extents = head[3];
  if (extents == 0) throw CorruptFile(fmt::format("{}: IDX without dimensions holds no points", file.name()));
  std::vector<char> bytes(extents * 4);
  file.read_exact(4, bytes.data(), bytes.size());

  RecordLayout layout;
  std::uint64_t columns = 1;
  for (std::size_t i = 0; i < extents; ++i) {
    const std::uint64_t extent = load_value<std::uint32_t, std::endian::native == std::endian::little>(&bytes[i * 4]);
    if (i == 0) {
      layout.rows = extent;
    } else if (__builtin_mul_overflow(columns, extent, &columns) || columns > kMaxColumns) {
      throw CorruptFile(
          fmt::format("{}: one item has more than {} numbers; the IDX header is wrong", file.name(), kMaxColumns));
    }
  }
  if (columns == 0) throw CorruptFile(fmt::format("{}: an extent of the IDX header is 0", file.name()));
  layout.first_byte = 4 + bytes.size();
  layout.record_bytes = columns * size_of(type);
  layout.big_endian = true;
  layout.fields.resize(static_cast<std::size_t>(columns));
  for (std::uint64_t i = 0; i < columns; ++i) {
    layout.fields[i].type = type;
    layout.fields[i].offset = i * size_of(type);
  }
  require_backed(file, layout.rows, layout.record_bytes, layout.first_byte, "items");
  const std::uint64_t end = layout.first_byte + layout.rows * layout.record_bytes;
  if (file.size() != end) {
    throw CorruptFile(fmt::format("{}: {} bytes follow the last item at byte {}; the IDX header is wrong", file.name(),
                                  file.size() - end, end));
  }
  return read_records(file, layout, options, Format::idx);
}

}  // namespace kith::io::inline v0
