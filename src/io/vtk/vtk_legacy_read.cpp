// Reads the points and point data of a legacy VTK file (.vtk), ASCII or big-endian binary. Cells are stepped over.
#include "io/lower_case.hpp"
#include "io/molecules/line_cursor.hpp"
#include "io/records/record_values.hpp"
#include "io/text/text_field.hpp"
#include "io/vtk/vtk_arrays.hpp"
#include "io/vtk/vtk_read.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <optional>
#include <utility>

namespace kith::io::inline v0 {
namespace {

using Words = std::vector<std::string_view>;

/// An element type by its name in the file; bits are packed and not read.
struct LegacyType {
  std::string_view name;
  NumberType type;
};
constexpr std::array<LegacyType, 21> kLegacyTypes = {
    {{"char", NumberType::i8},           {"signed_char", NumberType::i8},     {"unsigned_char", NumberType::u8},
     {"short", NumberType::i16},         {"unsigned_short", NumberType::u16}, {"int", NumberType::i32},
     {"unsigned_int", NumberType::u32},  {"long", NumberType::i64},           {"unsigned_long", NumberType::u64},
     {"float", NumberType::f32},         {"double", NumberType::f64},         {"vtkidtype", NumberType::i32},
     {"vtktypeint8", NumberType::i8},    {"vtktypeuint8", NumberType::u8},    {"vtktypeint16", NumberType::i16},
     {"vtktypeuint16", NumberType::u16}, {"vtktypeint32", NumberType::i32},   {"vtktypeuint32", NumberType::u32},
     {"vtktypeint64", NumberType::i64},  {"vtktypeuint64", NumberType::u64},  {"vtktypefloat64", NumberType::f64}}};

/// Names are written with %20 for a blank.
std::string decoded_name(std::string_view name) {
  std::string decoded;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 2 < name.size() && std::isxdigit(static_cast<unsigned char>(name[i + 1])) != 0 &&
        std::isxdigit(static_cast<unsigned char>(name[i + 2])) != 0) {
      decoded += static_cast<char>(digit(name[i + 1]) * 16 + digit(name[i + 2]));
      i += 2;
    } else {
      decoded += name[i];
    }
  }
  return decoded;
}

class LegacyVtk {
 public:
  LegacyVtk(const runtime::InputFile& file, const ReadOptions& options) : file_(file), lines_(file, options) {}

  RecordSource read() {
    read_head();
    std::string_view line;
    while (lines_.next_filled(line) && take(std::string(line))) {
    }
    if (!has_points_) throw BadData(fmt::format("{}: holds no points: it has no POINTS", file_.name()));
    RecordSource source;
    layout_.order = RecordOrder::planes;
    layout_.named = true;
    layout_.big_endian = is_binary_ || std::endian::native == std::endian::big;
    source.layout = std::move(layout_);
    source.defaults = {"x", "y", "z"};
    if (!is_binary_) source.decoded = std::make_unique<const runtime::InputFile>(file_.name(), std::move(decoded_));
    source.notes = std::move(notes_);
    return source;
  }

 private:
  void read_head() {
    std::string_view line;
    if (!lines_.next(line) || !lines_.next(line) || !lines_.next_filled(line))
      lines_.fail("the VTK header is cut short");
    const std::string encoding = lower_case(without_blanks(line));
    if (encoding != "ascii" && encoding != "binary")
      lines_.fail(fmt::format("{} is neither ASCII nor BINARY", shown(line)));
    is_binary_ = encoding == "binary";
  }

  /// Takes one keyword and what follows it; false where reading cannot go on, but what came before is of use.
  bool take(const std::string& line) {
    Words words;
    split_words(line, words);
    const std::string key = lower_case(words[0]);
    const auto count = [&](std::size_t i) { return lines_.count(i < words.size() ? words[i] : "", "count"); };
    const auto word = [&](std::size_t i) {
      if (i >= words.size()) lines_.fail(fmt::format("{} is cut short", shown(line)));
      return words[i];
    };
    if (key == "dataset") {
      const std::string kind = lower_case(word(1));
      if (kind == "structured_points" || kind == "rectilinear_grid") {
        throw CorruptFile(
            fmt::format("{}: is a VTK grid ({}), whose points follow from its axes and are not in the file; write "
                        "them as polygonal data or an unstructured grid first",
                        file_.name(), kind));
      }
    } else if (key == "points") {
      if (has_points_) lines_.fail("POINTS appears twice");
      layout_.rows = count(1);
      has_points_ = true;
      is_point_data_ = false;
      take_array("points", word(2), 3, layout_.rows, true, true);
    } else if (key == "point_data" || key == "cell_data") {
      is_point_data_ = key == "point_data" && has_points_;
      tuples_ = count(1);
      if (is_point_data_ && tuples_ != layout_.rows) {
        lines_.fail(fmt::format("POINT_DATA of {} points, but there are {}", tuples_, layout_.rows));
      }
    } else if (key == "cells" || key == "polygons" || key == "lines" || key == "vertices" || key == "triangle_strips") {
      take_cells(count(1), count(2));
    } else if (key == "offsets" || key == "connectivity") {
      take_array("", word(1), 1, key == "offsets" ? offsets_ : connections_, false, false);
    } else if (key == "cell_types") {
      take_array("", "int", 1, count(1), false, false);
    } else if (key == "scalars") {
      const std::string name(word(1));
      const std::string type(word(2));
      const std::uint64_t components = words.size() > 3 ? count(3) : 1;
      skip_lookup_name();
      take_array(name, type, components, tuples_, is_point_data_, false);
    } else if (key == "color_scalars") {
      take_array(word(1), is_binary_ ? "unsigned_char" : "float", count(2), tuples_, is_point_data_, false);
    } else if (key == "lookup_table") {
      take_array("", is_binary_ ? "unsigned_char" : "float", 4, count(2), false, false);
    } else if (key == "vectors" || key == "normals") {
      take_array(word(1), word(2), 3, tuples_, is_point_data_, false);
    } else if (key == "tensors" || key == "tensors6") {
      take_array(word(1), word(2), key == "tensors" ? 9 : 6, tuples_, is_point_data_, false);
    } else if (key == "texture_coordinates") {
      take_array(word(1), word(3), count(2), tuples_, is_point_data_, false);
    } else if (key == "global_ids" || key == "pedigree_ids" || key == "edge_flags") {
      take_array(word(1), word(2), 1, tuples_, is_point_data_, false);
    } else if (key == "field") {
      return take_field(count(2));
    } else if (key == "metadata") {
      std::string_view information;
      while (lines_.next(information) && !without_blanks(information).empty()) {
      }
    } else if (key != "dimensions" && key != "origin" && key != "spacing") {
      lines_.fail(fmt::format("{} is not a keyword of VTK", shown(words[0])));
    }
    return true;
  }

  /// From version 5.1 on, offsets and connections follow as arrays of their own; before, `size` whole numbers.
  void take_cells(std::uint64_t cells, std::uint64_t size) {
    const std::uint64_t begin = lines_.offset();
    const std::uint64_t number = lines_.number();
    std::array<char, 8> next{};
    const std::size_t got = file_.read_at(begin, next.data(), next.size());
    if (std::string_view(next.data(), got).starts_with("OFFSETS")) {
      offsets_ = cells;
      connections_ = size;
      return;
    }
    lines_.seek(begin, number);
    take_array("", "int", 1, size, false, false);
  }

  void skip_lookup_name() {
    std::string_view line;
    const std::uint64_t begin = lines_.offset();
    const std::uint64_t number = lines_.number();
    if (!lines_.next(line) || !lower_case(without_blanks(line)).starts_with("lookup_table")) lines_.seek(begin, number);
  }

  /// "FIELD name arrays", then "name components tuples type" and the values of each.
  bool take_field(std::uint64_t arrays) {
    for (std::uint64_t i = 0; i < arrays; ++i) {
      std::string_view line;
      do {
        if (!lines_.next_filled(line)) lines_.fail("a field is cut short");
        if (lower_case(line.substr(0, 8)) != "metadata") break;
        while (lines_.next(line) && !without_blanks(line).empty()) {
        }
      } while (true);
      const std::string description(line);
      Words words;
      split_words(description, words);
      if (words.size() != 4) lines_.fail(fmt::format("{} is not \"name components tuples type\"", shown(description)));
      const std::uint64_t tuples = lines_.count(words[2], "number of tuples");
      if (words[3] == "string" || words[3] == "bit" || words[3] == "variant") {
        notes_.push_back(fmt::format("{}: line {}: arrays from {} on are not read, its type is {}", file_.name(),
                                     lines_.number(), shown(words[0]), words[3]));
        return false;
      }
      take_array(words[0], words[3], lines_.count(words[1], "number of components"), tuples,
                 is_point_data_ && tuples == tuples_, false);
    }
    return true;
  }

  /// The values behind the line that was taken last: a column, or stepped over.
  void take_array(std::string_view name, std::string_view type_name, std::uint64_t components, std::uint64_t tuples,
                  bool is_column, bool is_points) {
    const auto known = std::ranges::find(kLegacyTypes, lower_case(type_name), &LegacyType::name);
    if (known == kLegacyTypes.end()) lines_.fail(fmt::format("values of type {} are not read", shown(type_name)));
    const NumberType type = known->type;
    std::uint64_t values = 0;
    const std::uint64_t there = file_.size() - lines_.offset();
    const std::uint64_t least = is_binary_ ? size_of(type) : 2;  // a digit and a blank
    if (components == 0 || __builtin_mul_overflow(components, tuples, &values) || values > (there + 1) / least) {
      lines_.fail(
          fmt::format("says {} x {} values of type {}, but only {} bytes follow; the file is cut short or damaged",
                      tuples, components, type_name, there));
    }
    const std::uint64_t bytes = values * size_of(type);
    if (is_column) {
      add_vtk_array(layout_, file_.name(), decoded_name(name), is_points, type, components,
                    is_binary_ ? lines_.offset() : decoded_.size());
    }
    if (is_binary_) {
      lines_.seek(lines_.offset() + bytes, lines_.number());
    } else {
      parse_values(type, values, is_column);
    }
  }

  void parse_values(NumberType type, std::uint64_t values, bool is_column) {
    std::string_view line;
    std::array<char, 8> value{};
    const std::size_t size = size_of(type);
    if (is_column) decoded_.reserve(decoded_.size() + static_cast<std::size_t>(values * size));
    while (values > 0) {
      if (!lines_.next(line)) lines_.fail(fmt::format("{} values are missing; the file is cut short", values));
      split_words(line, words_);
      if (words_.size() > values) lines_.fail("has more values than the array");
      values -= words_.size();
      if (!is_column) continue;
      for (const std::string_view word : words_) {
        const char* const end = word.data() + word.size();
        if (parse_vtk_number(word.data(), end, type, value.data()) != end) {
          throw BadData(fmt::format("{}: line {}: {} is not a number of type {}", file_.name(), lines_.number(),
                                    shown(word), io::name_of(type)));
        }
        decoded_.insert(decoded_.end(), value.data(), value.data() + size);
      }
    }
  }

  const runtime::InputFile& file_;
  LineCursor lines_;
  RecordLayout layout_;
  bool is_binary_ = false;
  bool has_points_ = false;
  bool is_point_data_ = false;
  std::uint64_t tuples_ = 0;
  std::uint64_t offsets_ = 0;
  std::uint64_t connections_ = 0;
  std::vector<char> decoded_;  // ASCII: the values of the columns, array after array
  Words words_;
  std::vector<std::string> notes_;
};

}  // namespace

RecordSource find_vtk_legacy(const runtime::InputFile& file, const ReadOptions& options) {
  return LegacyVtk(file, options).read();
}

}  // namespace kith::io::inline v0
