// See pcd_header.hpp.
#include "io/clouds/pcd_header.hpp"

#include "io/records/record_header.hpp"
#include "io/records/record_layout.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

class HeaderParser {
 public:
  explicit HeaderParser(const runtime::InputFile& file) : lines_(file) {}

  PcdHeader parse() {
    std::string_view line;
    for (bool done = false; !done;) {
      if (!lines_.next(line)) lines_.fail("the PCD header has no \"DATA\" line");
      const std::vector<std::string_view> words = words_of(line);
      if (words.empty() || words[0].starts_with('#')) continue;
      done = take(words);
    }
    header_.data_offset = lines_.offset();
    header_.lines = lines_.number();
    check_fields();
    check_points();
    return std::move(header_);
  }

 private:
  using Words = std::vector<std::string_view>;

  /// True after the DATA line.
  bool take(const Words& words) {
    const std::string_view key = words[0];
    const Words values(words.begin() + 1, words.end());
    if (key != "VERSION" && key != "VIEWPOINT" && !seen_.insert(std::string(key)).second) {
      lines_.fail(fmt::format("\"{}\" appears twice", key.substr(0, 40)));
    }
    if (key == "VERSION") {
      const std::string_view version = only(values);
      for (const std::string_view known : {"0.5", ".5", "0.6", ".6", "0.7", ".7"}) {
        if (version == known) return false;
      }
      lines_.fail(fmt::format("PCD version \"{}\" is not known; kith reads 0.5 to 0.7", version.substr(0, 40)));
    } else if (key == "FIELDS" || key == "COLUMNS") {
      for (const std::string_view name : values) header_.fields.push_back({.name = std::string(name)});
    } else if (key == "SIZE") {
      per_field(values, [&](PcdField& field, std::string_view word) { field.size = lines_.count(word, "SIZE"); });
    } else if (key == "TYPE") {
      per_field(values, [&](PcdField& field, std::string_view word) {
        if (word.size() != 1) lines_.fail(fmt::format("the TYPE \"{}\" is not known", word.substr(0, 40)));
        field.type = word[0];
      });
    } else if (key == "COUNT") {
      per_field(values, [&](PcdField& field, std::string_view word) { field.count = lines_.count(word, "COUNT"); });
    } else if (key == "WIDTH") {
      width_ = lines_.count(only(values), "WIDTH");
    } else if (key == "HEIGHT") {
      height_ = lines_.count(only(values), "HEIGHT");
    } else if (key == "POINTS") {
      points_ = lines_.count(only(values), "POINTS");
    } else if (key == "DATA") {
      encoding(only(values));
      return true;
    } else if (key == "VIEWPOINT") {
      header_.viewpoint = fmt::format("{}", fmt::join(values, " "));
    } else {
      lines_.fail(fmt::format("\"{}\" is not a keyword of PCD", key.substr(0, 40)));
    }
    return false;
  }

  std::string_view only(const Words& values) const {
    if (values.size() != 1) lines_.fail(fmt::format("expected one value, but there are {}", values.size()));
    return values[0];
  }

  template <typename Action>
  void per_field(const Words& values, Action&& action) {
    if (header_.fields.empty() || values.size() != header_.fields.size()) {
      lines_.fail(fmt::format("{} values for {} fields", values.size(), header_.fields.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) action(header_.fields[i], values[i]);
  }

  void encoding(std::string_view name) {
    if (name == "ascii") {
      header_.encoding = PcdEncoding::ascii;
    } else if (name == "binary") {
      header_.encoding = PcdEncoding::binary;
    } else if (name == "binary_compressed") {
      header_.encoding = PcdEncoding::binary_compressed;
    } else {
      lines_.fail(fmt::format("\"DATA {}\" is not known; it is ascii, binary or binary_compressed{}",
                              name.substr(0, 40),
                              name.starts_with("ascii") ? ", and the first point follows on a line of its own" : ""));
    }
  }

  void check_fields() {
    if (header_.fields.empty() || !seen_.contains("SIZE") || !seen_.contains("TYPE")) {
      lines_.fail("FIELDS, SIZE or TYPE is missing");
    }
    std::set<std::string_view> names;
    for (const PcdField& field : header_.fields) {
      const bool integer = field.type == 'I' || field.type == 'U';
      const bool known = field.type == 'F'
                             ? field.size == 4 || field.size == 8
                             : integer && (field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8);
      const std::string name = field.name.substr(0, 40);
      if (field.size == 0 || (!known && !field.is_padding())) {
        lines_.fail(fmt::format("the field \"{}\" has TYPE {} and SIZE {}, which do not go together", name, field.type,
                                field.size));
      }
      if (field.count == 0) lines_.fail(fmt::format("the field \"{}\" has COUNT 0", name));
      if (!field.is_padding() && !names.insert(field.name).second) {
        lines_.fail(fmt::format("the field \"{}\" is declared twice", name));
      }
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(field.size, field.count, &bytes) ||
          __builtin_add_overflow(header_.record_bytes, bytes, &header_.record_bytes) ||
          __builtin_add_overflow(header_.values, field.count, &header_.values)) {
        lines_.fail("the size of one point is too large");
      }
      if (!field.is_padding() || header_.encoding == PcdEncoding::ascii) columns_ += std::min(field.count, kMaxColumns);
    }
    if (columns_ > kMaxColumns) lines_.fail(fmt::format("one point has more than {} values", kMaxColumns));
  }

  void check_points() {
    if (!points_ && !width_) lines_.fail("POINTS and WIDTH are missing");
    header_.points = points_.value_or(0);
    if (!width_) return;
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(*width_, height_.value_or(1), &product)) lines_.fail("WIDTH x HEIGHT is too large");
    if (!points_) header_.points = product;
    if (product != header_.points) {
      lines_.fail(fmt::format("WIDTH x HEIGHT is {} x {} = {}, but POINTS is {}", *width_, height_.value_or(1), product,
                              header_.points));
    }
  }

  HeaderLines lines_;
  PcdHeader header_;
  std::set<std::string> seen_;
  std::optional<std::uint64_t> width_;
  std::optional<std::uint64_t> height_;
  std::optional<std::uint64_t> points_;
  std::uint64_t columns_ = 0;
};

}  // namespace

NumberType PcdField::number_type() const {
  if (type == 'F') return size == 4 ? NumberType::f32 : NumberType::f64;
  const bool with_sign = type == 'I';
  switch (size) {
    case 1:
      return with_sign ? NumberType::i8 : NumberType::u8;
    case 2:
      return with_sign ? NumberType::i16 : NumberType::u16;
    case 4:
      return with_sign ? NumberType::i32 : NumberType::u32;
    default:
      return with_sign ? NumberType::i64 : NumberType::u64;
  }
}

PcdHeader read_pcd_header(const runtime::InputFile& file) { return HeaderParser(file).parse(); }

}  // namespace kith::io::inline v0
