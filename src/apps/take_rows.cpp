// See take_rows.hpp.
#include <kith/apps/take_rows.hpp>

#include "core/dispatch.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace kith::apps::inline v0 {

PointSet take_rows(PointView points, std::span<const std::uint32_t> rows, int threads) {
  if (points.device().kind() == Device::Kind::cuda) {
    throw UsageError("the points are on a GPU; copy them to host memory to take rows of them");
  }
  for (const std::uint32_t row : rows) {
    if (row >= points.rows()) throw UsageError(fmt::format("row {} of {} points was asked for", row, points.rows()));
  }
  PointSet taken(points.dtype(), rows.size(), points.dims());
  const std::size_t row_bytes = std::size_t{points.dims()} * size_of(points.dtype());
  if (rows.empty() || row_bytes == 0) return taken;
  const std::uint64_t block = std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / row_bytes);
  const std::uint64_t blocks = (rows.size() + block - 1) / block;
  core::visit_dtype(points.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const to = taken.values<T>().data();
    core::visit_dims(points.dims(), [&](auto constant_dims) {
      runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t b) {
        constexpr std::uint64_t kAhead = 16;  // rows lie anywhere
        const std::size_t dims = constant_dims.value == core::kRuntimeDims ? points.dims() : constant_dims.value;
        const std::uint64_t end = std::min<std::uint64_t>(rows.size(), (b + 1) * block);
        for (std::uint64_t i = b * block; i < end; ++i) {
          __builtin_prefetch(points.row<T>(rows[std::min(i + kAhead, end - 1)]));
          std::copy_n(points.row<T>(rows[i]), dims, to + i * dims);
        }
      });
    });
  });
  return taken;
}

}  // namespace kith::apps::inline v0
