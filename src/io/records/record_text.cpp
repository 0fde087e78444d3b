// See record_text.hpp. One pass counts the lines of each block, a second one parses them into place.
#include "io/records/record_text.hpp"

#include "io/records/record_columns.hpp"
#include "io/records/record_labels.hpp"
#include "io/records/record_table.hpp"
#include "io/text/text_number.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;
constexpr std::uint32_t kNotTaken = std::numeric_limits<std::uint32_t>::max();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* token_end(const char* at, const char* end) {
  while (at != end && !is_blank(*at)) ++at;
  return at;
}

/// Calls `action(begin, end)` for every line that starts in [first, last) of the file. A line may end later.
template <typename Action>
void for_each_line(const runtime::InputFile& file, std::uint64_t origin, std::uint64_t first, std::uint64_t last,
                   std::vector<char>& buffer, Action&& action) {
  const bool starts_here = first == origin;
  const std::uint64_t from = starts_here ? first : first - 1;  // the byte before tells whether a line starts at `first`
  buffer.resize(static_cast<std::size_t>(last - from));
  file.read_exact(from, buffer.data(), buffer.size());
  std::size_t at = 0;
  if (!starts_here) {
    const void* newline = std::memchr(buffer.data(), '\n', buffer.size());
    if (newline == nullptr) return;
    at = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer.data()) + 1;
  }
  const std::size_t limit = buffer.size();
  while (at < limit) {
    std::size_t search = at;
    const void* newline = nullptr;
    while ((newline = std::memchr(buffer.data() + search, '\n', buffer.size() - search)) == nullptr) {
      search = buffer.size();
      if (search - at > kMaxLineBytes) {
        throw CorruptFile(
            fmt::format("{}: the line at byte {} is longer than {} bytes", file.name(), from + at, kMaxLineBytes));
      }
      const std::uint64_t rest = file.size() - (from + search);
      if (rest == 0) break;
      buffer.resize(search + static_cast<std::size_t>(std::min<std::uint64_t>(rest, std::uint64_t{1} << 16)));
      file.read_exact(from + search, buffer.data() + search, buffer.size() - search);
    }
    const char* begin = buffer.data() + at;
    const char* end = newline != nullptr ? static_cast<const char*>(newline) : buffer.data() + buffer.size();
    at = static_cast<std::size_t>(end - buffer.data()) + 1;
    action(begin, end);
  }
}

struct BlockCount {
  std::uint64_t lines = 0;
  std::uint64_t records = 0;  // lines that are not blank
};

/// Parses the lines of one block into the points.
template <typename D>
class LineParser {
 public:
  LineParser(const runtime::InputFile& file, const TextRecords& records, const std::vector<std::uint32_t>& taken_as,
             std::optional<std::size_t> label_field, const ReadOptions& options)
      : file_(file), records_(records), taken_as_(taken_as), label_field_(label_field), options_(options) {}

  void parse(const char* at, const char* end, std::uint64_t line, std::uint64_t row, D* to, LabelCollector* labels) {
    line_ = line;
    row_ = row;
    for (std::size_t f = 0; f < records_.fields.size(); ++f) {
      const TextField& field = records_.fields[f];
      at = skip_blanks(at, end);
      const char* stop = token_end(at, end);
      if (at == stop) missing(field);
      if (field.kind == TextField::Kind::list) {
        at = skip_list(at, stop, end, field);
        continue;
      }
      if (taken_as_[f] != kNotTaken) to[taken_as_[f]] = number(at, stop, field);
      if (f == label_field_) labels->add(std::string_view(at, static_cast<std::size_t>(stop - at)));
      at = stop;
    }
    at = skip_blanks(at, end);
    if (at != end) {
      throw CorruptFile(
          fmt::format("{}: has more values than the header declares ({})", where(), records_.fields.size()));
    }
  }

  std::uint64_t overflows() const { return overflows_; }

 private:
  std::string where() const { return fmt::format("{}: line {} ({} {})", file_.name(), line_, records_.what, row_); }

  [[noreturn]] void missing(const TextField& field) const {
    throw CorruptFile(fmt::format("{}: ends before the value of \"{}\"; {} values are declared", where(), field.name,
                                  records_.fields.size()));
  }

  [[noreturn]] void refuse(const char* at, const char* stop, const TextField& field, std::string_view why) const {
    const auto shown = std::min<std::size_t>(40, static_cast<std::size_t>(stop - at));
    throw BadData(fmt::format("{}: \"{}\" of \"{}\" {}", where(), std::string_view(at, shown), field.name, why));
  }

  const char* skip_list(const char* at, const char* stop, const char* end, const TextField& field) const {
    std::uint64_t count = 0;
    const auto [parsed, error] = std::from_chars(at, stop, count);
    if (error != std::errc() || parsed != stop) refuse(at, stop, field, "is not the length of a list");
    at = stop;
    for (; count > 0; --count) {
      at = skip_blanks(at, end);
      stop = token_end(at, end);
      if (at == stop) missing(field);
      at = stop;
    }
    return at;
  }

  D number(const char* at, const char* stop, const TextField& field) {
    D value{};
    if (parse_number(at, stop, value) != stop) refuse(at, stop, field, "is not a number");
    if (std::isinf(value) && is_finite_text(at, stop)) {
      double wide = 0;
      parse_number(at, stop, wide);
      if (!std::isinf(wide)) {
        ++overflows_;  // a number, only not of this type
      } else if (!options_.missing_as_nan) {
        refuse(at, stop, field, "is out of range");
      }
    }
    return value;
  }

  static bool is_finite_text(const char* at, const char* stop) {
    return std::find_if(at, stop, [](char c) { return c >= '0' && c <= '9'; }) != stop;
  }

  const runtime::InputFile& file_;
  const TextRecords& records_;
  const std::vector<std::uint32_t>& taken_as_;
  std::optional<std::size_t> label_field_;
  const ReadOptions& options_;
  std::uint64_t line_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t overflows_ = 0;
};

/// Every record has at least one character and one separator per value; more rows than that are a lie.
void require_backed_by_text(const runtime::InputFile& file, const TextRecords& records) {
  const std::uint64_t there = file.size() - std::min(file.size(), records.first_byte);
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, 2 * records.fields.size());
  if (records.rows > (there + 1) / row_bytes) {
    throw CorruptFile(
        fmt::format("{}: says {} {} records of {} values, but only {} bytes follow the header; the file is "
                    "cut short or its header is wrong",
                    file.name(), records.rows, records.what, records.fields.size(), there));
  }
}

template <typename D>
void parse_blocks(const runtime::InputFile& file, const TextRecords& records, const ReadOptions& options,
                  const std::vector<std::uint32_t>& taken_as, std::optional<std::size_t> label_field,
                  PointFile& result) {
  const std::uint64_t first = std::min(records.first_byte, file.size());
  const std::uint64_t bytes = file.size() - first;
  const std::uint64_t blocks = bytes / kBlockBytes + (bytes % kBlockBytes != 0);
  const auto begin_of = [&](std::uint64_t block) { return first + block * kBlockBytes; };
  const auto end_of = [&](std::uint64_t block) { return std::min(first + (block + 1) * kBlockBytes, file.size()); };

  std::vector<BlockCount> counts(static_cast<std::size_t>(blocks));
  runtime::parallel_for(blocks,
                        {.threads = options.threads,
                         .stage = "counting lines",
                         .progress = &options.progress,
                         .units_per_task = kBlockBytes,
                         .total_units = bytes},
                        [&](std::uint64_t block) {
                          std::vector<char> buffer;
                          BlockCount& count = counts[block];
                          for_each_line(file, first, begin_of(block), end_of(block), buffer,
                                        [&](const char* at, const char* end) {
                                          ++count.lines;
                                          count.records += skip_blanks(at, end) != end;
                                        });
                        });
  BlockCount total;
  for (BlockCount& count : counts) {  // from counts to the numbers of the first line and record
    const BlockCount before = total;
    total.lines += count.lines;
    total.records += count.records;
    count = before;
  }
  if (total.records < records.skipped_lines || total.records - records.skipped_lines < records.rows) {
    throw CorruptFile(fmt::format("{}: says {} {} records, but ends after {}; the file is cut short", file.name(),
                                  records.rows, records.what,
                                  total.records - std::min(total.records, records.skipped_lines)));
  }

  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(blocks));
  std::vector<Labels> labels(label_field ? static_cast<std::size_t>(blocks) : 0);
  std::atomic<std::uint64_t> failed{blocks};  // later blocks need not be parsed: the first failure is the one reported
  std::atomic<std::uint64_t> overflows{0};
  const std::uint32_t dims = result.points.dims();
  D* const values = result.points.values<D>().data();
  runtime::parallel_for(
      blocks,
      {.threads = options.threads,
       .stage = "reading",
       .progress = &options.progress,
       .units_per_task = kBlockBytes,
       .total_units = bytes},
      [&](std::uint64_t block) {
        if (block > failed.load()) return;
        try {
          LineParser<D> parser(file, records, taken_as, label_field, options);
          LabelCollector collector(0);
          BlockCount number = counts[block];
          std::vector<char> buffer;
          for_each_line(file, first, begin_of(block), end_of(block), buffer, [&](const char* at, const char* end) {
            const std::uint64_t line = records.first_line + number.lines++;
            if (skip_blanks(at, end) == end) return;
            const std::uint64_t record = number.records++;
            if (record < records.skipped_lines || record - records.skipped_lines >= records.rows) return;
            const std::uint64_t row = record - records.skipped_lines;
            parser.parse(at, end, line, row, values + row * dims, &collector);
          });
          overflows += parser.overflows();
          if (label_field) labels[block] = collector.take();
        } catch (const Error&) {
          failures[block] = std::current_exception();
          std::uint64_t seen = failed.load();
          while (block < seen && !failed.compare_exchange_weak(seen, block)) {
          }
        }
      });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  if (overflows > 0) {
    result.notes.push_back(fmt::format("{} values are too large for {} and became infinite", overflows.load(),
                                       name_of(result.points.dtype())));
  }
  if (label_field) {
    LabelCollector collector(records.rows);
    for (const Labels& part : labels) collector.append(part);
    result.labels = collector.take();
  }
}

}  // namespace

PointFile read_text_records(const runtime::InputFile& file, const TextRecords& records, const ReadOptions& options,
                            Format format, std::span<const std::string> defaults) {
  PointFile result;
  result.format = format;
  require_backed_by_text(file, records);
  if (!options.want_points) {
    read_text_record_columns(file, records, options, format, defaults);
    return result;
  }
  std::vector<std::string> names;
  std::vector<std::size_t> field_of;  // per number
  for (std::size_t f = 0; f < records.fields.size(); ++f) {
    if (records.fields[f].kind != TextField::Kind::number) continue;
    names.push_back(records.fields[f].name);
    field_of.push_back(f);
  }
  const ColumnChoice choice =
      choose_columns(file.name(), names, static_cast<std::uint32_t>(names.size()), defaults, options);
  if (options.table != nullptr && (choice.label || choice.coordinates.size() < names.size())) {
    read_text_record_columns(file, records, options, format, defaults);
  }

  DType dtype = DType::f32;
  std::vector<std::uint32_t> taken_as(records.fields.size(), kNotTaken);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> repeats;  // columns that ask for a field once more
  for (std::uint32_t column = 0; column < choice.coordinates.size(); ++column) {
    const std::size_t f = field_of[choice.coordinates[column]];
    if (natural_dtype(records.fields[f].type) == DType::f64) dtype = DType::f64;
    result.columns.push_back(records.fields[f].name);
    if (taken_as[f] == kNotTaken) {
      taken_as[f] = column;
    } else {
      repeats.emplace_back(taken_as[f], column);
    }
  }
  std::optional<std::size_t> label_field;
  if (choice.label) label_field = field_of[*choice.label];
  dtype = options.dtype.value_or(dtype);
  result.points = PointSet(dtype, records.rows, static_cast<std::uint32_t>(choice.coordinates.size()));

  const auto fill = [&]<typename D>(D) {
    parse_blocks<D>(file, records, options, taken_as, label_field, result);
    if (repeats.empty()) return;
    D* row = result.points.values<D>().data();
    for (std::uint64_t i = 0; i < records.rows; ++i, row += result.points.dims()) {
      for (const auto& [from, to] : repeats) row[to] = row[from];
    }
  };
  dtype == DType::f32 ? fill(float{}) : fill(double{});
  return result;
}

}  // namespace kith::io::inline v0
