// See record_header.hpp.
#include "io/records/record_header.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;

}  // namespace

HeaderLines::HeaderLines(const runtime::InputFile& file) : file_name_(file.name()), text_(file.head(kMaxHeaderBytes)) {}

bool HeaderLines::next(std::string_view& line) {
  const std::size_t end = text_.find('\n', offset_);
  if (end == std::string::npos) return false;
  line = std::string_view(text_).substr(offset_, end - offset_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  offset_ = end + 1;
  ++number_;
  return true;
}

std::uint64_t HeaderLines::count(std::string_view word, std::string_view what) const {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    fail(fmt::format("the {} \"{}\" is not a whole number from 0 on", what, word.substr(0, 40)));
  }
  return value;
}

void HeaderLines::fail(std::string_view why) const {
  throw CorruptFile(fmt::format("{}: header line {}: {}", file_name_, number_, why));
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace kith::io::inline v0
