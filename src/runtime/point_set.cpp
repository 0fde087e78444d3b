// Owned points. See kith/point_set.hpp.
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <limits>

namespace kith::inline v0 {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

void PointSet::Free::operator()(void* block) const noexcept { std::free(block); }

PointSet::PointSet(DType dtype, std::uint64_t rows, std::uint32_t dims) : rows_(rows), dims_(dims), dtype_(dtype) {
  const std::uint64_t row_bytes = std::uint64_t{dims} * size_of(dtype);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() - kAlignment;
  if (row_bytes != 0 && rows > kMost / row_bytes) {
    throw OutOfMemory(fmt::format("{} points of {} dimensions are more bytes than there are addresses", rows, dims));
  }
  const std::uint64_t needed = (rows * row_bytes + kAlignment - 1) / kAlignment * kAlignment;
  runtime::require_memory(needed, "a set of points");
  data_.reset(std::aligned_alloc(kAlignment, needed == 0 ? kAlignment : needed));
  if (!data_) throw OutOfMemory(fmt::format("not enough memory for {} points: {} bytes needed", rows, needed));
}

PointSet PointSet::copy_of(PointView points) {
  PointSet copy(points.dtype(), points.rows(), points.dims());
  const std::size_t row_bytes = std::size_t{points.dims()} * size_of(points.dtype());
  const std::int64_t stride_bytes = points.row_stride() * static_cast<std::int64_t>(size_of(points.dtype()));
  const auto* from = static_cast<const std::byte*>(points.data());
  auto* to = static_cast<std::byte*>(copy.data_.get());
  if (row_bytes == 0 || points.empty()) return copy;
  if (stride_bytes == static_cast<std::int64_t>(row_bytes)) {
    std::memcpy(to, from, points.rows() * row_bytes);
    return copy;
  }
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    std::memcpy(to + i * row_bytes, from + static_cast<std::int64_t>(i) * stride_bytes, row_bytes);
  }
  return copy;
}

void PointSet::require(DType dtype) const {
  if (dtype != dtype_) {
    throw UsageError(fmt::format("the points are {}, but {} values were asked for", name_of(dtype_), name_of(dtype)));
  }
}

}  // namespace kith::inline v0
