// See vtk_xml_data.hpp.
#include "io/vtk/vtk_xml_data.hpp"

#include "io/records/record_values.hpp"
#include "io/text/text_field.hpp"
#include "io/vtk/vtk_arrays.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>

namespace kith::io::inline v0 {
namespace {

[[noreturn]] void refuse_array(const std::string& where, std::string_view why) {
  throw CorruptFile(fmt::format("{}: {}; the file is cut short or damaged", where, why));
}

bool needs_swap(const VtkEncoding& encoding) {
  return encoding.big_endian != (std::endian::native == std::endian::big);
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Lengths and data are encoded as one stream or as two, each with its own padding.
std::vector<char> decode_base64(std::string_view text, const std::string& where, runtime::ProgressMeter& meter,
                                std::uint64_t done) {
  std::vector<char> bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int digit = c == '=' ? 0 : base64_digit(c);
    if (digit < 0 || (padding > 0 && c != '='))
      refuse_array(where, fmt::format("{} is not base64", shown(std::string_view(&c, 1))));
    padding += c == '=';
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (++digits < 4) continue;
    for (int i = 0; i < 3 - padding; ++i) bytes.push_back(static_cast<char>(group >> (16 - 8 * i) & 0xff));
    if (padding > 2) refuse_array(where, "the base64 has too much padding");
    group = 0;
    digits = padding = 0;
    if ((bytes.size() & 0xffff) < 3) meter.report(done);
  }
  if (digits != 0) refuse_array(where, "the base64 ends within a group of four characters");
  return bytes;
}

/// Bytes from some place on, wherever they are.
class StoredBytes {
 public:
  StoredBytes(const runtime::InputFile& file, std::uint64_t at, const VtkEncoding& encoding, const std::string& where)
      : file_(file), at_(at), encoding_(encoding), where_(where) {}

  std::uint64_t left() const { return at_ > file_.size() ? 0 : file_.size() - at_; }

  std::uint64_t length() {
    std::array<char, 8> raw{};
    take(raw.data(), encoding_.wide_header ? 8 : 4);
    const bool swap = needs_swap(encoding_);
    if (encoding_.wide_header) {
      return swap ? load_value<std::uint64_t, true>(raw.data()) : load_value<std::uint64_t, false>(raw.data());
    }
    return swap ? load_value<std::uint32_t, true>(raw.data()) : load_value<std::uint32_t, false>(raw.data());
  }

  void take(char* out, std::size_t bytes) {
    if (bytes > left()) refuse_array(where_, "its data ends too early");
    file_.read_exact(at_, out, bytes);
    at_ += bytes;
  }

 private:
  const runtime::InputFile& file_;
  std::uint64_t at_;
  const VtkEncoding& encoding_;
  const std::string& where_;
};

/// Blocks of equal size, the last one shorter: number, size, size of the last, then the compressed size of each.
void append_blocks(StoredBytes& stored, std::uint64_t bytes, const VtkEncoding& encoding, const std::string& where,
                   runtime::ProgressMeter& meter, std::vector<char>& out) {
  const std::uint64_t blocks = stored.length();
  const std::uint64_t block_bytes = stored.length();
  const std::uint64_t last_bytes = stored.length();
  if (blocks > stored.left() / (encoding.wide_header ? 8 : 4))
    refuse_array(where, fmt::format("it says {} blocks", blocks));
  std::vector<std::uint64_t> compressed(static_cast<std::size_t>(blocks));
  for (std::uint64_t& size : compressed) size = stored.length();
  std::uint64_t total = 0;
  std::vector<unsigned char> from;
  for (std::size_t i = 0; i < compressed.size(); ++i) {
    const std::uint64_t size = i + 1 == compressed.size() && last_bytes != 0 ? last_bytes : block_bytes;
    if (compressed[i] > stored.left() || size > bytes - total || size / kMostDeflateRatio > compressed[i]) {
      refuse_array(where, fmt::format("block {} says {} bytes from {} compressed ones", i + 1, size, compressed[i]));
    }
    from.resize(static_cast<std::size_t>(compressed[i]));
    stored.take(reinterpret_cast<char*>(from.data()), from.size());
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(size));
    uLongf got = static_cast<uLongf>(size);
    if (uncompress(reinterpret_cast<Bytef*>(out.data() + before), &got, from.data(), static_cast<uLong>(from.size())) !=
            Z_OK ||
        got != size) {
      refuse_array(where, fmt::format("the compressed block {} is damaged", i + 1));
    }
    total += size;
    meter.report(out.size());
  }
  if (total != bytes) refuse_array(where, fmt::format("{} bytes are needed, and its blocks hold {}", bytes, total));
}

void append_stored(StoredBytes& stored, std::uint64_t bytes, const VtkEncoding& encoding, const std::string& where,
                   runtime::ProgressMeter& meter, std::vector<char>& out) {
  if (bytes == 0) return;
  if (encoding.is_compressed) return append_blocks(stored, bytes, encoding, where, meter, out);
  const std::uint64_t length = stored.length();
  if (length != bytes || bytes > stored.left()) {
    refuse_array(where, fmt::format("{} bytes are needed, it says {}, and {} follow", bytes, length, stored.left()));
  }
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(bytes));
  stored.take(out.data() + before, static_cast<std::size_t>(bytes));
}

}  // namespace

void append_vtk_text(std::string_view text, NumberType type, std::uint64_t values, const VtkEncoding& encoding,
                     const std::string& where, runtime::ProgressMeter& meter, std::vector<char>& out) {
  constexpr std::string_view kBetween = " \t\r\n";
  const std::size_t size = size_of(type);
  std::array<char, 8> value{};
  const char* const end = text.data() + text.size();
  std::size_t at = text.find_first_not_of(kBetween);
  for (; at != std::string_view::npos && values > 0; --values) {
    const char* const begin = text.data() + at;
    const char* const stop = parse_vtk_number(begin, end, type, value.data());
    if (stop == nullptr || (stop != end && kBetween.find(*stop) == std::string_view::npos)) {
      const std::size_t word_end = std::min(text.find_first_of(kBetween, at), text.size());
      throw BadData(fmt::format("{}: {} is not a number of type {}", where, shown(text.substr(at, word_end - at)),
                                name_of(type)));
    }
    if (needs_swap(encoding)) std::reverse(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
    out.insert(out.end(), value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
    if ((values & 0xfff) == 0) meter.report(out.size());
    at = text.find_first_not_of(kBetween, static_cast<std::size_t>(stop - text.data()));
  }
  if (values > 0) refuse_array(where, fmt::format("{} values are missing", values));
  if (at != std::string_view::npos) refuse_array(where, "it has more values than there are points");
}

void append_vtk_base64(std::string_view text, std::uint64_t bytes, const VtkEncoding& encoding,
                       const std::string& where, runtime::ProgressMeter& meter, std::vector<char>& out) {
  const runtime::InputFile decoded(where, decode_base64(text, where, meter, out.size()));
  StoredBytes stored(decoded, 0, encoding, where);
  append_stored(stored, bytes, encoding, where, meter, out);
}

void append_vtk_raw(const runtime::InputFile& file, std::uint64_t offset, std::uint64_t bytes,
                    const VtkEncoding& encoding, const std::string& where, runtime::ProgressMeter& meter,
                    std::vector<char>& out) {
  StoredBytes stored(file, offset, encoding, where);
  append_stored(stored, bytes, encoding, where, meter, out);
}

}  // namespace kith::io::inline v0
