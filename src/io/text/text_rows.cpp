// See text_rows.hpp. The fast path reads plain numbers; whatever else a field may be goes through `odd_field`.
#include "io/text/text_rows.hpp"

#include "io/text/text_field.hpp"
#include "io/text/text_number.hpp"
#include "io/text/text_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kith::io::inline v0 {
namespace {

template <typename T>
class RowParser {
 public:
  RowParser(const RowFormat& format, const BlockLines& lines, std::uint64_t first_line)
      : format_(format),
        targets_(format.plan->target_of_field.data()),
        fields_(format.layout->fields),
        delimiter_(format.layout->delimiter),
        lines_(lines),
        line_(first_line) {}

  BlockResult run(BlockSize size, T* out, std::uint32_t* codes) {
    const std::uint32_t dims = format_.plan->dims;
    std::vector<T> scratch(out == nullptr ? dims : 0);
    note_nul_byte();
    std::uint64_t row = 0;
    const char* next = lines_.begin;
    while (next < lines_.end) {
      if (line_ == nul_line_) fail(RowError::Kind::nul_byte, "", nul_byte_message(*format_.file, nul_offset_));
      if (!starts_row(next)) {
        next = static_cast<const char*>(std::memchr(next, '\n', static_cast<std::size_t>(lines_.end - next))) + 1;
      } else {
        if (row == size.rows) break;
        T* const values = out == nullptr ? scratch.data() : out + row * dims;
        std::uint32_t unused_code = 0;
        std::uint32_t& code = codes == nullptr ? unused_code : codes[row];
        next = parse_any_row(next, values, code);
        ++row;
      }
      ++line_;
    }
    if (next < lines_.end || row != size.rows) {
      fail(RowError::Kind::changed, "", "changed while it was read; read it again when it is complete");
    }
    if (lines_.cut_at_long_line) {
      fail(RowError::Kind::bad_data, fmt::format("line {}", line_),
           fmt::format("longer than {} MiB; is this a text file with line breaks?", kLineLimit >> 20));
    }
    return std::move(result_);
  }

 private:
  const char* parse_any_row(const char* row, T* values, std::uint32_t& code) {
    const bool blanks = delimiter_ == kBlankRun;
    if (format_.layout->decimal == '.') {
      return blanks ? parse_row<true, true>(row, values, code) : parse_row<false, true>(row, values, code);
    }
    return blanks ? parse_row<true, false>(row, values, code) : parse_row<false, false>(row, values, code);
  }

  /// Parses the row that starts at `row`; returns the start of the next line. Without `PointOnly` every number goes
  /// through `odd_field`, which knows decimal commas.
  template <bool Blanks, bool PointOnly>
  const char* parse_row(const char* row, T* values, std::uint32_t& code) {
    const std::int32_t* const targets = targets_;
    const std::uint32_t fields = fields_;
    const char delimiter = delimiter_;
    const char* const block_end = lines_.end;
    const char* next = row;
    std::uint32_t field = 0;
    for (bool last = false; !last; ++field) {
      if (field == fields) return fail_ragged(row);
      const std::int32_t target = targets[field];
      if (PointOnly && target >= 0) {
        const char* const first = skip_blanks<Blanks>(next);
        T value;
        const char* end = parse_plain_decimal(first, block_end, value);
        if (end == nullptr) end = parse_finite_number(first, value);
        if (end != nullptr) {
          if (!Blanks && *end == delimiter) {
            values[target] = value;
            next = end + 1;
            continue;
          }
          const char* const after = skip_blanks<Blanks>(end);
          const bool ends_line = *after == '\n' || (*after == '\r' && after[1] == '\n');
          if (ends_line || (Blanks ? after != end : *after == delimiter)) {
            values[target] = value;
            last = ends_line;
            next = Blanks && !ends_line ? after : after + 1;
            if (ends_line && *after == '\r') ++next;
            continue;
          }
        }
      }
      next = odd_field(next, field, values, code, last);
    }
    return field == fields ? next : fail_ragged(row);
  }

  /// Kept out of the loop over fields, which then fits into the registers. Left to `odd_field`: NaN and infinity,
  /// because it tells "inf" from 1e400, and whole numbers that are rounded, because it knows their column.
  [[gnu::noinline]] const char* parse_finite_number(const char* first, T& value) const {
    T number;
    const char* const end = parse_number(first, lines_.end, number);
    if (end == nullptr || !(std::abs(number) <= std::numeric_limits<T>::max())) return nullptr;
    if (is_rounded_whole({first, end}, number)) return nullptr;
    value = number;
    return end;
  }

  template <bool Blanks>
  const char* skip_blanks(const char* p) const {
    if constexpr (Blanks) {
      while (*p == ' ' || *p == '\t') ++p;
    } else {
      while (is_blank(*p, delimiter_)) ++p;
    }
    return p;
  }

  /// A field that is no plain number: label, skipped, quoted, missing or wrong. Sets `last` if it ends its line;
  /// returns the start of the next field or line.
  [[gnu::noinline]] const char* odd_field(const char* first, std::uint32_t field, T* values, std::uint32_t& code,
                                          bool& last) {
    const char* const line_end = end_of_line(first, lines_.end);
    const FieldCut cut = cut_field(first, line_end, delimiter_, unquoted_);
    last = cut.last;
    const std::int32_t target = targets_[field];
    if (cut.problem != nullptr) {
      fail(RowError::Kind::bad_data, place_of(field), cut.problem);
    } else if (target == ColumnPlan::kLabel) {
      code = result_.labels.code_of(cut.text);
    } else if (target != ColumnPlan::kSkip) {
      take_number(cut.text, field, values[target]);
    }
    return cut.last ? line_end + (*line_end == '\r' ? 2 : 1) : cut.next;
  }

  void take_number(std::string_view text, std::uint32_t field, T& value) {
    const NumberStatus status = number_of_field(text, value, format_.layout->decimal);
    result_.missing += status == NumberStatus::missing ? 1 : 0;
    if (status == NumberStatus::ok && is_rounded_whole(text, value) && result_.rounded++ == 0) {
      result_.first_rounded = fmt::format("{} in {}", text.substr(0, 40), place_of(field));
    }
    const bool fine = status == NumberStatus::ok || (format_.missing_as_nan && status != NumberStatus::not_a_number);
    if (fine || result_.error) return;  // texts are only made for the first error; a file may hold millions
    if (status == NumberStatus::missing) {
      fail(RowError::Kind::missing_value, place_of(field),
           is_spreadsheet_error(text) ? shown(text) + " is not a number" : "the value is missing");
    } else if (status == NumberStatus::out_of_range) {
      fail(RowError::Kind::bad_data, place_of(field),
           fmt::format("{} is beyond the range of {}; correct it, or leave such rows out (`missing_as_nan=true`)",
                       shown(text), sizeof(T) == 4 ? "f32" : "f64"));
    } else {
      fail(RowError::Kind::bad_data, place_of(field),
           fmt::format("{} is not a number{}", shown(text), advice_for(text)));
    }
    result_.error->is_about_value = true;
  }

  std::string advice_for(std::string_view text) const {
    if (text.find('\r') != std::string_view::npos) return "; a carriage return without a line feed is not a line end";
    const std::vector<std::string> readings = readings_of_both_marks(text);
    if (readings.size() == 2)
      return fmt::format("; it may mean {} or {}: write it with one mark only", readings[0], readings[1]);
    const bool comma_expected = format_.layout->decimal == ',';
    double value = 0;
    if (number_of_field(text, value, comma_expected ? '.' : ',') == NumberStatus::ok) {
      const std::string advice = fmt::format("; `decimal={}` takes it as one", comma_expected ? '.' : ',');
      if (!may_be_thousands(text)) return advice;
      std::string decimal(text);
      std::ranges::replace(decimal, ',', '.');
      std::string whole(text);
      std::erase_if(whole, [](char c) { return c == ',' || c == '.'; });
      return fmt::format("; it may mean {} or {}: `decimal={}` takes the first, write the second without a mark",
                         decimal, whole, comma_expected ? '.' : ',');
    }
    if (text.starts_with('#') || text.starts_with('%') || text.starts_with("//"))
      return "; a comment below the first row has a blank after its marker";
    const TextLayout& layout = *format_.layout;
    if (line_ == layout.model_line && layout.header_is_guessed)
      return "; correct it, or say whether this line names the columns (`header=true`, `header=false`)";
    return "; correct it, or choose other columns (`columns=`)";
  }

  /// Says more than a field of the same row that is not a number, which may only stand in another column than it
  /// should.
  [[gnu::noinline]] const char* fail_ragged(const char* row) {
    const char* const line_end = end_of_line(row, lines_.end);
    const char* const next_line = line_end + (*line_end == '\r' ? 2 : 1);
    if (result_.error && (result_.error->line != line_ || !result_.error->is_about_value)) return next_line;
    result_.error.reset();
    fail(RowError::Kind::bad_data, fmt::format("line {}", line_),
         ragged_message(*format_.layout, count_fields(row, line_end, delimiter_)));
    return next_line;
  }

  std::string place_of(std::uint32_t field) const {
    return fmt::format("line {}, {}", line_, column_name(*format_.layout, field));
  }

  void fail(RowError::Kind kind, std::string where, std::string what) {
    if (!result_.error) result_.error = RowError{kind, line_, std::move(where), std::move(what)};
  }

  void note_nul_byte() {
    const auto bytes = static_cast<std::size_t>(lines_.end - lines_.begin);
    const auto* nul = bytes == 0 ? nullptr : static_cast<const char*>(std::memchr(lines_.begin, 0, bytes));
    if (nul == nullptr) return;
    nul_offset_ = lines_.offset + static_cast<std::uint64_t>(nul - lines_.begin);
    nul_line_ = line_ + static_cast<std::uint64_t>(std::count(lines_.begin, nul, '\n'));
  }

  const RowFormat& format_;
  const std::int32_t* targets_;
  std::uint32_t fields_;
  char delimiter_;
  const BlockLines& lines_;
  std::uint64_t line_;
  std::uint64_t nul_line_ = 0;  // lines count from 1
  std::uint64_t nul_offset_ = 0;
  BlockResult result_;
  std::string unquoted_;
};

/// Counts the line feeds; false if some line may be blank or a comment, going by its first character. A loop over bytes
/// without branches, which compilers turn into vector code.
bool count_plain_lines(const BlockLines& lines, std::uint64_t& count) {
  constexpr std::ptrdiff_t kStep = 255;  // so that a byte can count them
  if (lines.begin == lines.end || !starts_row(lines.begin)) return false;
  const char* p = lines.begin;
  while (p < lines.end - 1) {
    const std::ptrdiff_t bytes = std::min(kStep, lines.end - 1 - p);
    std::uint8_t feeds = 0;
    std::uint8_t odd = 0;
    for (std::ptrdiff_t i = 0; i < bytes; ++i) {
      const auto feed = static_cast<std::uint8_t>(p[i] == '\n');
      const auto after = static_cast<std::uint8_t>(p[i + 1]);
      feeds = static_cast<std::uint8_t>(feeds + feed);
      // Blanks, line ends, '#' and '%' are below '*', '/' begins a comment; numbers begin above or with '.' or '-'.
      odd = static_cast<std::uint8_t>(odd | (feed & static_cast<std::uint8_t>((after < '*') | (after == '/'))));
    }
    if (odd != 0) return false;
    count += feeds;
    p += bytes;
  }
  ++count;  // the last line
  return true;
}

}  // namespace

std::uint32_t LabelNames::code_of(std::string_view text) {
  if (last_ < names_.size() && names_[last_] == text) return last_;
  const auto known = codes_.find(text);
  if (known != codes_.end()) return last_ = known->second;
  last_ = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(text);
  codes_.emplace(names_.back(), last_);
  return last_;
}

BlockSize count_rows(const BlockLines& lines) {
  BlockSize size;
  if (count_plain_lines(lines, size.lines)) {
    size.rows = size.lines;
    return size;
  }
  size.lines = 0;
  for (const char* next = lines.begin; next < lines.end; ++size.lines) {
    const LineKind kind = kind_of_line(next);
    size.rows += kind == LineKind::row || kind == LineKind::marked ? 1 : 0;
    size.comments += kind == LineKind::comment ? 1 : 0;
    next = static_cast<const char*>(std::memchr(next, '\n', static_cast<std::size_t>(lines.end - next))) + 1;
  }
  return size;
}

template <typename T>
BlockResult parse_rows(const RowFormat& format, const BlockLines& lines, BlockSize size, std::uint64_t first_line,
                       T* out, std::uint32_t* codes) {
  return RowParser<T>(format, lines, first_line).run(size, out, codes);
}
template BlockResult parse_rows(const RowFormat&, const BlockLines&, BlockSize, std::uint64_t, float*, std::uint32_t*);
template BlockResult parse_rows(const RowFormat&, const BlockLines&, BlockSize, std::uint64_t, double*, std::uint32_t*);

}  // namespace kith::io::inline v0
