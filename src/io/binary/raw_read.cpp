// Reads plain numbers, or records that a Fortran program wrote, by the layout that the user gives.
#include "io/binary/raw_layout.hpp"
#include "io/records/record_source.hpp"
#include "io/records/record_values.hpp"
#include "runtime/physical_memory.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kMarkerBytes = 4;
constexpr std::uint64_t kMostEmpty = std::uint64_t{1} << 16;  // a file of zeros is records without content for ever

/// Walks over Fortran records: the length, the content, the length again. Long records come in parts; the length is
/// negative in front of all parts but the last, and behind all but the first.
class FortranRecords {
 public:
  FortranRecords(const runtime::InputFile& file, const RawLayout& layout, const ReadOptions& options)
      : file_(file),
        layout_(layout),
        swap_(layout.big_endian != (std::endian::native == std::endian::big)),
        meter_(&options.progress, "reading", file.size()) {}

  /// The contents of the records that the layout takes, one after the other.
  std::vector<char> content() {
    std::vector<char> bytes;
    std::uint64_t at = 0;
    std::uint64_t record = 0;
    const std::uint64_t end =
        layout_.records ? add_clamped(layout_.skip, *layout_.records) : std::numeric_limits<std::uint64_t>::max();
    for (; at < file_.size() && record < end; ++record) {
      const std::size_t before = bytes.size();
      for (bool goes_on = true; goes_on;) {
        const std::int64_t marker = marker_at(at, record);
        goes_on = marker < 0;
        const auto length = static_cast<std::uint64_t>(goes_on ? -marker : marker);
        const std::int64_t behind = marker_at(at + kMarkerBytes + length, record);
        if (static_cast<std::uint64_t>(behind < 0 ? -behind : behind) != length) fail(record, at, marker, behind);
        if (record >= layout_.skip) append(bytes, at + kMarkerBytes, length);
        at += length + 2 * kMarkerBytes;
        meter_.report(at);
      }
      const std::uint64_t content = bytes.size() - before;
      empty_ = content == 0 && record >= layout_.skip ? empty_ + 1 : 0;
      if (empty_ > kMostEmpty) {
        throw CorruptFile(
            fmt::format("{}: {} empty Fortran records follow each other up to byte {}; the file is not made of records",
                        file_.name(), empty_, at));
      }
      const std::uint64_t row_bytes = layout_.is_arrays ? 1 : layout_.row_bytes;
      if (record >= layout_.skip && content % row_bytes != 0) {
        throw CorruptFile(
            fmt::format("{}: Fortran record {} has {} bytes, but a row of the layout has {}; correct the layout, or "
                        "step over records (skip=N) and stop after some (records=N)",
                        file_.name(), record + 1, content, layout_.row_bytes));
      }
    }
    if (record <= layout_.skip) {
      throw CorruptFile(
          fmt::format("{}: has {} Fortran records, and the layout skips {}", file_.name(), record, layout_.skip));
    }
    return bytes;
  }

 private:
  static std::uint64_t add_clamped(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
  }

  std::int64_t marker_at(std::uint64_t at, std::uint64_t record) {
    if (at > file_.size() || file_.size() - at < kMarkerBytes) {
      throw CorruptFile(fmt::format(
          "{}: Fortran record {} reaches beyond the end of the file (byte {}); the file is cut short, has no 4-byte "
          "record markers, or {} byte order",
          file_.name(), record + 1, file_.size(), layout_.big_endian ? "little-endian (le)" : "big-endian (be)"));
    }
    if (at < begin_ || at + kMarkerBytes > begin_ + window_.size()) load(at);
    const char* const from = window_.data() + (at - begin_);
    return swap_ ? load_value<std::int32_t, true>(from) : load_value<std::int32_t, false>(from);
  }

  void load(std::uint64_t at) {
    begin_ = at;
    window_.resize(std::size_t{1} << 16);
    window_.resize(file_.read_at(at, window_.data(), window_.size()));
    if (window_.size() < kMarkerBytes)
      throw IoError(fmt::format("{}: changed while it was read; try again", file_.name()));
  }

  void append(std::vector<char>& bytes, std::uint64_t at, std::uint64_t length) {
    if (length == 0) return;
    const std::size_t size = bytes.size();
    runtime::require_memory(size + length, "the records of " + file_.name());
    bytes.resize(size + static_cast<std::size_t>(length));  // the marker behind it has been seen: the file has as much
    if (at >= begin_ && at + length <= begin_ + window_.size()) {
      std::memcpy(bytes.data() + size, window_.data() + (at - begin_), static_cast<std::size_t>(length));
    } else {
      file_.read_exact(at, bytes.data() + size, static_cast<std::size_t>(length));
    }
  }

  [[noreturn]] void fail(std::uint64_t record, std::uint64_t at, std::int64_t before, std::int64_t behind) const {
    throw CorruptFile(
        fmt::format("{}: Fortran record {} at byte {} has the length {} before and {} after it; the file is "
                    "damaged or not made of records with 4-byte markers",
                    file_.name(), record + 1, at, before, behind));
  }

  const runtime::InputFile& file_;
  const RawLayout& layout_;
  bool swap_;
  runtime::ProgressMeter meter_;
  std::vector<char> window_;
  std::uint64_t begin_ = 0;
  std::uint64_t empty_ = 0;  // records without content, one after the other
};

std::uint64_t rows_of(const runtime::InputFile& file, const RawLayout& layout, std::uint64_t bytes) {
  const std::uint64_t rows = bytes / layout.row_bytes;
  if (layout.rows) {
    if (*layout.rows <= rows) return *layout.rows;
    throw CorruptFile(fmt::format("{}: the layout takes {} rows of {} bytes, but there are {} bytes", file.name(),
                                  *layout.rows, layout.row_bytes, bytes));
  }
  if (bytes % layout.row_bytes != 0) {
    throw CorruptFile(
        fmt::format("{}: {} bytes are not a whole number of rows of {} bytes ({} are left over); correct the layout, "
                    "or step over a header (skip=N) and stop after some rows (rows=N)",
                    file.name(), bytes, layout.row_bytes, bytes % layout.row_bytes));
  }
  return rows;
}

}  // namespace

RecordSource find_raw(const runtime::InputFile& file, const ReadOptions& options) {
  if (options.layout.empty()) {
    throw UsageError(fmt::format("{}: raw bytes need a layout: `layout=f32 x,y,z`", file.name()));
  }
  const RawLayout raw = parse_raw_layout(options.layout);
  RecordSource source;
  std::uint64_t bytes = 0;
  if (raw.is_fortran) {
    source.decoded =
        std::make_unique<const runtime::InputFile>(file.name(), FortranRecords(file, raw, options).content());
    bytes = source.decoded->size();
  } else {
    if (raw.skip > file.size()) {
      throw CorruptFile(fmt::format("{}: has {} bytes, and the layout skips {}", file.name(), file.size(), raw.skip));
    }
    source.layout.first_byte = raw.skip;
    bytes = file.size() - raw.skip;
  }

  RecordLayout& layout = source.layout;
  layout.rows = rows_of(file, raw, bytes);
  layout.record_bytes = raw.row_bytes;
  layout.order = raw.is_arrays ? RecordOrder::planes : RecordOrder::records;
  layout.big_endian = raw.big_endian;
  layout.named = raw.is_named;
  // With arrays, "rows=N" takes the first values of each; how long they are, the file says.
  const std::uint64_t stored_rows = raw.is_arrays ? bytes / raw.row_bytes : 1;
  std::uint64_t offset = 0;
  for (const RawField& field : raw.fields) {
    if (!field.name.empty()) {
      RecordField value;
      value.name = field.name;
      value.type = field.type;
      value.offset = offset;
      layout.fields.push_back(std::move(value));
    }
    offset += field.bytes * stored_rows;
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::find(layout.fields, name, &RecordField::name) != layout.fields.end();
  };
  if (layout.named && has("x") && has("y") && has("z")) source.defaults = {"x", "y", "z"};
  return source;
}

}  // namespace kith::io::inline v0
