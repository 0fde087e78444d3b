// Text files in two passes over blocks of lines, both parallel: count the rows, then parse each into its place.
//
//   pass      per byte read              memory beside the result
//   count     find line ends             one block per thread
//   parse     numbers, into place        one block per thread, label texts per block
#include "io/text/text_reader.hpp"

#include "io/text/text_blocks.hpp"
#include "io/text/text_layout.hpp"
#include "io/text/text_rows.hpp"
#include "io/text/text_table.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kLargestBlock = std::uint64_t{1} << 20;
constexpr std::uint64_t kSmallestBlock = std::uint64_t{32} << 10;
constexpr std::uint64_t kMaxRows = 0xFFFFFFFEu;  // an index holds at most 2^32-2 points

/// Where the lines and rows of a block begin, and how many there are.
struct BlockPlace {
  BlockSize size;
  std::uint64_t first_line = 0;
  std::uint64_t first_row = 0;
};

class TextReader {
 public:
  TextReader(const runtime::InputFile& file, const ReadOptions& options, std::uint64_t block_bytes)
      : file_(file),
        options_(options),
        layout_(find_layout(file, options)),
        plan_(plan_columns(layout_, options, file.name())),
        blocks_(file, layout_.rows_begin, block_bytes),
        buffers_(static_cast<std::size_t>(runtime::resolve_threads(options.threads))) {}

  PointFile run() {
    const std::uint64_t rows = count();
    PointFile result;
    result.format = Format::text;
    result.columns = plan_.names;
    result.text = describe();
    if (options_.dtype.value_or(DType::f64) == DType::f32) {
      parse<float>(rows, result);
    } else {
      parse<double>(rows, result);
    }
    if (layout_.promised_rows && *layout_.promised_rows != rows) {
      throw CorruptFile(fmt::format("{}: the first line promises {} rows, but there are {}; the file is cut or damaged",
                                    file_.name(), *layout_.promised_rows, rows));
    }
    if (options_.table != nullptr && plan_.dims < layout_.fields) read_text_columns(file_, options_);
    return result;
  }

 private:
  runtime::ParallelOptions parallel(std::string_view stage) const {
    return {.threads = options_.threads,
            .stage = stage,
            .progress = &options_.progress,
            .units_per_task = blocks_.block_bytes(),
            .total_units = blocks_.bytes()};
  }

  /// After `count`.
  TextReading describe() const {
    TextReading reading;
    if (layout_.has_header) reading.header_line = layout_.model_line;
    if (layout_.names_line != 0) reading.names_line = layout_.names_line;
    reading.comment_lines = layout_.comments;
    for (const BlockPlace& place : places_) reading.comment_lines += place.size.comments;
    reading.delimiter = layout_.delimiter;
    reading.decimal = layout_.decimal;
    return reading;
  }

  std::uint64_t count() {
    places_.resize(blocks_.count());
    runtime::parallel_for_workers(
        places_.size(), parallel("counting rows"), [&](std::uint64_t i, runtime::Worker& worker) {
          places_[i].size = count_rows(blocks_.load(i, buffers_[static_cast<std::size_t>(worker.thread())]));
        });
    std::uint64_t line = layout_.first_line;
    std::uint64_t row = 0;
    for (BlockPlace& place : places_) {
      place.first_line = line;
      place.first_row = row;
      line += place.size.lines;
      row += place.size.rows;
    }
    if (row > kMaxRows) {
      throw BadData(fmt::format("{}: holds {} rows, more than the {} that fit into one index; split it", file_.name(),
                                row, kMaxRows));
    }
    return row;
  }

  template <typename T>
  void parse(std::uint64_t rows, PointFile& result) {
    // A row is at least one byte per field. Where that cannot be, some row is too short, and an allocation by the count
    // of rows would be larger than the file warrants: then the rows are only checked, which finds the first bad one.
    const bool possible = rows <= (blocks_.bytes() + 1) / layout_.fields;
    T* out = nullptr;
    std::uint32_t* codes = nullptr;
    if (possible) {
      result.points = PointSet(dtype_of<T>, rows, plan_.dims);
      out = result.points.values<T>().data();
      if (plan_.has_label) {
        result.labels.emplace().codes.resize(rows);
        codes = result.labels->codes.data();
      }
    }

    const RowFormat format{&file_, &layout_, &plan_, options_.missing_as_nan};
    results_ = std::vector<BlockResult>(places_.size());
    std::vector<char> skipped(places_.size(), 0);
    std::atomic<std::uint64_t> failed_block{std::numeric_limits<std::uint64_t>::max()};
    const auto parse_block = [&](std::uint64_t i, runtime::Worker& worker) {
      const BlockPlace& place = places_[i];
      const BlockLines lines = blocks_.load(i, buffers_[static_cast<std::size_t>(worker.thread())]);
      results_[i] = parse_rows(format, lines, place.size, place.first_line,
                               out == nullptr ? nullptr : out + place.first_row * plan_.dims,
                               codes == nullptr ? nullptr : codes + place.first_row);
    };
    runtime::parallel_for_workers(places_.size(), parallel("reading"), [&](std::uint64_t i, runtime::Worker& worker) {
      if (i > failed_block.load(std::memory_order_relaxed)) {  // an error in an earlier line is certain
        skipped[i] = 1;
        return;
      }
      parse_block(i, worker);
      if (!results_[i].error || results_[i].error->kind == RowError::Kind::missing_value) return;
      std::uint64_t lowest = failed_block.load(std::memory_order_relaxed);
      while (i < lowest && !failed_block.compare_exchange_weak(lowest, i, std::memory_order_relaxed)) {
      }
    });

    const auto first = std::ranges::find_if(results_, [](const BlockResult& block) { return block.error.has_value(); });
    if (first != results_.end() && first->error->kind == RowError::Kind::missing_value) {
      // The message tells how many values are missing in the whole file.
      runtime::parallel_for_workers(places_.size(), parallel("counting missing values"),
                                    [&](std::uint64_t i, runtime::Worker& worker) {
                                      if (skipped[i]) parse_block(i, worker);
                                    });
    }
    if (first != results_.end()) fail(*first->error);
    if (!possible) throw BadData(fmt::format("{}: its rows are too short", file_.name()));
    if (codes != nullptr) merge_labels(*result.labels);
    note_losses(result);
  }

  std::uint64_t sum_of(std::uint64_t BlockResult::*count) const {
    std::uint64_t sum = 0;
    for (const BlockResult& block : results_) sum += block.*count;
    return sum;
  }

  [[noreturn]] void fail(const RowError& error) const {
    switch (error.kind) {
      case RowError::Kind::nul_byte:
        throw CorruptFile(error.what);
      case RowError::Kind::changed:
        throw IoError(fmt::format("{}: {}", file_.name(), error.what));
      case RowError::Kind::bad_data:
        throw BadData(fmt::format("{}: {}: {}", file_.name(), error.where, error.what));
      case RowError::Kind::missing_value:
        break;
    }
    const std::uint64_t missing = sum_of(&BlockResult::missing);
    throw BadData(fmt::format(
        "{}: {}: {} ({} missing value{} in the file); fill it in, leave such rows out (`missing_as_nan=true`) "
        "or choose other columns (`columns=`)",
        file_.name(), error.where, error.what, missing, missing == 1 ? "" : "s"));
  }

  /// Blocks numbered their labels on their own; the order of the file is the order of the blocks.
  void merge_labels(Labels& labels) {
    LabelNames all;
    std::vector<std::vector<std::uint32_t>> code_of(results_.size());
    for (std::size_t i = 0; i < results_.size(); ++i) {
      for (const std::string& name : results_[i].labels.take()) code_of[i].push_back(all.code_of(name));
    }
    runtime::parallel_for(places_.size(), {.threads = options_.threads}, [&](std::uint64_t i) {
      const auto begin = labels.codes.begin() + static_cast<std::ptrdiff_t>(places_[i].first_row);
      std::for_each(begin, begin + static_cast<std::ptrdiff_t>(places_[i].size.rows),
                    [&](std::uint32_t& code) { code = code_of[i][code]; });
    });
    labels.names = all.take();
  }

  /// Counts what was not read as it stands in the file.
  void note_losses(PointFile& result) const {
    const std::uint64_t missing = options_.missing_as_nan ? sum_of(&BlockResult::missing) : 0;
    if (missing > 0)
      result.notes.push_back(fmt::format("{} missing value{} read as NaN", missing, missing == 1 ? " was" : "s were"));
    const auto first = std::ranges::find_if(results_, [](const BlockResult& block) { return block.rounded > 0; });
    if (first == results_.end()) return;
    const std::uint64_t rounded = sum_of(&BlockResult::rounded);
    result.notes.push_back(
        fmt::format("{} whole number{} more digits than {} holds and {} rounded; the first is {}. To keep all digits, "
                    "take the column as the label, or choose other columns as coordinates",
                    rounded, rounded == 1 ? " has" : "s have", name_of(result.points.dtype()),
                    rounded == 1 ? "was" : "were", first->first_rounded));
  }

  const runtime::InputFile& file_;
  const ReadOptions& options_;
  TextLayout layout_;
  ColumnPlan plan_;
  TextBlocks blocks_;
  std::vector<std::vector<char>> buffers_;  // one per thread
  std::vector<BlockPlace> places_;
  std::vector<BlockResult> results_;
};

}  // namespace

PointFile read_text_in_blocks(const runtime::InputFile& file, const ReadOptions& options, std::uint64_t block_bytes) {
  return TextReader(file, options, block_bytes).run();
}

PointFile read_text(const runtime::InputFile& file, const ReadOptions& options) {
  if (!options.want_points) {
    read_text_columns(file, options);
    return {};
  }
  const auto threads = static_cast<std::uint64_t>(runtime::resolve_threads(options.threads));
  // Small files are cut finer, so that every thread has a few blocks.
  const std::uint64_t block_bytes = std::clamp(file.size() / (threads * 8), kSmallestBlock, kLargestBlock);
  return read_text_in_blocks(file, options, block_bytes);
}

}  // namespace kith::io::inline v0
