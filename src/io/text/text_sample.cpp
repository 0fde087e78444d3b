// See text_sample.hpp.
#include "io/text/text_sample.hpp"

#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kReadStep = std::size_t{64} << 10;
constexpr std::size_t kEnoughRows = 40;
constexpr std::size_t kFewestRows = 4;  // a count, a comment, a header, a row
constexpr std::uint64_t kEnoughBytes = std::uint64_t{1} << 20;

/// Lines of a file, one after the other.
class LineReader {
 public:
  LineReader(const runtime::InputFile& file, std::uint64_t offset) : file_(file), offset_(offset) {}

  /// False at the end of the file. The line in `line` ends with '\n'.
  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::string_view rest = std::string_view(buffer_).substr(used_);
      const std::size_t end = rest.find('\n');
      if (end != std::string_view::npos) {
        line.append(rest.substr(0, end + 1));
        used_ += end + 1;
        return true;
      }
      line.append(rest);
      buffer_.resize(kReadStep);
      buffer_.resize(file_.read_at(offset_, buffer_.data(), buffer_.size()));
      offset_ += buffer_.size();
      used_ = 0;
      if (buffer_.empty()) {
        if (line.empty()) return false;
        line += '\n';
        return true;
      }
      if (line.size() > kLineLimit) return true;  // the caller sees that it does not end with '\n'
    }
  }

 private:
  const runtime::InputFile& file_;
  std::uint64_t offset_;
  std::string buffer_;
  std::size_t used_ = 0;
};

/// "#N/A,2,3" is a row wherever it stands; "#####" is one only if more fields follow.
bool starts_with_spreadsheet_error(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t end = std::min(line.find_first_of(",;| \t\r\n"), line.size());
  const std::string_view field = line.substr(0, end);
  const bool is_rule = field.find_first_not_of('#') == std::string_view::npos;
  if (is_rule && (end == line.size() || std::string_view(",;|\t").find(line[end]) == std::string_view::npos))
    return false;
  return is_spreadsheet_error(field);
}

std::string without_comment_marker(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t#%/");
  const std::size_t end = line.find_last_not_of(" \t\r\n");
  return start == std::string_view::npos || end < start ? std::string()
                                                        : std::string(line.substr(start, end - start + 1));
}

}  // namespace

std::string nul_byte_message(const runtime::InputFile& file, std::uint64_t offset) {
  return fmt::format("{}: byte {} is NUL, so this is not text or it is damaged; if it is UTF-16, convert it to UTF-8",
                     file.name(), offset);
}

TextSample sample_rows(const runtime::InputFile& file) {
  const std::string head = file.head(3);
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) {
    throw CorruptFile(
        fmt::format("{}: is UTF-16 text, which is not read; convert it with: iconv -f UTF-16 -t UTF-8", file.name()));
  }
  const std::uint64_t begin = head == "\xEF\xBB\xBF" ? 3 : 0;
  LineReader reader(file, begin);
  TextSample sample;
  std::string line;
  std::uint64_t offset = begin;
  std::uint64_t number = 0;
  while (reader.next(line)) {
    ++number;
    const std::uint64_t line_offset = offset;
    const std::size_t nul = sample.rows.empty() ? line.find('\0') : std::string::npos;
    if (nul != std::string::npos) throw CorruptFile(nul_byte_message(file, line_offset + nul));
    if (line.size() > kLineLimit) {
      throw BadData(fmt::format("{}: line {} is longer than {} MiB; is this a text file with line breaks?", file.name(),
                                number, kLineLimit >> 20));
    }
    offset += line.size();
    const LineKind kind = kind_of_line(line.data());
    if (kind == LineKind::row || (kind == LineKind::marked && starts_with_spreadsheet_error(line))) {
      const auto length = static_cast<std::size_t>(end_of_line(line.data(), line.data() + line.size()) - line.data());
      sample.rows.push_back({line.substr(0, length), line_offset, number, sample.comments, line.substr(length)});
      const std::size_t rows = sample.rows.size();
      if (rows >= kEnoughRows || (rows >= kFewestRows && offset - begin >= kEnoughBytes)) break;
      continue;
    }
    if (kind != LineKind::blank) ++sample.comments;
    if (sample.rows.empty()) {
      sample.comment_above = without_comment_marker(line);
      sample.comment_line = number;
    }
  }
  return sample;
}

}  // namespace kith::io::inline v0
