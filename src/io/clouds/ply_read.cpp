// Reads the vertices of a PLY file in any of its three encodings; other elements and lists are stepped over.
#include "io/formats.hpp"
#include "io/clouds/ply_header.hpp"
#include "io/records/record_layout.hpp"
#include "io/records/record_text.hpp"
#include "io/records/record_values.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

namespace kith::io::inline v0 {
namespace {

const std::vector<std::string> kDefaultColumns = {"x", "y", "z"};

/// Walks through records of varying length.
class ByteCursor {
 public:
  ByteCursor(const runtime::InputFile& file, std::uint64_t offset) : file_(file), offset_(offset), window_(1 << 18) {}

  std::uint64_t offset() const { return offset_; }

  void skip(std::uint64_t bytes) {
    if (offset_ > file_.size() || bytes > file_.size() - offset_) {
      throw CorruptFile(
          fmt::format("{}: {} bytes are needed from byte {} on, but the file ends at byte {}; it is cut "
                      "short or a list count is wrong",
                      file_.name(), bytes, offset_, file_.size()));
    }
    offset_ += bytes;
  }

  /// The next `bytes` bytes, at most 8; valid until the next call.
  const char* take(std::size_t bytes) {
    if (offset_ < begin_ || offset_ - begin_ + bytes > filled_) {
      begin_ = offset_;
      filled_ = file_.read_at(begin_, window_.data(), window_.size());
    }
    const std::uint64_t at = offset_;
    skip(bytes);
    return window_.data() + (at - begin_);
  }

 private:
  const runtime::InputFile& file_;
  std::uint64_t offset_;
  std::vector<char> window_;
  std::uint64_t begin_ = 0;
  std::uint64_t filled_ = 0;
};

class BinaryPly {
 public:
  BinaryPly(const runtime::InputFile& file, const PlyHeader& header, const ReadOptions& options)
      : file_(file),
        header_(header),
        options_(options),
        swap_((header.encoding == PlyEncoding::big_endian) != (std::endian::native == std::endian::big)),
        cursor_(file, header.data_offset),
        meter_(&options.progress, "finding vertices", file.size()) {}

  PointFile read() {
    for (std::size_t i = 0; i < header_.vertex; ++i) skip_element(header_.elements[i]);
    const PlyElement& vertex = header_.elements[header_.vertex];
    require_backed(file_, vertex.count, vertex.least_bytes(), cursor_.offset(), "vertices");

    RecordLayout layout;
    layout.rows = vertex.count;
    layout.first_byte = cursor_.offset();
    layout.big_endian = header_.encoding == PlyEncoding::big_endian;
    layout.named = true;
    for (const PlyProperty& property : vertex.properties) {
      if (property.is_list) continue;
      RecordField field;
      field.name = property.name;
      field.type = property.type;
      field.offset = layout.record_bytes;
      layout.fields.push_back(std::move(field));
      layout.record_bytes += size_of(property.type);
    }
    if (!vertex.has_lists()) return read_records(file_, layout, options_, Format::ply, kDefaultColumns);
    const runtime::InputFile packed(file_.name(), without_lists(vertex, layout.record_bytes));
    layout.first_byte = 0;
    return read_records(packed, layout, options_, Format::ply, kDefaultColumns);
  }

 private:
  std::uint64_t list_bytes(const PlyProperty& property) {
    const std::uint64_t at = cursor_.offset();
    const char* from = cursor_.take(size_of(property.count_type));
    std::int64_t count = 0;
    with_number_type(property.count_type, [&]<typename S>(S) {
      if constexpr (std::is_integral_v<S> && sizeof(S) <= 4) {
        count = static_cast<std::int64_t>(swap_ ? load_value<S, true>(from) : load_value<S, false>(from));
      }
    });
    if (count < 0) {
      throw CorruptFile(
          fmt::format("{}: the list \"{}\" at byte {} has the count {}", file_.name(), property.name, at, count));
    }
    return static_cast<std::uint64_t>(count) * size_of(property.type);
  }

  void skip_element(const PlyElement& element) {
    const std::uint64_t least = element.least_bytes();
    require_backed(file_, element.count, least, cursor_.offset(), element.name.substr(0, 40) + " records");
    if (!element.has_lists()) {
      cursor_.skip(element.count * least);
      return;
    }
    for (std::uint64_t i = 0; i < element.count; ++i) {
      for (const PlyProperty& property : element.properties) {
        cursor_.skip(property.is_list ? list_bytes(property) : size_of(property.type));
      }
      if ((i & 0xfff) == 0) meter_.report(cursor_.offset());
    }
  }

  /// The vertices with their lists left out, side by side. At most as long as the file.
  std::vector<char> without_lists(const PlyElement& vertex, std::uint64_t record_bytes) {
    std::vector<char> packed(static_cast<std::size_t>(vertex.count * record_bytes));
    char* to = packed.data();
    for (std::uint64_t i = 0; i < vertex.count; ++i) {
      for (const PlyProperty& property : vertex.properties) {
        if (property.is_list) {
          cursor_.skip(list_bytes(property));
        } else {
          const std::size_t size = size_of(property.type);
          std::memcpy(to, cursor_.take(size), size);
          to += size;
        }
      }
      if ((i & 0xfff) == 0) meter_.report(cursor_.offset());
    }
    return packed;
  }

  const runtime::InputFile& file_;
  const PlyHeader& header_;
  const ReadOptions& options_;
  bool swap_;
  ByteCursor cursor_;
  runtime::ProgressMeter meter_;
};

PointFile read_ascii(const runtime::InputFile& file, const PlyHeader& header, const ReadOptions& options) {
  TextRecords records;
  for (std::size_t i = 0; i < header.vertex; ++i) {
    const PlyElement& element = header.elements[i];
    if (element.properties.empty()) continue;  // takes no line
    if (__builtin_add_overflow(records.skipped_lines, element.count, &records.skipped_lines)) {
      throw CorruptFile(
          fmt::format("{}: the element counts of the header add up to more than any file holds", file.name()));
    }
  }
  const PlyElement& vertex = header.elements[header.vertex];
  records.rows = vertex.count;
  records.first_byte = header.data_offset;
  records.first_line = header.lines + 1;
  records.what = "vertex";
  for (const PlyProperty& property : vertex.properties) {
    records.fields.push_back(
        {property.name, property.type, property.is_list ? TextField::Kind::list : TextField::Kind::number});
  }
  return read_text_records(file, records, options, Format::ply, kDefaultColumns);
}

}  // namespace

namespace {

/// What a table has beside the numbers of the vertices, and what it does not have.
void describe_rest(const PlyHeader& header, Table& table) {
  table.comments = header.comments;
  for (const PlyElement& element : header.elements) {
    if (&element != &header.elements[header.vertex] && element.count > 0) {
      table.notes.push_back(fmt::format("the {} of element \"{}\" are left out: only vertices are read", element.count,
                                        element.name.substr(0, 40)));
    }
  }
  for (const PlyProperty& property : header.elements[header.vertex].properties) {
    if (property.is_list) {
      table.notes.push_back(
          fmt::format("the list \"{}\" is left out: only numbers are read", property.name.substr(0, 40)));
    }
  }
}

}  // namespace

PointFile read_ply(const runtime::InputFile& file, const ReadOptions& options) {
  const PlyHeader header = read_ply_header(file);
  if (options.table != nullptr) describe_rest(header, *options.table);
  if (header.encoding == PlyEncoding::ascii) return read_ascii(file, header, options);
  return BinaryPly(file, header, options).read();
}

}  // namespace kith::io::inline v0
