// See raw_layout.hpp.
#include "io/binary/raw_layout.hpp"

#include "io/molecules/line_cursor.hpp"
#include "io/records/record_layout.hpp"
#include "io/text/text_field.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace kith::io::inline v0 {
namespace {

[[noreturn]] void refuse_layout(std::string_view text, std::string_view why) {
  throw UsageError(
      fmt::format("the layout {}: {}; write [le|be] [fortran] [arrays] [skip=N] [rows=N] TYPE NAME,NAME,… [; TYPE "
                  "NAME,…], e.g. \"f32 x,y,z; u8 r,g,b\" (types i8 to i64, u8 to u64, f16, f32, f64; \"f32 128\" for "
                  "128 columns, \"pad 4\" for 4 bytes between)",
                  shown(text), why));
}

std::optional<NumberType> type_called(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, NumberType>, 22> kNames = {
      {{"bool", NumberType::boolean}, {"i8", NumberType::i8},       {"int8", NumberType::i8},
       {"u8", NumberType::u8},        {"uint8", NumberType::u8},    {"i16", NumberType::i16},
       {"int16", NumberType::i16},    {"u16", NumberType::u16},     {"uint16", NumberType::u16},
       {"i32", NumberType::i32},      {"int32", NumberType::i32},   {"u32", NumberType::u32},
       {"uint32", NumberType::u32},   {"i64", NumberType::i64},     {"int64", NumberType::i64},
       {"u64", NumberType::u64},      {"uint64", NumberType::u64},  {"f16", NumberType::f16},
       {"f32", NumberType::f32},      {"float32", NumberType::f32}, {"f64", NumberType::f64},
       {"float64", NumberType::f64}}};
  for (const auto& [known, type] : kNames) {
    if (known == name) return type;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  RawLayout parse() {
    std::string_view rest = text_;
    for (bool is_first = true;; is_first = false) {
      const std::size_t end = rest.find(';');
      std::string_view group = without_blanks(rest.substr(0, end));
      while (is_first && take_option(group)) {
      }
      if (!group.empty() || is_first) take_group(group);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    check();
    return std::move(layout_);
  }

 private:
  static std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text = without_blanks(text.substr(end));
    return word;
  }

  bool take_option(std::string_view& group) {
    std::string_view rest = group;
    const std::string_view word = take_word(rest);
    const std::size_t equals = word.find('=');
    if (word == "le" || word == "be") {
      layout_.big_endian = word == "be";
    } else if (word == "fortran") {
      layout_.is_fortran = true;
    } else if (word == "arrays") {
      layout_.is_arrays = true;
    } else if (equals != std::string_view::npos) {
      const std::string_view key = word.substr(0, equals);
      const auto value = whole_number(word.substr(equals + 1));
      if (!value) refuse_layout(text_, fmt::format("{} needs a whole number", shown(word)));
      if (key == "skip") {
        layout_.skip = *value;
      } else if (key == "rows") {
        layout_.rows = value;
      } else if (key == "records") {
        layout_.records = value;
      } else {
        refuse_layout(text_, fmt::format("{} is neither skip=, rows= nor records=", shown(word)));
      }
    } else {
      return false;
    }
    group = rest;
    return true;
  }

  void add(std::string_view name, NumberType type, std::uint64_t bytes) {
    if (layout_.fields.size() >= kMaxColumns) refuse_layout(text_, fmt::format("more than {} columns", kMaxColumns));
    layout_.fields.push_back({std::string(name), type, bytes});
    if (__builtin_add_overflow(layout_.row_bytes, bytes, &layout_.row_bytes))
      refuse_layout(text_, "a row is too large");
  }

  void take_group(std::string_view group) {
    const std::string_view word = take_word(group);
    if (word == "pad") {
      const auto bytes = whole_number(group);
      if (!bytes) refuse_layout(text_, "\"pad\" needs a number of bytes");
      add("", NumberType::u8, *bytes);
      return;
    }
    const auto type = type_called(word);
    if (!type) refuse_layout(text_, fmt::format("{} is not a type", shown(word)));
    if (const auto columns = whole_number(group)) {
      if (*columns == 0 || *columns > kMaxColumns)
        refuse_layout(text_, fmt::format("{} is not a number of columns", shown(group)));
      for (std::uint64_t i = 0; i < *columns; ++i) add(fmt::format("{}", ++unnamed_), *type, size_of(*type));
      return;
    }
    layout_.is_named = true;
    for (;;) {
      const std::size_t comma = group.find(',');
      const std::string_view name = without_blanks(group.substr(0, comma));
      if (name.empty()) refuse_layout(text_, fmt::format("a name is missing after {}", shown(word)));
      if (name.find_first_of(" \t") != std::string_view::npos) {
        refuse_layout(text_,
                      fmt::format("{} is not a name; separate names by commas and types by semicolons", shown(name)));
      }
      for (const RawField& field : layout_.fields) {
        if (name != "_" && field.name == name) refuse_layout(text_, fmt::format("{} appears twice", shown(name)));
      }
      add(name == "_" ? std::string_view() : name, *type, size_of(*type));
      if (comma == std::string_view::npos) return;
      group.remove_prefix(comma + 1);
    }
  }

  void check() const {
    bool any = false;
    for (const RawField& field : layout_.fields) any = any || !field.name.empty();
    if (!any) refuse_layout(text_, "it has no columns");
    if (layout_.records && !layout_.is_fortran) refuse_layout(text_, "\"records\" needs \"fortran\"");
  }

  std::string_view text_;
  RawLayout layout_;
  std::uint64_t unnamed_ = 0;
};

}  // namespace

RawLayout parse_raw_layout(std::string_view text) { return LayoutParser(text).parse(); }

}  // namespace kith::io::inline v0
