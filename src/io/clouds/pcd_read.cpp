// Reads the points of a PCD cloud: ascii, binary, or compressed field by field. Organised clouds keep their NaN rows.
#include "io/formats.hpp"
#include "io/clouds/pcd_header.hpp"
#include "io/records/record_layout.hpp"
#include "io/records/record_text.hpp"
#include "io/records/record_values.hpp"

#include <kith/error.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>
#include <lzf.h>

#include <bit>
#include <string>
#include <vector>

namespace kith::io::inline v0 {
namespace {

const std::vector<std::string> kDefaultColumns = {"x", "y", "z"};
constexpr std::uint64_t kMaxLzfRatio = 88;  // three bytes give 264 at most

/// A field of several values gives the columns name, name_1, name_2, …
std::string value_name(const PcdField& field, std::uint64_t i) {
  return i == 0 ? field.name : fmt::format("{}_{}", field.name, i);
}

RecordLayout layout_of(const PcdHeader& header, RecordOrder order) {
  RecordLayout layout;
  layout.rows = header.points;
  layout.record_bytes = header.record_bytes;
  layout.order = order;
  layout.named = true;
  std::uint64_t offset = 0;
  for (const PcdField& field : header.fields) {
    const std::uint64_t bytes = field.size * field.count;
    for (std::uint64_t i = 0; i < field.count && !field.is_padding(); ++i) {
      RecordField value;
      value.name = value_name(field, i);
      value.type = field.number_type();
      value.offset = offset + i * field.size;
      value.stride = bytes;
      layout.fields.push_back(std::move(value));
    }
    offset += order == RecordOrder::planes ? bytes * header.points : bytes;
  }
  return layout;
}

std::uint32_t size_at(const char* from) {
  return load_value<std::uint32_t, std::endian::native == std::endian::big>(from);
}

PointFile read_compressed(const runtime::InputFile& file, const PcdHeader& header, const ReadOptions& options) {
  char sizes[8];
  file.read_exact(header.data_offset, sizes, sizeof(sizes));
  const std::uint64_t compressed_bytes = size_at(sizes);
  const std::uint64_t bytes = size_at(sizes + 4);
  const std::uint64_t begin = header.data_offset + sizeof(sizes);
  if (compressed_bytes > file.size() - begin) {
    throw CorruptFile(fmt::format("{}: {} compressed bytes are declared, but {} follow; the file is cut short",
                                  file.name(), compressed_bytes, file.size() - begin));
  }
  std::uint64_t expected = 0;
  if (__builtin_mul_overflow(header.points, header.record_bytes, &expected) || expected != bytes) {
    throw CorruptFile(
        fmt::format("{}: {} points of {} bytes do not make the {} bytes that the compressed data declares", file.name(),
                    header.points, header.record_bytes, bytes));
  }
  if (compressed_bytes == 0 ? bytes > 0 : bytes / kMaxLzfRatio > compressed_bytes) {
    throw CorruptFile(fmt::format("{}: {} bytes cannot be compressed to {}; the declared sizes are wrong", file.name(),
                                  bytes, compressed_bytes));
  }
  std::vector<char> planes(static_cast<std::size_t>(bytes));
  if (bytes > 0) {
    std::vector<char> compressed(static_cast<std::size_t>(compressed_bytes));
    file.read_exact(begin, compressed.data(), compressed.size());
    const unsigned got = lzf_decompress(compressed.data(), static_cast<unsigned>(compressed_bytes), planes.data(),
                                        static_cast<unsigned>(bytes));
    if (got != bytes) {
      throw CorruptFile(fmt::format("{}: the compressed data from byte {} on is damaged", file.name(), begin));
    }
  }
  const runtime::InputFile memory(file.name(), std::move(planes));
  return read_records(memory, layout_of(header, RecordOrder::planes), options, Format::pcd, kDefaultColumns);
}

PointFile read_ascii(const runtime::InputFile& file, const PcdHeader& header, const ReadOptions& options) {
  TextRecords records;
  records.rows = header.points;
  records.first_byte = header.data_offset;
  records.first_line = header.lines + 1;
  records.what = "point";
  for (const PcdField& field : header.fields) {
    for (std::uint64_t i = 0; i < field.count; ++i) {
      if (field.is_padding()) {
        records.fields.push_back({"_", NumberType::u8, TextField::Kind::padding});
      } else {
        records.fields.push_back({value_name(field, i), field.number_type(), TextField::Kind::number});
      }
    }
  }
  return read_text_records(file, records, options, Format::pcd, kDefaultColumns);
}

}  // namespace

PointFile read_pcd(const runtime::InputFile& file, const ReadOptions& options) {
  const PcdHeader header = read_pcd_header(file);
  if (options.table != nullptr) options.table->viewpoint = header.viewpoint;
  if (header.encoding == PcdEncoding::ascii) return read_ascii(file, header, options);
  if (header.encoding == PcdEncoding::binary_compressed) return read_compressed(file, header, options);
  require_backed(file, header.points, header.record_bytes, header.data_offset, "points");
  RecordLayout layout = layout_of(header, RecordOrder::records);
  layout.first_byte = header.data_offset;
  return read_records(file, layout, options, Format::pcd, kDefaultColumns);
}

}  // namespace kith::io::inline v0
