// Files of points to be classified, in two parallel passes over blocks: load and count line ends, then parse rows.
//
//   pass      per byte read              memory beside the result
//   load      copy, count line feeds     8 bytes per block
//   parse     numbers, into place        8 bytes per block
#include "io/results/class_file_read.hpp"

#include "io/results/class_file_header.hpp"
#include "io/results/class_file_rows.hpp"
#include "io/text/text_field.hpp"
#include "io/text/text_sample.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kLargestBlock = std::uint64_t{1} << 20;
constexpr std::uint64_t kSmallestBlock = std::uint64_t{32} << 10;
constexpr std::uint64_t kNoBlock = std::numeric_limits<std::uint64_t>::max();

bool is_blank_or_line_end(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class ClassFileReader {
 public:
  ClassFileReader(const runtime::InputFile& file, int threads, const ProgressCallback& progress,
                  std::uint64_t block_bytes)
      : file_(file), threads_(threads), progress_(progress), block_bytes_(block_bytes) {}

  template <typename T>
  ClassFile run() {
    load();
    const char* const rows = read_header();
    require_promised_rows(rows);
    parse<T>(static_cast<std::uint64_t>(rows - text_.data()));
    text_.pop_back();
    result_.text = std::move(text_);
    return std::move(result_);
  }

 private:
  std::uint64_t blocks() const { return (file_.size() + block_bytes_ - 1) / block_bytes_; }

  runtime::ParallelOptions parallel(std::string_view stage) const {
    return {.threads = threads_,
            .stage = stage,
            .progress = &progress_,
            .units_per_task = block_bytes_,
            .total_units = file_.size()};
  }

  /// The whole file and a line feed, so that every line ends with one; the line feeds before every block.
  void load() {
    text_.resize(file_.size() + 1);
    text_.back() = '\n';
    feeds_before_.resize(blocks() + 1);
    runtime::parallel_for(blocks(), parallel("loading"), [&](std::uint64_t i) {
      const std::uint64_t begin = i * block_bytes_;
      const std::uint64_t bytes = std::min(block_bytes_, file_.size() - begin);
      char* const to = text_.data() + begin;
      if (file_.read_at(begin, to, bytes) != bytes) {
        throw IoError(fmt::format("{}: became shorter while it was read", file_.name()));
      }
      feeds_before_[i + 1] = static_cast<std::uint64_t>(std::count(to, to + bytes, '\n'));
    });
    for (std::uint64_t i = 0; i < blocks(); ++i) feeds_before_[i + 1] += feeds_before_[i];

    // Blank lines at the end are not looked at any further.
    std::uint64_t end = file_.size();
    while (end > 0 && is_blank_or_line_end(text_[end - 1])) --end;
    const auto* feed = static_cast<const char*>(std::memchr(text_.data() + end, '\n', text_.size() - end));
    end_ = feed + 1;
    const auto blank_feeds =
        static_cast<std::uint64_t>(std::count(end_, std::as_const(text_).data() + text_.size(), '\n'));
    lines_ = feeds_before_.back() + 1 - blank_feeds;
  }

  /// Returns where the rows begin.
  const char* read_header() {
    const std::string_view text(text_.data(), file_.size());
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      throw CorruptFile(fmt::format("{}: is UTF-16 text, which is not read; convert it with: iconv -f UTF-16 -t UTF-8",
                                    file_.name()));
    }
    const char* const first = text_.data() + (text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    if (std::all_of(first, end_, is_blank_or_line_end)) {
      throw BadData(
          fmt::format("{}: is empty; a file of points to be classified starts with the line N,M,C,D", file_.name()));
    }
    const char* const line_end = end_of_line(first, end_);
    refuse_nul(first, line_end);
    counts_ = parse_class_counts({first, line_end}, file_.name());
    result_.classes = counts_.classes;
    return line_end + (*line_end == '\r' ? 2 : 1);
  }

  void refuse_nul(const char* first, const char* last) const {
    const auto* nul = static_cast<const char*>(std::memchr(first, 0, static_cast<std::size_t>(last - first)));
    if (nul == nullptr) return;
    throw CorruptFile(nul_byte_message(file_, static_cast<std::uint64_t>(nul - text_.data())));
  }

  void require_promised_rows(const char* rows) const {
    const std::uint64_t promised = counts_.train + counts_.fresh;
    const std::uint64_t found = lines_ - 1;
    if (found == promised) return;
    refuse_nul(rows, end_);
    std::uint64_t line = 2;  // a blank line explains more than a number of rows that is off by one
    for (const char* p = rows; p < end_; ++line) {
      const char* const next = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end_ - p))) + 1;
      if (std::all_of(p, next, is_blank_or_line_end)) {
        throw BadData(fmt::format("{}: line {}: blank, but rows follow; remove it", file_.name(), line));
      }
      p = next;
    }
    throw BadData(fmt::format("{}: {}: line 1 promises {} rows ({} with a class, {} new), but there are {}",
                              file_.name(),
                              found > promised ? fmt::format("line {}", promised + 2) : fmt::format("line {}", lines_),
                              promised, counts_.train, counts_.fresh, found));
  }

  template <typename T>
  void parse(std::uint64_t rows_begin) {
    // A row is a digit and a comma per coordinate, a class and a line end. Where so many bytes are not there, some row
    // is too short, and the memory that the counts ask for would be more than the file warrants: then the rows are only
    // checked, which finds the first bad one.
    const std::uint64_t rows = lines_ - 1;
    const bool possible = rows <= (text_.size() - rows_begin) / (2 * std::uint64_t{counts_.dims} + 2);
    if (possible) {
      result_.train = PointSet(dtype_of<T>, counts_.train, counts_.dims);
      result_.fresh = PointSet(dtype_of<T>, counts_.fresh, counts_.dims);
      result_.labels.resize(counts_.train);
      result_.starts.resize(rows);
      result_.ends.resize(rows);
    }
    std::atomic<std::uint64_t> failed_block{kNoBlock};
    failures_.resize(blocks());
    runtime::parallel_for(blocks(), parallel("reading"), [&](std::uint64_t i) {
      if (i > failed_block.load(std::memory_order_relaxed)) return;  // an error in an earlier line is certain
      failures_[i] = parse_block<T>(i, rows_begin, possible);
      if (failures_[i] == nullptr) return;
      std::uint64_t lowest = failed_block.load(std::memory_order_relaxed);
      while (i < lowest && !failed_block.compare_exchange_weak(lowest, i, std::memory_order_relaxed)) {
      }
    });
    if (failed_block != kNoBlock) fail<T>(failures_[failed_block]);
    if (!possible) throw BadData(fmt::format("{}: its rows are too short", file_.name()));
  }

  /// Parses the rows that start in a block. Returns the first bad one, or null.
  template <typename T>
  const char* parse_block(std::uint64_t block, std::uint64_t rows_begin, bool keep) {
    const char* const text = text_.data();
    const std::uint64_t block_begin = block * block_bytes_;
    const char* const block_end = std::min(text + std::min(block_begin + block_bytes_, file_.size()), end_);
    const char* next = text + std::max(block_begin, rows_begin);
    std::uint64_t row = 0;
    if (block_begin > rows_begin) {  // the byte before tells whether a line starts here
      if (next >= block_end) return nullptr;
      const auto* feed =
          static_cast<const char*>(std::memchr(next - 1, '\n', static_cast<std::size_t>(end_ - next + 1)));
      row = feeds_before_[block] - 1 + (feed + 1 == next ? 0 : 1);
      next = feed + 1;
    }
    std::vector<T> scratch(keep ? 0 : counts_.dims);
    T* const train = keep ? result_.train.values<T>().data() : nullptr;
    T* const fresh = keep ? result_.fresh.values<T>().data() : nullptr;
    for (; next < block_end; ++row) {
      const bool in_train = row < counts_.train;
      T* values = scratch.data();
      if (keep) values = in_train ? train + row * counts_.dims : fresh + (row - counts_.train) * counts_.dims;
      std::int64_t label = 0;
      const char* const end = parse_class_row(next, end_, counts_.dims, values, label);
      if (end == nullptr || (in_train ? label < 0 || label >= std::int64_t{counts_.classes} : label != -1)) return next;
      if (keep) {
        result_.starts[row] = static_cast<std::uint64_t>(next - text);
        result_.ends[row] = static_cast<std::uint64_t>(end - text);
        if (in_train) result_.labels[row] = static_cast<std::uint32_t>(label);
      }
      next = static_cast<const char*>(std::memchr(end, '\n', static_cast<std::size_t>(end_ - end))) + 1;
    }
    return nullptr;
  }

  template <typename T>
  [[noreturn]] void fail(const char* row) const {
    refuse_nul(row, end_of_line(row, end_));
    const auto lines_before = static_cast<std::uint64_t>(std::count(text_.data(), row, '\n'));
    const std::string what = explain_class_row<T>(row, end_, lines_before - 1, counts_);
    throw BadData(fmt::format("{}: {}", file_.name(),
                              what.empty() ? fmt::format("line {}: cannot be read", lines_before + 1) : what));
  }

  const runtime::InputFile& file_;
  int threads_;
  const ProgressCallback& progress_;
  std::uint64_t block_bytes_;
  std::vector<char> text_;
  std::vector<std::uint64_t> feeds_before_;  // per block, and of all
  const char* end_ = nullptr;                // after the last line that is not blank
  std::uint64_t lines_ = 0;                  // up to there
  ClassCounts counts_;
  std::vector<const char*> failures_;  // per block the first bad row, or null
  ClassFile result_;
};

}  // namespace

ClassFile read_class_file_in_blocks(const runtime::InputFile& file, std::optional<DType> dtype, int threads,
                                    const ProgressCallback& progress, std::uint64_t block_bytes) {
  ClassFileReader reader(file, threads, progress, block_bytes);
  try {
    return dtype.value_or(DType::f64) == DType::f32 ? reader.run<float>() : reader.run<double>();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  }
}

ClassFile read_class_file(const std::string& path, std::optional<DType> dtype, int threads,
                          const ProgressCallback& progress) {
  const runtime::InputFile file(path, progress);
  const auto workers = static_cast<std::uint64_t>(runtime::resolve_threads(threads));
  // Small files are cut finer, so that every thread has a few blocks.
  const std::uint64_t block_bytes = std::clamp(file.size() / (workers * 8), kSmallestBlock, kLargestBlock);
  return read_class_file_in_blocks(file, dtype, threads, progress, block_bytes);
}

}  // namespace kith::io::inline v0
