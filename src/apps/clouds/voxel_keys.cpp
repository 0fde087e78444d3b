// See voxel_keys.hpp: numbers of cells side by side in 64 bits; where they need more, numbers of those that occur.
#include "apps/clouds/voxel_keys.hpp"

#include "apps/clouds/key_groups.hpp"
#include "core/cloud/voxel_cell.hpp"
#include "core/dispatch.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kCellRows = 16384;  // of one task

/// The lowest and highest cell of each dimension.
struct CellRange {
  std::vector<std::int64_t> low, high;
};

struct VoxelRows {
  PointView points;
  std::span<const std::uint32_t> rows;
  double size;
  int threads;

  /// Calls `with(first, last)` for chunks of the rows.
  template <typename With>
  void for_each_chunk(const With& with) const {
    const std::uint64_t tasks = (rows.size() + kCellRows - 1) / kCellRows;
    runtime::parallel_for(tasks, {.threads = threads}, [&](std::uint64_t task) {
      with(task * kCellRows, std::min<std::uint64_t>(rows.size(), (task + 1) * kCellRows));
    });
  }
};

template <typename T>
CellRange cell_range(const VoxelRows& all) {
  const std::uint32_t dims = all.points.dims();
  const std::uint64_t tasks = (all.rows.size() + kCellRows - 1) / kCellRows;
  // Division and floor never decrease as x grows, so the cells of the extremes are the extremes of the cells.
  std::vector<T> low(tasks * dims, std::numeric_limits<T>::max()), high(tasks * dims, std::numeric_limits<T>::lowest());
  all.for_each_chunk([&](std::uint64_t first, std::uint64_t last) {
    T* const lowest = low.data() + first / kCellRows * dims;
    T* const highest = high.data() + first / kCellRows * dims;
    for (std::uint64_t i = first; i < last; ++i) {
      const T* row = all.points.row<T>(all.rows[i]);
      for (std::uint32_t d = 0; d < dims; ++d) {
        lowest[d] = std::min(lowest[d], row[d]);
        highest[d] = std::max(highest[d], row[d]);
      }
    }
  });
  CellRange range{std::vector<std::int64_t>(dims), std::vector<std::int64_t>(dims)};
  for (std::uint32_t d = 0; d < dims; ++d) {
    T lowest = low[d], highest = high[d];
    for (std::uint64_t task = 1; task < tasks; ++task) {
      lowest = std::min(lowest, low[task * dims + d]);
      highest = std::max(highest, high[task * dims + d]);
    }
    for (const T extreme : {lowest, highest}) {
      if (core::is_exact_cell(core::voxel_cell(static_cast<double>(extreme), all.size))) continue;
      const auto is_it = [&](std::uint32_t row) { return all.points.row<T>(row)[d] == extreme; };
      throw BadData(fmt::format(
          "points: row {}, column {} (counted from 0) is {}, which is more than 2^53 voxels of {} from 0; take larger "
          "voxels",
          *std::find_if(all.rows.begin(), all.rows.end(), is_it), d, extreme, all.size));
    }
    range.low[d] = static_cast<std::int64_t>(core::voxel_cell(static_cast<double>(lowest), all.size));
    range.high[d] = static_cast<std::int64_t>(core::voxel_cell(static_cast<double>(highest), all.size));
  }
  return range;
}

/// The number of the group of each key, in place of the key.
void number_keys(std::vector<std::uint64_t>& keys, int threads) {
  const KeyGroups groups = group_keys(keys, threads);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[groups.items[i]] = groups.slot_of[i];
}

/// Puts the cells of dimensions [from, to) behind what the keys hold, `width[d]` bits each.
template <typename T>
void append_cells(const VoxelRows& all, const CellRange& range, std::span<const int> width, std::uint32_t from,
                  std::uint32_t to, std::vector<std::uint64_t>& keys) {
  all.for_each_chunk([&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      const T* row = all.points.row<T>(all.rows[i]);
      std::uint64_t key = keys[i];
      for (std::uint32_t d = from; d < to; ++d) {
        const auto cell = static_cast<std::int64_t>(core::voxel_cell(static_cast<double>(row[d]), all.size));
        key = (key << width[d]) | static_cast<std::uint64_t>(cell - range.low[d]);
      }
      keys[i] = key;
    }
  });
}

template <typename T>
std::vector<std::uint64_t> keys_of(const VoxelRows& all) {
  const std::uint32_t dims = all.points.dims();
  const CellRange range = cell_range<T>(all);
  std::vector<int> width(dims);
  for (std::uint32_t d = 0; d < dims; ++d) {
    width[d] = std::bit_width(static_cast<std::uint64_t>(range.high[d] - range.low[d]));
  }
  std::vector<std::uint64_t> keys(all.rows.size());
  int used = 0;
  for (std::uint32_t d = 0; d < dims;) {
    std::uint32_t end = d;
    int more = 0;
    for (; end < dims && used + more + width[end] <= 64; ++end) more += width[end];
    if (end > d) {
      append_cells<T>(all, range, width, d, end, keys);
      used += more;
      d = end;
      continue;
    }
    // There are at most 2^32 different keys, and as many different cells.
    if (used > 32) {
      number_keys(keys, all.threads);
      used = 32;
      continue;
    }
    std::vector<std::uint64_t> cells(all.rows.size());
    append_cells<T>(all, range, width, d, d + 1, cells);
    number_keys(cells, all.threads);
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = keys[i] << 32 | cells[i];
    used += 32;
    ++d;
  }
  return keys;
}

}  // namespace

std::vector<std::uint64_t> voxel_keys(PointView points, std::span<const std::uint32_t> rows, double size, int threads) {
  if (rows.empty()) return {};
  return core::visit_dtype(points.dtype(), [&](auto zero) {
    return keys_of<decltype(zero)>({points, rows, size, threads});
  });
}

}  // namespace kith::apps::inline v0
