// See text_header.hpp.
#include <kith/io/text_header.hpp>

#include "io/recognize.hpp"
#include "io/text_layout.hpp"

namespace kith::io {

std::optional<TextHeader> read_text_header(const std::string& path, const ReadOptions& options) {
  const runtime::InputFile file(path, options.progress);
  const Format format = options.format == Format::automatic ? recognize(file) : options.format;
  if (format != Format::text) return std::nullopt;
  TextLayout layout = find_layout(file, options);
  return TextHeader{layout.fields, std::move(layout.names)};
}

}  // namespace kith::io
