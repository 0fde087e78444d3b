// See line_cursor.hpp.
#include "io/molecules/line_cursor.hpp"

#include "io/text/text_field.hpp"

#include <kith/error.hpp>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 18;
constexpr std::size_t kMostLineBytes = std::size_t{1} << 24;
constexpr std::string_view kLineBlanks = " \t\r\v\f";

}  // namespace

LineCursor::LineCursor(const runtime::InputFile& file, const ReadOptions& options)
    : file_(file), missing_as_nan_(options.missing_as_nan), meter_(&options.progress, "reading", file.size()) {}

bool LineCursor::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes of this line without an end
  for (;;) {
    if (offset_ >= begin_ && offset_ - begin_ < window_.size()) {
      const std::size_t at = static_cast<std::size_t>(offset_ - begin_);
      const char* const from = window_.data() + at;
      const std::size_t there = window_.size() - at;
      const void* end = std::memchr(from + searched, '\n', there - searched);
      const bool is_last = begin_ + window_.size() == file_.size();
      if (end != nullptr || is_last) {
        const std::size_t length =
            end != nullptr ? static_cast<std::size_t>(static_cast<const char*>(end) - from) : there;
        offset_ += length + (end != nullptr);
        ++number_;
        line = std::string_view(from, length);
        if (line.ends_with('\r')) line.remove_suffix(1);
        return true;
      }
      searched = there;
    }
    if (offset_ >= file_.size()) return false;
    if (searched > kMostLineBytes) {
      ++number_;
      fail(fmt::format("is longer than {} MiB", kMostLineBytes >> 20));
    }
    meter_.report(offset_);
    begin_ = offset_;
    const std::uint64_t rest = file_.size() - begin_;
    window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(rest, std::max(kWindowBytes, 2 * searched))));
    window_.resize(file_.read_at(begin_, window_.data(), window_.size()));
    if (window_.size() <= searched) return false;  // it has become shorter
  }
}

bool LineCursor::next_filled(std::string_view& line) {
  while (next(line)) {
    if (!without_blanks(line).empty()) return true;
  }
  return false;
}

double LineCursor::value(std::string_view word, std::string_view what) const {
  word = without_blanks(word);
  if (word.empty()) {
    if (missing_as_nan_) return std::numeric_limits<double>::quiet_NaN();
    throw BadData(fmt::format(
        "{}: line {}: the value of \"{}\" is missing; leave such rows out (`missing_as_nan=true`) or choose "
        "other columns (`columns=`)",
        file_.name(), number_, what));
  }
  double value = 0;
  const char* const begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-');
  const char* const end = word.data() + word.size();
  const auto result = fast_float::from_chars(begin, end, value);
  const bool out_of_range = std::isinf(value) && word.find_first_of("0123456789") != std::string_view::npos;
  if (result.ptr != end || (result.ec != std::errc() && !std::isinf(value))) {
    throw BadData(fmt::format("{}: line {}: {} of \"{}\" is not a number", file_.name(), number_, shown(word), what));
  }
  if (out_of_range && !missing_as_nan_) {
    throw BadData(fmt::format("{}: line {}: {} of \"{}\" is out of range", file_.name(), number_, shown(word), what));
  }
  return value;
}

std::uint64_t LineCursor::count(std::string_view word, std::string_view what) const {
  word = without_blanks(word);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
    fail(fmt::format("{} is not a {}", shown(word), what));
  }
  return value;
}

void LineCursor::fail(std::string_view why) const {
  throw CorruptFile(fmt::format("{}: line {}: {}", file_.name(), number_, why));
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kLineBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kLineBlanks) - first + 1);
}

std::string_view fixed_field(std::string_view line, std::size_t begin, std::size_t length) {
  return begin < line.size() ? without_blanks(line.substr(begin, length)) : std::string_view();
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  std::size_t begin = line.find_first_not_of(kLineBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kLineBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kLineBlanks, end);
  }
}

std::string period_advice(double x, double y, double z) {
  if (!(x > 0 && y > 0 && z > 0 && std::isfinite(x + y + z))) return {};
  return fmt::format("`period={},{},{}`", x, y, z);
}

}  // namespace kith::io::inline v0
