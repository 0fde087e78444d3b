// See text_blocks.hpp.
#include "io/text/text_blocks.hpp"

#include "io/text/text_layout.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kLongestStep = std::size_t{4} << 20;

const char* find_line_feed(const char* first, const char* last) {
  return static_cast<const char*>(std::memchr(first, '\n', static_cast<std::size_t>(last - first)));
}

/// Where the last line that starts before `last` begins.
const char* start_of_last_line(const char* first, const char* last) {
  const auto* feed = static_cast<const char*>(memrchr(first, '\n', static_cast<std::size_t>(last - first)));
  return feed == nullptr ? first : feed + 1;
}

}  // namespace

TextBlocks::TextBlocks(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t block_bytes)
    : file_(file), begin_(begin), block_bytes_(block_bytes) {}

std::uint64_t TextBlocks::count() const { return bytes() / block_bytes_ + (bytes() % block_bytes_ != 0 ? 1 : 0); }

BlockLines TextBlocks::load(std::uint64_t i, std::vector<char>& buffer) const {
  const std::uint64_t first = begin_ + i * block_bytes_;
  const std::uint64_t last = std::min(first + block_bytes_, file_.size());
  const std::uint64_t read_from = i == 0 ? first : first - 1;  // the byte before tells whether a line starts at `first`
  std::size_t used = 0;
  const auto append = [&](std::uint64_t bytes) {
    if (buffer.size() < used + bytes + 1) buffer.resize(used + bytes + 1);
    if (file_.read_at(read_from + used, buffer.data() + used, bytes) != bytes) {
      throw IoError(fmt::format("{}: became shorter while it was read", file_.name()));
    }
    used += bytes;
  };
  append(last - read_from);

  std::size_t begin = 0;
  if (i > 0) {
    const char* feed = find_line_feed(buffer.data(), buffer.data() + used);
    begin = feed == nullptr ? used : static_cast<std::size_t>(feed + 1 - buffer.data());
  }
  BlockLines lines;
  lines.offset = read_from + begin;
  if (begin >= used) return lines;  // no line starts here

  std::size_t step = std::size_t{4} << 10;
  std::size_t searched = used - 1;
  const char* feed = nullptr;
  while ((feed = find_line_feed(buffer.data() + searched, buffer.data() + used)) == nullptr) {
    searched = used;
    const std::uint64_t rest = file_.size() - (read_from + used);
    if (rest == 0) {
      buffer[used++] = '\n';
    } else if (used > block_bytes_ + kLineLimit) {
      break;
    } else {
      append(std::min<std::uint64_t>(rest, step));
      step = std::min(step * 2, kLongestStep);
    }
  }
  const char* const last_line =
      start_of_last_line(buffer.data() + begin, feed == nullptr ? buffer.data() + used : feed);
  lines.cut_at_long_line = feed == nullptr || static_cast<std::size_t>(feed + 1 - last_line) > kLineLimit;
  lines.begin = buffer.data() + begin;
  lines.end = lines.cut_at_long_line ? last_line : feed + 1;
  return lines;
}

}  // namespace kith::io::inline v0
