// See record_write.hpp.
#include "io/record_write.hpp"

#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace kith::io {

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

}  // namespace kith::io
