// See class_file_header.hpp; and the look at the first two lines that tells such a file from others.
#include "io/results/class_file_header.hpp"

#include "io/text/text_field.hpp"
#include "io/text/text_lines.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <system_error>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kFields = 4;
constexpr std::uint64_t kMaxRows = 0xFFFFFFFEu;  // an index holds at most 2^32-2 points
constexpr std::uint64_t kMaxDims = 4096;
constexpr std::uint64_t kMaxClasses = std::numeric_limits<std::uint32_t>::max();
constexpr const char* kMeaning =
    "N,M,C,D: the rows with a class, the new rows, the number of classes and that of coordinates";

/// Up to five fields, so that four can be told from more.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos || fields.size() > kFields) return fields;
    line.remove_prefix(comma + 1);
  }
}

bool is_whole(std::string_view field) {
  return !field.empty() && std::ranges::all_of(field, [](char c) { return c >= '0' && c <= '9'; });
}

/// The largest number if it does not fit.
std::uint64_t value_of(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? value : std::numeric_limits<std::uint64_t>::max();
}

[[noreturn]] void fail(const std::string& file_name, std::size_t column, const std::string& what) {
  throw BadData(fmt::format("{}: line 1, column {}: {}", file_name, column, what));
}

/// The first two lines of a regular file, plain or gzipped; fewer if there are fewer or they are very long.
std::vector<std::string> first_two_lines(const std::string& path) {
  constexpr std::size_t kStep = std::size_t{16} << 10;
  constexpr std::size_t kMost = std::size_t{1} << 20;
  struct stat status {};
  // Reading ahead in a pipe would take the bytes from its next reader.
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return {};
  std::string text;
  for (int got = 1; got > 0 && text.size() < kMost && std::ranges::count(text, '\n') < 2;) {
    const std::size_t used = text.size();
    text.resize(used + kStep);
    got = gzread(file.get(), text.data() + used, static_cast<unsigned>(kStep));
    if (got < 0) return {};
    text.resize(used + static_cast<std::size_t>(got));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::vector<std::string> lines;
  TextLines reader(text);
  for (TextLine line; lines.size() < 2 && reader.next(line);) lines.emplace_back(line.text);
  return lines;
}

}  // namespace

ClassCounts parse_class_counts(std::string_view line, const std::string& file_name) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.size() != kFields) {
    const bool lost_feeds = line.find('\r') != std::string_view::npos;
    throw BadData(fmt::format("{}: line 1: {} is not {}{}", file_name, shown(line), kMeaning,
                              lost_feeds ? "; a carriage return without a line feed is not a line end" : ""));
  }
  std::array<std::uint64_t, kFields> counts{};
  for (std::size_t i = 0; i < kFields; ++i) {
    if (!is_whole(fields[i])) {
      fail(file_name, i + 1, fmt::format("{} is not a whole number; the first line is {}", shown(fields[i]), kMeaning));
    }
    counts[i] = value_of(fields[i]);
  }
  const auto [train, fresh, classes, dims] = counts;
  for (std::size_t i = 0; i < 2; ++i) {
    if (counts[i] > kMaxRows || (i == 1 && train + fresh > kMaxRows)) {
      fail(file_name, i + 1,
           fmt::format("{} rows{}, more than the {} that fit into one index", fields[i],
                       i == 1 ? fmt::format(" besides {}", fields[0]) : "", kMaxRows));
    }
  }
  if (classes == 0) fail(file_name, 3, "0 classes; there must be at least 1");
  if (classes > kMaxClasses) fail(file_name, 3, fmt::format("{} classes, more than {}", fields[2], kMaxClasses));
  if (dims == 0) fail(file_name, 4, "0 coordinates per row; there must be at least 1");
  if (dims > kMaxDims) fail(file_name, 4, fmt::format("{} coordinates per row, more than {}", fields[3], kMaxDims));
  return {train, fresh, static_cast<std::uint32_t>(classes), static_cast<std::uint32_t>(dims)};
}

bool looks_like_class_file(const std::string& path) {
  const std::vector<std::string> lines = first_two_lines(path);
  if (lines.empty()) return false;
  const std::vector<std::string_view> fields = fields_of(lines[0]);
  if (fields.size() != kFields || !std::ranges::all_of(fields, is_whole)) return false;
  if (lines.size() == 1 || trimmed(lines[1]).empty()) return value_of(fields[0]) == 0 && value_of(fields[1]) == 0;
  return static_cast<std::uint64_t>(std::ranges::count(lines[1], ',')) == value_of(fields[3]);
}

}  // namespace kith::io::inline v0
