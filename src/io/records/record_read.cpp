// Reads records and planes of numbers in parallel blocks. See record_layout.hpp.
#include "io/records/record_layout.hpp"

#include "io/records/record_columns.hpp"
#include "io/records/record_labels.hpp"
#include "io/records/record_table.hpp"
#include "io/records/record_values.hpp"
#include "io/text/text_field.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 22;

/// Columns that follow each other both in the file and in the points, and share a type: one loop does them all.
struct ColumnRun {
  const RecordField* field;   // of the first column
  std::uint32_t destination;  // column of the points
  std::uint32_t count;
};

bool is_plain(const RecordField& field) { return !field.scaled && field.shift == 0 && field.mask == 0xff; }

std::vector<ColumnRun> runs_of(const RecordLayout& layout, const ColumnChoice& choice) {
  std::vector<ColumnRun> runs;
  for (std::size_t i = 0; i < choice.coordinates.size(); ++i) {
    const RecordField& field = layout.fields[choice.coordinates[i]];
    if (!runs.empty() && layout.order == RecordOrder::records) {
      ColumnRun& last = runs.back();
      if (is_plain(field) && is_plain(*last.field) && field.type == last.field->type &&
          field.offset == last.field->offset + last.count * size_of(field.type)) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({&field, static_cast<std::uint32_t>(i), 1});
  }
  return runs;
}

template <typename S, typename D, bool kSwap>
void convert_run(const RecordField& field, const char* from, std::uint64_t stride, std::uint64_t rows,
                 std::uint32_t count, D* to, std::uint32_t dims, ConversionLosses& losses) {
  for (std::uint64_t row = 0; row < rows; ++row, from += stride, to += dims) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const S value = load_value<S, kSwap>(from + i * sizeof(S));
      if constexpr (std::is_integral_v<S>) {
        if (field.scaled) {
          const double scaled = static_cast<double>(value) * field.scale;
          to[i] = convert_value<D>(scaled + field.origin, losses);
        } else if constexpr (std::is_same_v<S, std::uint8_t>) {
          to[i] = static_cast<D>((value >> field.shift) & field.mask);
        } else {
          to[i] = convert_value<D>(value, losses);
        }
      } else {
        to[i] = convert_value<D>(value, losses);
      }
    }
  }
}

template <typename D>
void convert(const RecordField& field, bool swap, const char* from, std::uint64_t stride, std::uint64_t rows,
             std::uint32_t count, D* to, std::uint32_t dims, ConversionLosses& losses) {
  with_number_type(field.type, [&]<typename S>(S) {
    if (swap) {
      convert_run<S, D, true>(field, from, stride, rows, count, to, dims, losses);
    } else {
      convert_run<S, D, false>(field, from, stride, rows, count, to, dims, losses);
    }
  });
}

/// The label column as bits, widened to 64.
void take_labels(const RecordField& field, bool swap, const char* from, std::uint64_t stride, std::uint64_t rows,
                 std::uint64_t* to) {
  with_number_type(field.type, [&]<typename S>(S) {
    for (std::uint64_t row = 0; row < rows; ++row, from += stride) {
      const S value = swap ? load_value<S, true>(from) : load_value<S, false>(from);
      if constexpr (std::is_same_v<S, Boolean>) {
        to[row] = value.byte != 0;
      } else if constexpr (std::is_same_v<S, Half>) {
        to[row] = value.bits;
      } else if constexpr (std::is_same_v<S, float>) {
        to[row] = std::bit_cast<std::uint32_t>(value);
      } else if constexpr (std::is_same_v<S, double>) {
        to[row] = std::bit_cast<std::uint64_t>(value);
      } else if (field.scaled) {
        to[row] = std::bit_cast<std::uint64_t>(static_cast<double>(value) * field.scale + field.origin);
      } else if constexpr (std::is_same_v<S, std::uint8_t>) {
        to[row] = (value >> field.shift) & field.mask;
      } else {
        to[row] = static_cast<std::uint64_t>(value);
      }
    }
  });
}

/// Where the blocks of one read go; `labels` is empty if there is no label column.
struct Destination {
  PointSet* points;
  std::vector<std::uint64_t>* labels;
};

class BlockReader {
 public:
  BlockReader(const runtime::InputFile& file, const RecordLayout& layout, const ColumnChoice& choice, Destination to)
      : file_(file),
        layout_(layout),
        swap_(layout.big_endian != (std::endian::native == std::endian::big)),
        runs_(runs_of(layout, choice)),
        label_(choice.label ? &layout.fields[*choice.label] : nullptr),
        to_(to) {}

  /// True if the file's bytes are the points' bytes, up to byte order.
  bool is_direct() const {
    return label_ == nullptr && runs_.size() == 1 && layout_.order == RecordOrder::records &&
           is_plain(*runs_[0].field) && runs_[0].field->offset == 0 &&
           runs_[0].count * size_of(runs_[0].field->type) == layout_.record_bytes &&
           runs_[0].field->type == (to_.points->dtype() == DType::f32 ? NumberType::f32 : NumberType::f64);
  }

  template <typename D>
  void read_direct(std::uint64_t row, std::uint64_t rows) const {
    const std::uint32_t dims = to_.points->dims();
    D* const to = to_.points->values<D>().data() + row * dims;
    const std::size_t count = static_cast<std::size_t>(rows * dims);
    file_.read_exact(layout_.first_byte + row * layout_.record_bytes, to, count * sizeof(D));
    if (!swap_) return;
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = load_value<D, true>(reinterpret_cast<const char*>(to + i));
    }
  }

  template <typename D>
  void read_block(std::uint64_t row, std::uint64_t rows, std::vector<char>& scratch, ConversionLosses& losses) const {
    const std::uint32_t dims = to_.points->dims();
    D* const to = to_.points->values<D>().data() + row * dims;
    std::uint64_t* const labels = label_ != nullptr ? to_.labels->data() + row : nullptr;
    if (layout_.order == RecordOrder::records) {
      scratch.resize(static_cast<std::size_t>(rows * layout_.record_bytes));
      file_.read_exact(layout_.first_byte + row * layout_.record_bytes, scratch.data(), scratch.size());
      for (const ColumnRun& run : runs_) {
        convert<D>(*run.field, swap_, scratch.data() + run.field->offset, layout_.record_bytes, rows, run.count,
                   to + run.destination, dims, losses);
      }
      if (label_ != nullptr) {
        take_labels(*label_, swap_, scratch.data() + label_->offset, layout_.record_bytes, rows, labels);
      }
      return;
    }
    const auto read_plane = [&](const RecordField& field) {
      const std::uint64_t stride = field.stride != 0 ? field.stride : size_of(field.type);
      // The last value of a plane may end before a whole stride does.
      scratch.resize(static_cast<std::size_t>((rows - 1) * stride + size_of(field.type)));
      file_.read_exact(layout_.first_byte + field.offset + row * stride, scratch.data(), scratch.size());
      return stride;
    };
    for (const ColumnRun& run : runs_) {
      const std::uint64_t stride = read_plane(*run.field);
      convert<D>(*run.field, swap_, scratch.data(), stride, rows, 1, to + run.destination, dims, losses);
    }
    if (label_ != nullptr) {
      const std::uint64_t stride = read_plane(*label_);
      take_labels(*label_, swap_, scratch.data(), stride, rows, labels);
    }
  }

 private:
  const runtime::InputFile& file_;
  const RecordLayout& layout_;
  bool swap_;
  std::vector<ColumnRun> runs_;
  const RecordField* label_;
  Destination to_;
};

void require_numbers(const runtime::InputFile& file, const RecordLayout& layout, const ColumnChoice& choice) {
  for (const std::uint32_t column : choice.coordinates) {
    const RecordField& field = layout.fields[column];
    if (!field.texts) continue;
    throw UsageError(fmt::format("{}: column \"{}\" holds text{}, not numbers; it can be the label (`label={}`)",
                                 file.name(), field.name,
                                 field.texts->empty() ? "" : " such as " + shown(field.texts->front()), field.name));
  }
}

void note_losses(const ConversionLosses& losses, DType dtype, std::vector<std::string>& notes) {
  if (losses.inexact_integers > 0) {
    notes.push_back(fmt::format("{} integers have more digits than {} holds and were rounded", losses.inexact_integers,
                                name_of(dtype)));
  }
  if (losses.overflows > 0) {
    notes.push_back(
        fmt::format("{} values are too large for {} and became infinite", losses.overflows, name_of(dtype)));
  }
}

}  // namespace

void require_backed(const runtime::InputFile& file, std::uint64_t rows, std::uint64_t record_bytes,
                    std::uint64_t first_byte, std::string_view what) {
  const std::uint64_t there = file.size() > first_byte ? file.size() - first_byte : 0;
  if (first_byte > file.size() || (record_bytes != 0 && rows > there / record_bytes)) {
    throw CorruptFile(fmt::format(
        "{}: says {} {} of {} bytes each from byte {} on, but ends at byte {}; the file is cut short or its "
        "header is wrong",
        file.name(), rows, what, record_bytes, first_byte, file.size()));
  }
}

PointFile read_records(const runtime::InputFile& file, const RecordLayout& layout, const ReadOptions& options,
                       Format format, std::span<const std::string> defaults) {
  require_backed(file, layout.rows, layout.record_bytes, layout.first_byte, "rows");
  PointFile result;
  result.format = format;
  if (!options.want_points) {
    read_record_columns(file, layout, options, format, defaults);
    return result;
  }
  std::vector<std::string> names;
  if (layout.named) {
    for (const RecordField& field : layout.fields) names.push_back(field.name);
  }
  const ColumnChoice choice =
      choose_columns(file.name(), names, static_cast<std::uint32_t>(layout.fields.size()), defaults, options);

  if (options.table != nullptr && (choice.label || choice.coordinates.size() < layout.fields.size())) {
    read_record_columns(file, layout, options, format, defaults);
  }
  require_numbers(file, layout, choice);

  DType dtype = DType::f32;
  for (const std::uint32_t column : choice.coordinates) {
    if (natural_dtype(layout.fields[column].type) == DType::f64) dtype = DType::f64;
  }
  dtype = options.dtype.value_or(dtype);

  for (const std::uint32_t column : choice.coordinates) {
    if (layout.named) result.columns.push_back(layout.fields[column].name);
  }
  result.points = PointSet(dtype, layout.rows, static_cast<std::uint32_t>(choice.coordinates.size()));
  std::vector<std::uint64_t> label_bits(choice.label ? static_cast<std::size_t>(layout.rows) : 0);
  const BlockReader reader(file, layout, choice, {&result.points, &label_bits});

  const std::uint64_t row_bytes =
      std::max<std::uint64_t>({1, layout.record_bytes, choice.coordinates.size() * size_of(dtype)});
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, kBlockBytes / row_bytes);
  const std::uint64_t blocks = layout.rows / block_rows + (layout.rows % block_rows != 0);
  const auto threads = static_cast<std::size_t>(runtime::resolve_threads(options.threads));
  std::vector<std::vector<char>> scratch(threads);
  std::vector<ConversionLosses> losses(threads);
  runtime::parallel_for_workers(blocks,
                                {.threads = options.threads,
                                 .stage = "reading",
                                 .progress = &options.progress,
                                 .units_per_task = block_rows * layout.record_bytes,
                                 .total_units = layout.rows * layout.record_bytes},
                                [&](std::uint64_t block, runtime::Worker& worker) {
                                  const auto thread = static_cast<std::size_t>(worker.thread());
                                  const std::uint64_t row = block * block_rows;
                                  const std::uint64_t rows = std::min(block_rows, layout.rows - row);
                                  const auto read = [&]<typename D>(D) {
                                    if (reader.is_direct()) return reader.read_direct<D>(row, rows);
                                    reader.read_block<D>(row, rows, scratch[thread], losses[thread]);
                                  };
                                  dtype == DType::f32 ? read(float{}) : read(double{});
                                });

  ConversionLosses all;
  for (const ConversionLosses& part : losses) all += part;
  note_losses(all, dtype, result.notes);
  if (choice.label) {
    const RecordField& field = layout.fields[*choice.label];
    LabelCollector collector(layout.rows);
    if (field.texts) {
      for (const std::uint64_t code : label_bits) collector.add(field.texts->at(static_cast<std::size_t>(code)));
    } else {
      collector.add_numbers(label_bits, field.scaled ? NumberType::f64 : field.type);
    }
    result.labels = collector.take();
  }
  return result;
}

}  // namespace kith::io::inline v0
