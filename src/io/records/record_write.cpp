// See record_write.hpp.
#include "io/records/record_write.hpp"

#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>

namespace kith::io::inline v0 {

static_assert(std::endian::native == std::endian::little, "files are written in the machine's byte order");

void for_each_block(PointView points, std::string_view stage, const ProgressCallback& progress,
                    const std::function<void(const void*, std::size_t)>& sink) {
  constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 22;
  const std::uint64_t row_bytes = points.dims() * size_of(points.dtype());
  const bool contiguous = points.row_stride() == static_cast<std::int64_t>(points.dims());
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, row_bytes));
  runtime::ProgressMeter meter(&progress, stage, points.rows() * row_bytes);
  std::vector<char> packed;
  for (std::uint64_t row = 0; row_bytes > 0 && row < points.rows(); row += block_rows) {
    const PointView block = points.slice(row, std::min(block_rows, points.rows() - row));
    const std::size_t bytes = static_cast<std::size_t>(block.rows() * row_bytes);
    if (contiguous) {
      sink(block.data(), bytes);
    } else {
      packed.resize(bytes);
      for (std::uint64_t i = 0; i < block.rows(); ++i) {
        std::memcpy(packed.data() + i * row_bytes, block.slice(i, 1).data(), row_bytes);
      }
      sink(packed.data(), bytes);
    }
    meter.report((row + block.rows()) * row_bytes);
  }
  meter.finish();
}

void require_plain_names(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
    if (name.empty() || !plain) {
      throw UsageError(fmt::format("\"{}\" cannot be a column name of this format: blanks are not allowed", name));
    }
    if (!seen.insert(name).second) throw UsageError(fmt::format("the column name \"{}\" is given twice", name));
  }
}

void write_lines(runtime::OutputFile& file, PointView points, const ProgressCallback& progress) {
  runtime::ProgressMeter meter(&progress, "writing", points.rows());
  fmt::memory_buffer line;
  const auto write_rows = [&]<typename T>(T) {
    for (std::uint64_t i = 0; i < points.rows(); ++i) {
      const T* row = points.row<T>(i);
      line.clear();
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}"), row[d]);
        line.push_back(d + 1 < points.dims() ? ' ' : '\n');
      }
      file.write(line.data(), line.size());
      if ((i & 0xfff) == 0) meter.report(i);
    }
  };
  points.dtype() == DType::f32 ? write_rows(float{}) : write_rows(double{});
  meter.finish();
}

std::vector<std::string> column_names(const std::vector<std::string>& names, std::uint32_t dims) {
  if (!names.empty() && names.size() != dims) {
    throw UsageError(fmt::format("{} column names were given for points of {} dimensions", names.size(), dims));
  }
  if (!names.empty()) return names;
  std::vector<std::string> result;
  for (std::uint32_t d = 0; d < dims; ++d) {
    result.push_back(dims <= 3 ? std::string(1, "xyz"[d]) : fmt::format("c{}", d));
  }
  return result;
}

}  // namespace kith::io::inline v0
