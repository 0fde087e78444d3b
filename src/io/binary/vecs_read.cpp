// Reads fvecs, bvecs and ivecs: records of a 32-bit dimension and that many floats, bytes or 32-bit integers.
// Bytes become f32; integers become f64, because f32 holds 24 bits of them only.
#include "io/formats.hpp"
#include "io/records/record_layout.hpp"
#include "io/records/record_values.hpp"
#include "runtime/parallel.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

std::uint32_t dims_at(const char* from) {
  return load_value<std::uint32_t, std::endian::native == std::endian::big>(from);
}

/// The first record whose dimension is not `dims`, or kNone.
std::uint64_t first_odd_record(const runtime::InputFile& file, const RecordLayout& layout, std::uint32_t dims,
                               const ReadOptions& options) {
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / layout.record_bytes);
  const std::uint64_t blocks = layout.rows / block_rows + (layout.rows % block_rows != 0);
  std::atomic<std::uint64_t> odd{kNone};
  runtime::parallel_for(blocks,
                        {.threads = options.threads,
                         .stage = "checking",
                         .progress = &options.progress,
                         .units_per_task = block_rows * layout.record_bytes,
                         .total_units = file.size()},
                        [&](std::uint64_t block) {
                          const std::uint64_t first = block * block_rows;
                          const std::uint64_t rows = std::min(block_rows, layout.rows - first);
                          const bool sparse =
                              layout.record_bytes > 4096;  // then reading the few bytes beats reading all
                          std::vector<char> bytes(sparse ? 4 : static_cast<std::size_t>(rows * layout.record_bytes));
                          if (!sparse) file.read_exact(first * layout.record_bytes, bytes.data(), bytes.size());
                          for (std::uint64_t i = 0; i < rows; ++i) {
                            if (sparse) file.read_exact((first + i) * layout.record_bytes, bytes.data(), 4);
                            if (dims_at(bytes.data() + (sparse ? 0 : i * layout.record_bytes)) == dims) continue;
                            std::uint64_t seen = odd.load();
                            while (first + i < seen && !odd.compare_exchange_weak(seen, first + i)) {
                            }
                            return;
                          }
                        });
  return odd.load();
}

}  // namespace

PointFile read_vecs(const runtime::InputFile& file, const ReadOptions& options, Format format) {
  const NumberType type = format == Format::fvecs   ? NumberType::f32
                          : format == Format::bvecs ? NumberType::u8
                                                    : NumberType::i32;
  if (file.size() == 0) {
    throw CorruptFile(
        fmt::format("{}: is empty; {} needs at least one record to tell its dimension", file.name(), name_of(format)));
  }
  char head[4];
  file.read_exact(0, head, 4);
  const std::uint32_t dims = dims_at(head);
  if (dims == 0 || dims > kMaxColumns) {
    throw CorruptFile(fmt::format("{}: the first record claims {} dimensions; it is not a file of type {}", file.name(),
                                  dims, name_of(format)));
  }
  RecordLayout layout;
  layout.record_bytes = 4 + dims * std::uint64_t{size_of(type)};
  layout.rows = file.size() / layout.record_bytes;
  if (layout.rows == 0) {
    throw CorruptFile(fmt::format("{}: the first record claims {} dimensions, but the file has {} bytes only",
                                  file.name(), dims, file.size()));
  }
  layout.fields.resize(dims);
  for (std::uint32_t d = 0; d < dims; ++d) {
    layout.fields[d].type = type;
    layout.fields[d].offset = 4 + d * std::uint64_t{size_of(type)};
  }
  // The memory first: all of a huge file would be read to check its records.
  const std::uint64_t columns = options.columns.empty() ? dims : options.columns.size();
  const DType dtype = options.dtype.value_or(format == Format::ivecs ? DType::f64 : DType::f32);
  runtime::require_memory(layout.rows * columns * size_of(dtype), fmt::format("reading {}", file.name()));
  const std::uint64_t odd = first_odd_record(file, layout, dims, options);
  if (odd != kNone) {
    char bytes[4];
    file.read_exact(odd * layout.record_bytes, bytes, 4);
    throw CorruptFile(fmt::format("{}: record {} at byte {} claims {} dimensions, the first one {}; all must agree",
                                  file.name(), odd, odd * layout.record_bytes, dims_at(bytes), dims));
  }
  if (file.size() % layout.record_bytes != 0) {
    throw CorruptFile(fmt::format("{}: {} bytes are left over after {} records of {} bytes; the file is cut short",
                                  file.name(), file.size() % layout.record_bytes, layout.rows, layout.record_bytes));
  }
  return read_records(file, layout, options, format);
}

}  // namespace kith::io::inline v0
