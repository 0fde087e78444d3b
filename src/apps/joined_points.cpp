// See joined_points.hpp.
#include "apps/joined_points.hpp"

#include "runtime/parallel.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kMostRows = 0xfffffffe;  // of an index

/// Copies rows of host memory side by side to `to`.
void copy_rows(PointView points, std::byte* to, int threads) {
  const std::size_t row_bytes = std::size_t{points.dims()} * size_of(points.dtype());
  const std::uint64_t block = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / row_bytes);
  const std::uint64_t blocks = (points.rows() + block - 1) / block;
  runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t b) {
    const PointView part = points.slice(b * block, std::min(block, points.rows() - b * block));
    if (part.row_stride() == part.dims()) {
      std::memcpy(to + b * block * row_bytes, part.data(), part.rows() * row_bytes);
      return;
    }
    for (std::uint64_t i = 0; i < part.rows(); ++i) {
      std::memcpy(to + (b * block + i) * row_bytes, part.slice(i, 1).data(), row_bytes);
    }
  });
}

/// An index knows how to fetch points from a GPU.
void fetch_rows(PointView points, std::byte* to, int threads) {
  if (points.empty()) return;
  if (points.device() == Device::cpu()) return copy_rows(points, to, threads);
  const Index holder =
      Index::build(points, {.engine = Engine::brute_force, .device = Device::cpu(), .threads = threads});
  copy_rows(holder.points(threads).view(), to, threads);
}

}  // namespace

PointSet join_points(PointView first, PointView second, int threads) {
  if (!first.empty() && !second.empty() && (first.dims() != second.dims() || first.dtype() != second.dtype())) {
    throw UsageError(fmt::format("queries: {} dimensions of {}, but the points have {} of {}", second.dims(),
                                 name_of(second.dtype()), first.dims(), name_of(first.dtype())));
  }
  if (first.rows() > kMostRows || second.rows() > kMostRows - first.rows()) {
    throw UsageError(fmt::format("{} points and {} queries, but one index holds at most {}", first.rows(),
                                 second.rows(), kMostRows));
  }
  for (const PointView view : {first, second}) {
    if (view.empty()) continue;
    if (view.dims() == 0) throw UsageError("points: rows without coordinates (0 dimensions)");
    if (view.data() == nullptr) throw UsageError("points: the data pointer is null");
    if (view.device().kind() == Device::Kind::automatic) {
      throw UsageError("points: the array must be said to be on the CPU or on a GPU, not on auto");
    }
  }
  const PointView shape = first.empty() ? second : first;
  PointSet joined(shape.dtype(), first.rows() + second.rows(), shape.dims());
  auto* const to = joined.dtype() == DType::f32 ? reinterpret_cast<std::byte*>(joined.values<float>().data())
                                                : reinterpret_cast<std::byte*>(joined.values<double>().data());
  fetch_rows(first, to, threads);
  fetch_rows(second, to + first.rows() * joined.dims() * size_of(joined.dtype()), threads);
  return joined;
}

}  // namespace kith::apps::inline v0
