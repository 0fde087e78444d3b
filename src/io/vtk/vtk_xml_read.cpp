// Reads the points and point data of a VTK XML file: PolyData (.vtp), UnstructuredGrid (.vtu), StructuredGrid (.vts).
#include "io/text/text_field.hpp"
#include "io/vtk/vtk_arrays.hpp"
#include "io/vtk/vtk_read.hpp"
#include "io/vtk/vtk_xml_data.hpp"
#include "io/vtk/xml_tags.hpp"
#include "runtime/physical_memory.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace kith::io::inline v0 {
namespace {

/// A DataArray of points or point data as the file describes it.
struct XmlArray {
  std::string name;
  bool is_points = false;
  std::optional<NumberType> type = {};  // nothing for text
  std::uint64_t components = 1;
  std::string_view format;
  std::uint64_t offset = 0;  // appended only
  std::string_view text;     // inline only
};

struct XmlPiece {
  std::uint64_t points = 0;
  std::vector<XmlArray> arrays;
};

std::optional<NumberType> xml_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, NumberType>, 10> kTypes = {{{"Int8", NumberType::i8},
                                                                               {"UInt8", NumberType::u8},
                                                                               {"Int16", NumberType::i16},
                                                                               {"UInt16", NumberType::u16},
                                                                               {"Int32", NumberType::i32},
                                                                               {"UInt32", NumberType::u32},
                                                                               {"Int64", NumberType::i64},
                                                                               {"UInt64", NumberType::u64},
                                                                               {"Float32", NumberType::f32},
                                                                               {"Float64", NumberType::f64}}};
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return std::nullopt;
}

/// The text of the file up to its appended data, which may be any bytes.
std::string markup_of(const runtime::InputFile& file, const ReadOptions& options) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  constexpr std::string_view kEnd = "<AppendedData";
  runtime::ProgressMeter meter(&options.progress, "reading", file.size());
  std::string text;
  for (std::uint64_t at = 0; at < file.size();) {
    const std::size_t before = text.size();
    text.resize(before + static_cast<std::size_t>(std::min<std::uint64_t>(kStep, file.size() - at)));
    const std::size_t got = file.read_at(at, text.data() + before, text.size() - before);
    text.resize(before + got);
    if (got == 0) break;
    at += got;
    meter.report(at);
    const std::size_t appended = text.find(kEnd, before - std::min(before, kEnd.size()));
    const std::size_t nul = text.find('\0', before);
    if (nul < appended) {
      throw CorruptFile(fmt::format("{}: byte {} is NUL, so this is not XML, or it is damaged", file.name(), nul));
    }
    runtime::require_memory(text.size(), "the text of " + file.name());
    if (appended == std::string::npos) continue;
    const std::size_t close = text.find('>', appended);
    if (close == std::string::npos) continue;
    text.resize(close + 1);
    break;
  }
  return text;
}

class XmlVtk {
 public:
  XmlVtk(const runtime::InputFile& file, const ReadOptions& options)
      : file_(file), meter_(&options.progress, "decoding", 0), text_(markup_of(file, options)) {}

  RecordSource read() {
    find_pieces();
    if (pieces_.empty()) throw BadData(fmt::format("{}: holds no points: it has no <Piece>", file_.name()));
    RecordSource source;
    source.layout.order = RecordOrder::planes;
    source.layout.big_endian = encoding_.big_endian;
    source.layout.named = true;
    for (const XmlPiece& piece : pieces_) {
      if (__builtin_add_overflow(source.layout.rows, piece.points, &source.layout.rows)) fail("too many points");
    }
    std::vector<char> decoded;
    bool has_points = false;
    for (const XmlArray& array : pieces_.front().arrays) {
      const std::vector<const XmlArray*> parts = in_all_pieces(array);
      if (parts.empty()) {
        source.notes.push_back(fmt::format("{}: the array {} is {} and left out", file_.name(), shown(array.name),
                                           array.type ? "not in every piece" : "text"));
        continue;
      }
      if (array.is_points && std::exchange(has_points, true)) fail("a piece has two arrays of points");
      add_vtk_array(source.layout, file_.name(), array.name, array.is_points, *array.type, array.components,
                    decoded.size());
      for (std::size_t i = 0; i < parts.size(); ++i) append(*parts[i], pieces_[i].points, decoded);
      require_plausible(decoded.size());
    }
    if (!has_points) throw BadData(fmt::format("{}: holds no points: it has no <Points>", file_.name()));
    source.defaults = {"x", "y", "z"};
    source.decoded = std::make_unique<const runtime::InputFile>(file_.name(), std::move(decoded));
    return source;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const { throw CorruptFile(fmt::format("{}: {}", file_.name(), why)); }

  /// Arrays may claim the same bytes, again and again: what a file can hold bounds what they become.
  void require_plausible(std::uint64_t bytes) const {
    constexpr std::uint64_t kMostTextRatio = 8;  // a digit and a blank become a double
    if (bytes / (encoding_.is_compressed ? kMostDeflateRatio : kMostTextRatio) > file_.size()) {
      fail("its arrays claim more data than the file has");
    }
  }

  std::uint64_t count(const XmlTag& tag, std::string_view key, std::uint64_t otherwise) const {
    const auto text = tag.attribute(key);
    if (!text) return otherwise;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (text->empty() || error != std::errc() || end != text->data() + text->size()) {
      fail(fmt::format("{}={} of <{}> is not a whole number", key, shown(*text), shown(tag.name)));
    }
    return value;
  }

  void find_pieces() {
    XmlTags tags(text_);
    XmlTag tag;
    bool in_points = false;
    bool in_point_data = false;
    while (tags.next(tag)) {
      if (tag.name == "VTKFile") {
        take_file(tag);
      } else if (tag.name == "Piece") {
        pieces_.push_back({points_of(tag), {}});
      } else if (tag.name == "Points" || tag.name == "/Points") {
        in_points = tag.name == "Points" && !tag.is_empty;
      } else if (tag.name == "PointData" || tag.name == "/PointData") {
        in_point_data = tag.name == "PointData" && !tag.is_empty;
      } else if (tag.name == "DataArray" || tag.name == "Array") {
        if (tag.attribute("format") == "appended") offsets_.push_back(count(tag, "offset", 0));
        if (!pieces_.empty() && (in_points || in_point_data)) take_array(tag, in_points);
      } else if (tag.name == "AppendedData") {
        appended_is_raw_ = tag.attribute("encoding").value_or("base64") == "raw";
        appended_at_ = first_appended(tag.end);
      }
    }
    std::ranges::sort(offsets_);
  }

  void take_file(const XmlTag& tag) {
    const std::string kind(tag.attribute("type").value_or(""));
    if (kind.starts_with('P') && kind != "PolyData") {
      fail(fmt::format("is a VTK file of pieces ({}) that lie in files of their own; name one of those", shown(kind)));
    }
    if (kind != "PolyData" && kind != "UnstructuredGrid" && kind != "StructuredGrid") {
      fail(fmt::format(
          "is a VTK file of type {}, which lists no points; write it as polygonal data or an unstructured grid first",
          shown(kind)));
    }
    encoding_.big_endian = tag.attribute("byte_order").value_or("LittleEndian") == "BigEndian";
    encoding_.wide_header = tag.attribute("header_type").value_or("UInt32") == "UInt64";
    const std::string_view compressor = tag.attribute("compressor").value_or("");
    encoding_.is_compressed = !compressor.empty();
    if (encoding_.is_compressed && compressor != "vtkZLibDataCompressor") {
      fail(fmt::format("is compressed by {}; kith reads vtkZLibDataCompressor and data that is not compressed",
                       shown(compressor)));
    }
  }

  /// A structured grid gives its extent: "0 9 0 4 0 0" is 10 x 5 x 1 points.
  std::uint64_t points_of(const XmlTag& tag) const {
    const auto extent = tag.attribute("Extent");
    if (!extent) return count(tag, "NumberOfPoints", 0);
    std::array<std::int64_t, 6> bounds{};
    const char* at = extent->data();
    const char* const end = at + extent->size();
    for (std::int64_t& bound : bounds) {
      while (at != end && *at == ' ') ++at;
      const auto result = std::from_chars(at, end, bound);
      if (result.ec != std::errc()) fail(fmt::format("the Extent {} is not six whole numbers", shown(*extent)));
      at = result.ptr;
    }
    std::uint64_t points = 1;
    for (std::size_t i = 0; i < 6; i += 2) {
      std::int64_t length = 0;
      if (__builtin_sub_overflow(bounds[i + 1], bounds[i], &length) || length < 0 || length > std::int64_t{1} << 40 ||
          __builtin_mul_overflow(points, static_cast<std::uint64_t>(length + 1), &points)) {
        fail(fmt::format("the Extent {} is wrong", shown(*extent)));
      }
    }
    return points;
  }

  void take_array(const XmlTag& tag, bool is_points) {
    XmlArray array;
    array.name = is_points ? "points" : std::string(tag.attribute("Name").value_or("unnamed"));
    array.is_points = is_points;
    array.type = xml_type(tag.attribute("type").value_or(""));
    array.components = count(tag, "NumberOfComponents", is_points ? 3 : 1);
    array.format = tag.attribute("format").value_or("ascii");
    array.offset = count(tag, "offset", 0);
    array.text = tag.is_empty ? std::string_view() : tag.text;
    if (array.components == 0 || (is_points && (array.components != 3 || !array.type))) {
      fail(fmt::format("the array {} has {} components", shown(array.name), array.components));
    }
    pieces_.back().arrays.push_back(std::move(array));
  }

  /// The array of each piece that goes with this one of the first; none if one is missing or different.
  std::vector<const XmlArray*> in_all_pieces(const XmlArray& array) const {
    std::vector<const XmlArray*> found;
    for (const XmlPiece& piece : pieces_) {
      const auto same = std::ranges::find_if(piece.arrays, [&](const XmlArray& other) {
        return other.name == array.name && other.is_points == array.is_points && other.type == array.type &&
               other.components == array.components;
      });
      if (same == piece.arrays.end() || !array.type) return {};
      found.push_back(&*same);
    }
    return found;
  }

  /// An underscore marks the first appended byte.
  std::uint64_t first_appended(std::uint64_t at) const {
    std::array<char, 256> bytes{};
    const std::string_view text(bytes.data(), file_.read_at(at, bytes.data(), bytes.size()));
    const std::size_t mark = text.find('_');
    if (mark == std::string_view::npos) fail("the appended data does not begin with an underscore");
    return at + mark + 1;
  }

  void append(const XmlArray& array, std::uint64_t points, std::vector<char>& out) {
    const std::string where = fmt::format("{}: the array {}", file_.name(), shown(array.name));
    std::uint64_t values = 0;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(points, array.components, &values) ||
        __builtin_mul_overflow(values, static_cast<std::uint64_t>(size_of(*array.type)), &bytes)) {
      fail(fmt::format("{} points are more than any file holds", points));
    }
    if (array.format == "ascii") return append_vtk_text(array.text, *array.type, values, encoding_, where, meter_, out);
    if (array.format == "binary") return append_vtk_base64(array.text, bytes, encoding_, where, meter_, out);
    if (array.format != "appended") fail(fmt::format("{}: the format {} is not known", where, shown(array.format)));
    if (!appended_at_)
      fail(fmt::format("{} is appended, but there is no <AppendedData>; the file is cut short", where));
    if (array.offset > file_.size() - *appended_at_) fail(fmt::format("{} begins after the end of the file", where));
    const std::uint64_t begin = *appended_at_ + array.offset;
    if (appended_is_raw_) return append_vtk_raw(file_, begin, bytes, encoding_, where, meter_, out);
    const auto next = std::ranges::upper_bound(offsets_, array.offset);
    const bool is_last = next == offsets_.end() || *next > file_.size() - *appended_at_;
    const std::uint64_t end = is_last ? file_.size() : *appended_at_ + *next;
    runtime::require_memory(end - begin, "the array " + array.name);
    std::string text(static_cast<std::size_t>(end - begin), '\0');
    file_.read_exact(begin, text.data(), text.size());
    append_vtk_base64(std::string_view(text).substr(0, text.find('<')), bytes, encoding_, where, meter_, out);
  }

  const runtime::InputFile& file_;
  runtime::ProgressMeter meter_;
  std::string text_;  // up to the appended data
  VtkEncoding encoding_;
  std::vector<XmlPiece> pieces_;
  std::vector<std::uint64_t> offsets_;  // of all appended arrays, in order
  std::optional<std::uint64_t> appended_at_;
  bool appended_is_raw_ = false;
};

}  // namespace

RecordSource find_vtk_xml(const runtime::InputFile& file, const ReadOptions& options) {
  return XmlVtk(file, options).read();
}

RecordSource find_vtk(const runtime::InputFile& file, const ReadOptions& options) {
  return file.head(16).starts_with("# vtk DataFile") ? find_vtk_legacy(file, options) : find_vtk_xml(file, options);
}

}  // namespace kith::io::inline v0
