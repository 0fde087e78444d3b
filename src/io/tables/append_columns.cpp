// See append_columns.hpp: block after block of lines is read, and written with more behind each row.
#include <kith/io/append_columns.hpp>

#include "io/recognize/recognize.hpp"
#include "io/text/text_blocks.hpp"
#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"
#include "io/text/text_sample.hpp"
#include "io/text/text_writer.hpp"
#include "runtime/input_file.hpp"
#include "runtime/output_file.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;

void refuse_what_is_read_once(const std::string& in) {
  struct stat status {};
  const bool is_stream =
      in == "-" || (stat(in.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
  if (is_stream) {
    throw UsageError(
        fmt::format("{} can be read only once, but its rows are copied to the output; save it to a file first",
                    in == "-" ? "standard input" : in));
  }
}

void require_text(const runtime::InputFile& file, Format format) {
  if (format == Format::automatic) format = recognize(file);
  if (format == Format::text) return;
  throw UsageError(fmt::format("{}: is {}, but columns can only be added to text; convert it to CSV first", file.name(),
                               name_of(format)));
}

class ColumnAppender {
 public:
  ColumnAppender(const runtime::InputFile& file, const ReadOptions& options, runtime::OutputFile& out,
                 std::span<const AppendedColumn> columns, std::uint64_t rows)
      : file_(file), layout_(find_layout(file, options)), out_(out), columns_(columns), rows_(rows) {}

  void run(const ProgressCallback& progress) {
    const std::uint64_t begin = write_head();
    const TextBlocks blocks(file_, begin, kBlockBytes);
    runtime::ProgressMeter meter(&progress, "writing", blocks.bytes());
    std::vector<char> buffer;
    for (std::uint64_t i = 0; i < blocks.count(); ++i) {
      const BlockLines lines = blocks.load(i, buffer);
      for (const char* next = lines.begin; next < lines.end;) next = copy_line(next, lines.end);
      if (lines.cut_at_long_line) {
        throw BadData(fmt::format("{}: a line is longer than {} MiB; is this a text file with line breaks?",
                                  file_.name(), kLineLimit >> 20));
      }
      meter.report(i * kBlockBytes);
    }
    if (row_ != rows_) fail_changed();
    meter.finish();
  }

 private:
  /// What stands above the rows; returns where they begin.
  std::uint64_t write_head() {
    const TextSample sample = sample_rows(file_);
    if (file_.head(3) == "\xEF\xBB\xBF") out_.write("\xEF\xBB\xBF");
    if (layout_.promised_rows) {  // the number of rows, and for molecules a comment, which count as part of the format
      std::string head = file_.head(layout_.rows_begin);
      if (head.starts_with("\xEF\xBB\xBF")) head.erase(0, 3);
      out_.write(head);
    } else if (!layout_.has_header && !layout_.names.empty()) {
      out_.write("# " + sample.comment_above + names() + '\n');
    }
    if (layout_.has_header) out_.write(sample.rows.front().text + names() + sample.rows.front().line_break);
    return layout_.rows_begin;
  }

  std::string names() const {
    std::string text;
    for (const AppendedColumn& column : columns_) text += layout_.delimiter + as_field(column.name, layout_.delimiter);
    return text;
  }

  const char* copy_line(const char* line, const char* last) {
    const char* const next =
        static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(last - line))) + 1;
    if (!starts_row(line)) return next;
    const char* const end = end_of_line(line, next);
    out_.write({line, end});
    if (row_ == rows_) fail_changed();
    for (const AppendedColumn& column : columns_) {
      field_.clear();
      column.write(row_, field_);
      if (layout_.decimal == ',' && kind_of_field(field_) == FieldKind::number) std::ranges::replace(field_, '.', ',');
      out_.write({&layout_.delimiter, 1});
      out_.write(as_field(field_, layout_.delimiter));
    }
    ++row_;
    out_.write({end, next});
    return next;
  }

  [[noreturn]] void fail_changed() const {
    throw IoError(
        fmt::format("{}: has {} than the {} rows that were read before; try again when it is not being changed",
                    file_.name(), row_ < rows_ ? "fewer" : "more", rows_));
  }

  const runtime::InputFile& file_;
  TextLayout layout_;
  runtime::OutputFile& out_;
  std::span<const AppendedColumn> columns_;
  std::uint64_t rows_;
  std::uint64_t row_ = 0;
  std::string field_;
};

}  // namespace

void append_columns(const std::string& in, const ReadOptions& options, const std::string& out,
                    std::span<const AppendedColumn> columns, std::uint64_t rows, const ProgressCallback& progress) {
  refuse_what_is_read_once(in);
  const runtime::InputFile file(in, progress);
  require_text(file, options.format);
  runtime::OutputFile output(out, runtime::Compression::by_name);
  ColumnAppender(file, options, output, columns, rows).run(progress);
  output.commit();
}

}  // namespace kith::io::inline v0
