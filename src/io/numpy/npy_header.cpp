// See npy_header.hpp. The header is a Python dictionary; only the literals that NumPy writes are read.
#include "io/numpy/npy_header.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kith::io::inline v0 {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kMaxNpyHeader = std::uint64_t{1} << 20;
constexpr std::size_t kMaxShapeDims = 64;

/// Walks over the text of the dictionary.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  void parse(NpyHeader& header) {
    bool have_descr = false;
    bool have_order = false;
    bool have_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !have_descr) {
        descr(header);
        have_descr = true;
      } else if (key == "fortran_order" && !have_order) {
        header.fortran_order = boolean();
        have_order = true;
      } else if (key == "shape" && !have_shape) {
        header.shape = shape();
        have_shape = true;
      } else {
        fail(fmt::format("unexpected key \"{}\"", key.substr(0, 40)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) fail("text after the dictionary");
    if (!have_descr || !have_order || !have_shape) fail("descr, fortran_order or shape is missing");
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw CorruptFile(fmt::format("{}: the NPY header cannot be read at its byte {}: {}", what_, at_, why));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("expected '{}'", wanted));
  }
  std::string string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("expected True or False");
  }
  std::uint64_t number() {
    skip_blanks();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<std::uint64_t>(text_[at_] - '0'), &value)) {
        fail("a number of the shape is too large");
      }
    }
    if (at_ == begin) fail("expected a number without sign");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }
  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == kMaxShapeDims) fail("too many dimensions");
      result.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  [[noreturn]] void refuse(std::string_view kind) const {
    throw CorruptFile(fmt::format(
        "{}: holds {}, which kith does not read; save a plain array of floats, integers or booleans", what_, kind));
  }

  void descr(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) refuse("a structured array (named fields)");
    const std::string text = string();
    std::string_view code = text;
    char order = '|';
    if (!code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos) {
      order = code.front();
      code.remove_prefix(1);
    }
    const char kind = code.empty() ? '\0' : code.front();
    switch (kind) {
      case 'O':
        refuse("Python objects (dtype object)");
      case 'c':
        refuse(fmt::format("complex numbers (dtype {})", text.substr(0, 20)));
      case 'S':
      case 'a':
      case 'U':
      case 'T':
        refuse(fmt::format("text (dtype {})", text.substr(0, 20)));
      case 'V':
        refuse(fmt::format("raw records (dtype {})", text.substr(0, 20)));
      case 'M':
      case 'm':
        refuse(fmt::format("dates or times (dtype {})", text.substr(0, 20)));
      default:
        break;
    }
    struct Known {
      std::string_view code;
      NumberType type;
    };
    constexpr Known kKnown[] = {{"b1", NumberType::boolean}, {"?", NumberType::boolean}, {"i1", NumberType::i8},
                                {"u1", NumberType::u8},      {"i2", NumberType::i16},    {"u2", NumberType::u16},
                                {"i4", NumberType::i32},     {"u4", NumberType::u32},    {"i8", NumberType::i64},
                                {"u8", NumberType::u64},     {"f2", NumberType::f16},    {"f4", NumberType::f32},
                                {"f8", NumberType::f64}};
    const auto* found =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.code == code; });
    if (found == std::end(kKnown)) refuse(fmt::format("numbers of dtype \"{}\"", text.substr(0, 20)));
    if (order == '|' && size_of(found->type) > 1) fail("the byte order of the dtype is missing");
    header.type = found->type;
    header.big_endian = order == '>';
  }

  std::string_view text_;
  std::string_view what_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t size,
                          std::string_view what) {
  unsigned char fixed[12] = {};
  const std::uint64_t end = begin + size;
  if (size < 10) throw CorruptFile(fmt::format("{}: has {} bytes only, too few for an NPY array", what, size));
  file.read_exact(begin, fixed, 10);
  if (!std::equal(kMagic.begin(), kMagic.end(), reinterpret_cast<const char*>(fixed))) {
    throw CorruptFile(fmt::format("{}: does not start with \"\\x93NUMPY\"; it is not an NPY array", what));
  }
  const int version = fixed[6];
  if (version < 1 || version > 3) {
    throw CorruptFile(fmt::format("{}: NPY version {}.{} is not known; kith reads 1 to 3", what, version, fixed[7]));
  }
  std::uint64_t length = fixed[8] | (fixed[9] << 8);
  std::uint64_t text_begin = begin + 10;
  if (version >= 2) {
    if (size < 12) throw CorruptFile(fmt::format("{}: the NPY header is cut short", what));
    file.read_exact(begin + 10, fixed + 10, 2);
    length |= (static_cast<std::uint64_t>(fixed[10]) << 16) | (static_cast<std::uint64_t>(fixed[11]) << 24);
    text_begin += 2;
  }
  if (length > kMaxNpyHeader) {
    throw CorruptFile(fmt::format("{}: the NPY header claims {} bytes; no plain array needs more than {}", what, length,
                                  kMaxNpyHeader));
  }
  if (length > end - text_begin) {
    throw CorruptFile(
        fmt::format("{}: the NPY header claims {} bytes, but only {} follow", what, length, end - text_begin));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read_exact(text_begin, text.data(), text.size());

  NpyHeader header;
  DictionaryParser(text, what).parse(header);
  header.data_offset = text_begin + length;
  std::uint64_t bytes = size_of(header.type);
  bool overflow = false;
  for (const std::uint64_t extent : header.shape) overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
  const bool empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  if (!empty && (overflow || bytes > end - header.data_offset)) {
    throw CorruptFile(
        fmt::format("{}: the shape ({}) of {} needs more than the {} bytes that follow the header; the "
                    "file is cut short or its header is wrong",
                    what, fmt::join(header.shape, ", "), name_of(header.type), end - header.data_offset));
  }
  return header;
}

RecordLayout npy_layout(const NpyHeader& header, std::string_view what) {
  if (header.shape.size() > 2) {
    throw BadData(
        fmt::format("{}: the array has {} dimensions, shape ({}); save it with shape (points, dims), e.g. "
                    "array.reshape(len(array), -1)",
                    what, header.shape.size(), fmt::join(header.shape, ", ")));
  }
  RecordLayout layout;
  layout.rows = header.shape.empty() ? 1 : header.shape[0];
  const std::uint64_t columns = header.shape.size() < 2 ? 1 : header.shape[1];
  if (columns > kMaxColumns) {
    throw BadData(fmt::format("{}: the array has {} columns, more than the {} that kith reads; is it transposed?", what,
                              columns, kMaxColumns));
  }
  const std::uint64_t size = size_of(header.type);
  layout.first_byte = header.data_offset;
  layout.record_bytes = columns * size;
  layout.order = header.fortran_order && columns > 1 ? RecordOrder::planes : RecordOrder::records;
  layout.big_endian = header.big_endian;
  const std::uint64_t step = layout.order == RecordOrder::planes ? layout.rows * size : size;
  layout.fields.resize(static_cast<std::size_t>(columns));
  for (std::uint64_t i = 0; i < columns; ++i) {
    layout.fields[i].type = header.type;
    layout.fields[i].offset = i * step;
  }
  return layout;
}

std::string npy_header_bytes(std::string_view descr, std::span<const std::uint64_t> shape) {
  const std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                       fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t total = (10 + text.size() + 1 + 63) / 64 * 64;
  const std::size_t length = total - 10;
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(length & 0xff);
  bytes += static_cast<char>(length >> 8);
  bytes += text;
  bytes.append(total - 1 - bytes.size(), ' ');
  bytes += '\n';
  return bytes;
}

std::string_view npy_descr(DType dtype) { return dtype == DType::f32 ? "<f4" : "<f8"; }

}  // namespace kith::io::inline v0
