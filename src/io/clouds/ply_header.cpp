// See ply_header.hpp.
#include "io/clouds/ply_header.hpp"

#include "io/records/record_header.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

std::optional<NumberType> type_of_name(std::string_view name) {
  struct Known {
    std::string_view old_name;
    std::string_view new_name;
    NumberType type;
  };
  constexpr Known kKnown[] = {{"char", "int8", NumberType::i8},      {"uchar", "uint8", NumberType::u8},
                              {"short", "int16", NumberType::i16},   {"ushort", "uint16", NumberType::u16},
                              {"int", "int32", NumberType::i32},     {"uint", "uint32", NumberType::u32},
                              {"float", "float32", NumberType::f32}, {"double", "float64", NumberType::f64}};
  for (const Known& known : kKnown) {
    if (name == known.old_name || name == known.new_name) return known.type;
  }
  return std::nullopt;
}

class HeaderParser {
 public:
  explicit HeaderParser(const runtime::InputFile& file) : lines_(file) {}

  PlyHeader parse() {
    std::string_view line;
    if (!lines_.next(line) || line != "ply") lines_.fail("a PLY file starts with a line \"ply\"");
    bool have_format = false;
    for (;;) {
      if (!lines_.next(line)) lines_.fail("the header has no \"end_header\"");
      const std::vector<std::string_view> words = words_of(line);
      if (words.empty() || words[0] == "obj_info") continue;
      if (words[0] == "comment") {
        header_.comments.emplace_back(line.substr(std::min(line.size(), line.find("comment") + 8)));
        continue;
      }
      if (words[0] == "end_header") break;
      if (words[0] == "format" && !have_format) {
        format(words);
        have_format = true;
      } else if (words[0] == "element") {
        element(words);
      } else if (words[0] == "property") {
        property(words);
      } else {
        lines_.fail(fmt::format("\"{}\" is not expected here", line.substr(0, 60)));
      }
    }
    if (!have_format) lines_.fail("the header has no \"format\" line");
    header_.data_offset = lines_.offset();
    header_.lines = lines_.number();
    const auto vertex = std::find_if(header_.elements.begin(), header_.elements.end(),
                                     [](const PlyElement& e) { return e.name == "vertex"; });
    if (vertex == header_.elements.end()) lines_.fail("the header has no element \"vertex\"");
    header_.vertex = static_cast<std::size_t>(vertex - header_.elements.begin());
    return std::move(header_);
  }

 private:
  void format(const std::vector<std::string_view>& words) {
    if (words.size() != 3 || words[2] != "1.0") lines_.fail("expected \"format ENCODING 1.0\"");
    if (words[1] == "ascii") {
      header_.encoding = PlyEncoding::ascii;
    } else if (words[1] == "binary_little_endian") {
      header_.encoding = PlyEncoding::little_endian;
    } else if (words[1] == "binary_big_endian") {
      header_.encoding = PlyEncoding::big_endian;
    } else {
      lines_.fail(fmt::format("the encoding \"{}\" is not known", words[1].substr(0, 40)));
    }
  }

  void element(const std::vector<std::string_view>& words) {
    PlyElement element;
    if (words.size() != 3) lines_.fail("expected \"element NAME COUNT\"");
    element.name = words[1];
    element.count = lines_.count(words[2], "element count");
    for (const PlyElement& other : header_.elements) {
      if (other.name == element.name) {
        lines_.fail(fmt::format("the element \"{}\" is declared twice", element.name.substr(0, 40)));
      }
    }
    header_.elements.push_back(std::move(element));
  }

  NumberType type(std::string_view name) {
    const auto found = type_of_name(name);
    if (!found) lines_.fail(fmt::format("the type \"{}\" is not known", name.substr(0, 40)));
    return *found;
  }

  void property(const std::vector<std::string_view>& words) {
    if (header_.elements.empty()) lines_.fail("a property before any element");
    PlyProperty property;
    if (words.size() == 5 && words[1] == "list") {
      property.is_list = true;
      property.count_type = type(words[2]);
      if (!is_integer(property.count_type)) lines_.fail("the count of a list must be an integer");
      property.type = type(words[3]);
    } else if (words.size() == 3) {
      property.type = type(words[1]);
    } else {
      lines_.fail("expected \"property TYPE NAME\" or \"property list TYPE TYPE NAME\"");
    }
    property.name = words.back();
    PlyElement& element = header_.elements.back();
    if (!names_.insert({header_.elements.size(), property.name}).second) {
      lines_.fail(fmt::format("the property \"{}\" is declared twice", property.name.substr(0, 40)));
    }
    element.properties.push_back(std::move(property));
  }

  HeaderLines lines_;
  PlyHeader header_;
  std::set<std::pair<std::size_t, std::string>> names_;
};

}  // namespace

std::uint64_t PlyElement::least_bytes() const {
  std::uint64_t bytes = 0;
  for (const PlyProperty& property : properties) {
    bytes += size_of(property.is_list ? property.count_type : property.type);
  }
  return bytes;
}

bool PlyElement::has_lists() const {
  return std::any_of(properties.begin(), properties.end(), [](const PlyProperty& p) { return p.is_list; });
}

PlyHeader read_ply_header(const runtime::InputFile& file) { return HeaderParser(file).parse(); }

}  // namespace kith::io::inline v0
