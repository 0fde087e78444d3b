// See text_header.hpp.
#include <kith/io/text_header.hpp>

#include "io/recognize/recognize.hpp"
#include "io/text/text_blocks.hpp"
#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace kith::io::inline v0 {

std::optional<TextHeader> read_text_header(const std::string& path, const ReadOptions& options) {
  const runtime::InputFile file(path, options.progress);
  const Format format = options.format == Format::automatic ? recognize(file) : options.format;
  if (format != Format::text) return std::nullopt;
  TextLayout layout = find_layout(file, options);
  return TextHeader{layout.fields, std::move(layout.names)};
}

std::optional<std::string> place_in_text(const std::string& path, const ReadOptions& options, std::uint64_t row,
                                         std::optional<std::uint32_t> dimension) {
  constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
  struct stat status {};
  if (path == "-" || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const runtime::InputFile file(path, options.progress);
  if ((options.format == Format::automatic ? recognize(file) : options.format) != Format::text) return std::nullopt;
  const TextLayout layout = find_layout(file, options);
  const ColumnPlan plan = plan_columns(layout, options, file.name());
  const auto field = dimension ? std::ranges::find(plan.target_of_field, static_cast<std::int32_t>(*dimension))
                               : plan.target_of_field.end();

  const TextBlocks blocks(file, layout.rows_begin, kBlockBytes);
  std::vector<char> buffer;
  std::uint64_t line = layout.first_line;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    const BlockLines lines = blocks.load(i, buffer);
    for (const char* next = lines.begin; next < lines.end; ++line) {
      if (starts_row(next) && row-- == 0) {
        std::string place = fmt::format("line {}", line);
        if (field != plan.target_of_field.end())
          place += ", " + column_name(layout, static_cast<std::uint64_t>(field - plan.target_of_field.begin()));
        return place;
      }
      next = static_cast<const char*>(std::memchr(next, '\n', static_cast<std::size_t>(lines.end - next))) + 1;
    }
  }
  return std::nullopt;
}

}  // namespace kith::io::inline v0
