// One column of a table of text as strings: the rows of the text reader, the fields as they stand.
#include "io/sequences/sequence_formats.hpp"
#include "io/text/text_blocks.hpp"
#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <vector>

namespace kith::io::inline v0 {

SequenceFile read_text_column(const runtime::InputFile& file, const SequenceReadOptions& options) {
  constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
  ReadOptions table;
  table.label = options.text_column;  // asked for by name, so the row that has it is the header
  table.delimiter = options.delimiter;
  table.header = options.header;
  const TextLayout layout = find_layout(file, table);
  const std::size_t wanted = find_column(layout, options.text_column, file.name());

  SequenceFile result;
  result.sequences = SequenceSet(options.kind);
  const SequenceText text{file.name(), {}, options.kind};
  const TextBlocks blocks(file, layout.rows_begin, kBlockBytes);
  runtime::ProgressMeter meter(&options.progress, "reading", blocks.bytes());
  std::vector<char> buffer;
  std::string unquoted;
  TextLine line{layout.first_line, {}};
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    meter.report(i * kBlockBytes);
    const BlockLines lines = blocks.load(i, buffer);
    for (const char* next = lines.begin; next < lines.end; ++line.number) {
      const char* const start = next;
      next = static_cast<const char*>(std::memchr(next, '\n', static_cast<std::size_t>(lines.end - next))) + 1;
      if (!starts_row(start)) continue;
      const char* const end = end_of_line(start, next);
      const std::uint64_t fields = count_fields(start, end, layout.delimiter);
      if (fields != layout.fields) refuse_line(text, line.number, ragged_message(layout, fields));
      FieldCut cut;
      cut.next = start;
      for (std::size_t field = 0; field <= wanted; ++field) {
        cut = cut_field(cut.next, end, layout.delimiter, unquoted);
        if (cut.problem != nullptr) refuse_line(text, line.number, cut.problem);
      }
      line.text = cut.text;
      add_string(result.sequences, text, line, cut.text);
    }
    if (lines.cut_at_long_line) {
      refuse_line(text, line.number,
                  fmt::format("longer than {} MiB; is this a text file with line breaks?", kLineLimit >> 20));
    }
  }
  meter.finish();
  return result;
}

}  // namespace kith::io::inline v0
