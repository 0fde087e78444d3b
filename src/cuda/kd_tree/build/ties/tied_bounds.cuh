// What a cell that refines ties says of the points in it, so that a point is compared with it without a search for its
// own cell.
//
// By component of the super-key, coordinates of those points lie between two values, which are the same where the cell
// is that of a value. Where the cell is one between two values that ends it; else the plain cell of the last component
// that counts, mostly the number of the point, decides.
#pragma once

#include "cuda/kd_tree/build/ties/tied_cells.cuh"

#include <limits>

namespace kith::cuda {

inline constexpr std::uint32_t kNoDim = 0xffffffff;

/// What a cell says after the components that are compared.
struct TiedBoundEnd {
  std::uint32_t stages;       ///< components that are compared
  std::uint32_t dim;          ///< whose plain cells decide then; kNoDim: nothing does
  std::uint32_t first, last;  ///< those that belong to the cell
};

/// Of a cell of dimension `from`. Calls note(stage, low, high) for all components, for those that are not compared with
/// 0 and 0; whole warps.
template <typename T, typename Note>
__device__ __forceinline__ TiedBoundEnd find_tied_bound(const TieMap<T>& map, std::uint32_t from, std::uint32_t cell,
                                                        const Note& note) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::uint32_t dims = map.dims;
  TiedBoundEnd end{0, dims, 0, 0};
  std::uint32_t rest = cell, capacity = kLastCell + 1;
  bool goes_on = from < dims;
#pragma unroll 1
  for (std::uint32_t stage = 0; stage < dims; ++stage) {
    const std::uint32_t d = from + stage < dims ? from + stage : from + stage - dims;
    const std::uint32_t width = goes_on ? map.ties->widths[from][stage] : 0;
    if (goes_on && width == 0) end.dim = d;
    goes_on = goes_on && width > 0;
    T low = T(0), high = T(0);
    if (goes_on) {
      const std::uint32_t value = rest / (width + 1), within = rest - value * (width + 1), count = map.ties->count[d];
      const T* values = map.values(d);
      ++end.stages;
      if (within > 0 && value < count) {
        low = high = values[value];
        rest = within - 1;
        capacity = width;
      } else {  // between two values, or behind all that there are
        low = within > 0 || value > count ? kInfinity
              : value > 0                 ? value_of_key<T>(ordered_key(values[value - 1]) + 1)
                                          : -kInfinity;
        high = within == 0 && value < count ? value_of_key<T>(ordered_key(values[value]) - 1) : kInfinity;
        end.dim = kNoDim;
        goes_on = false;
      }
    }
    sync_warp();
    note(stage, low, high);
  }
  if (end.dim == kNoDim) return end;
  end.first = ((rest << kCellBits) + (capacity - 1)) / capacity;
  end.last = (((rest + 1) << kCellBits) - 1) / capacity;
  return end;
}

/// Between which plain cells of numbers the points of a median lie, if they are all equal otherwise.
struct EqualPoints {
  bool are_equal;
  std::uint32_t first, last;
};

/// What the first and the last cell of a median say of the points in them, noted in the tables of a segment if there
/// are any for that. The work of one warp: a lane looks at the first one, another at the last.
template <typename T>
__device__ __forceinline__ EqualPoints find_tied_bounds(const TieMap<T>& map, const MedianCells& median,
                                                        TiedBounds<T>* tables, std::uint32_t node) {
  const std::uint32_t side = lane_number() % 2;
  const bool notes = tables != nullptr && lane_number() < 2;
  bool is_one = median.dim < map.dims;
  const TiedBoundEnd end =
      find_tied_bound(map, median.dim, side == 0 ? median.first : median.last, [&](std::uint32_t stage, T low, T high) {
        const T other = shuffle_xor(low, 1);
        is_one = is_one && low == other;
        if (!notes) return;
        tables->low[side][stage][node] = low;
        tables->high[side][stage][node] = high;
      });
  if (notes) {
    tables->stages[side][node] = end.stages;
    tables->dim[side][node] = end.dim;
    tables->cell[side][node] = side == 0 ? end.first : end.last;
  }
  sync_warp();
  is_one = is_one && end.stages == map.dims && end.dim == map.dims;
  return {!any_lane(!is_one), shuffle(end.first, 0), shuffle(end.last, 1)};
}

/// Whether a point lies before the first cell of a median, or behind the last one (`kSide` 0 and 1). `at(stage)` are
/// its coordinates in the order of the super-key, `plain(d)` is its plain cell in dimension d.
template <std::uint32_t kSide, typename Bounds, typename At, typename Plain>
__device__ __forceinline__ bool is_outside(const Bounds& bounds, std::uint32_t node, const At& at, const Plain& plain) {
  const std::uint32_t stages = bounds.stages[kSide][node], dim = bounds.dim[kSide][node];
#pragma unroll 1
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const auto x = at(stage);
    if (x < bounds.low[kSide][stage][node]) return kSide == 0;
    if (x > bounds.high[kSide][stage][node]) return kSide == 1;
  }
  if (dim == kNoDim) return false;
  const std::uint32_t cell = plain(dim), limit = bounds.cell[kSide][node];
  return kSide == 0 ? cell < limit : cell > limit;
}

}  // namespace kith::cuda
