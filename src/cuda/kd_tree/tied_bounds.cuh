// What a cell that refines ties says of the points in it, so that a point is compared with it without a search for its
// own cell.
//
// By component of the super-key, coordinates of those points lie between two values, which are the same where the cell
// is that of a value. Where the cell is one between two values that ends it; else the plain cell of the last component
// that counts, mostly the number of the point, decides.
#pragma once

#include "cuda/kd_tree/tied_cells.cuh"

#include <limits>

namespace kith::cuda {

inline constexpr std::uint32_t kNoDim = 0xffffffff;

template <typename T>
struct TiedBound {
  T low[kTabledDims], high[kTabledDims];  ///< by component
  std::uint32_t stages;                   ///< components that are compared so
  std::uint32_t dim;                      ///< whose plain cells decide then; kNoDim: nothing does
  std::uint32_t first, last;              ///< those that belong to the cell
};

/// Of a cell of dimension `from`.
template <typename T>
KITH_NOINLINE __device__ void find_tied_bound(const TieMap<T>& map, std::uint32_t from, std::uint32_t cell,
                                              TiedBound<T>& bound) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::uint32_t dims = map.dims;
  std::uint32_t rest = cell, room = kLastCell + 1;
  bound.stages = bound.first = bound.last = 0;
  bound.dim = dims;
#pragma unroll 1
  for (std::uint32_t stage = 0; from < dims && stage < dims; ++stage) {
    const std::uint32_t d = from + stage < dims ? from + stage : from + stage - dims;
    const std::uint32_t width = map.ties->widths[from][stage], count = map.ties->count[d];
    if (width == 0) {
      bound.dim = d;
      break;
    }
    const std::uint32_t value = rest / (width + 1), within = rest - value * (width + 1);
    const T* values = map.values(d);
    ++bound.stages;
    if (within == 0 && value <= count) {  // between two values
      bound.low[stage] = value > 0 ? value_of_key<T>(ordered_key(values[value - 1]) + 1) : -kInfinity;
      bound.high[stage] = value < count ? value_of_key<T>(ordered_key(values[value]) - 1) : kInfinity;
      bound.dim = kNoDim;
      return;
    }
    if (value >= count) {  // behind all that there are
      bound.low[stage] = bound.high[stage] = kInfinity;
      bound.dim = kNoDim;
      return;
    }
    bound.low[stage] = bound.high[stage] = values[value];
    rest = within - 1;
    room = width;
  }
  bound.first = ((rest << kCellBits) + (room - 1)) / room;
  bound.last = (((rest + 1) << kCellBits) - 1) / room;
}

/// Notes the bounds of the cells of a median in the tables of a segment.
template <typename T>
__device__ __forceinline__ void note_tied_bounds(TiedBounds<T>& tables, std::uint32_t dims, std::uint32_t node,
                                                 const TiedBound<T> (&bounds)[2]) {
#pragma unroll 1
  for (std::uint32_t side = 0; side < 2; ++side) {
    const TiedBound<T>& bound = bounds[side];
#pragma unroll 1
    for (std::uint32_t stage = 0; stage < dims; ++stage) {
      tables.low[side][stage][node] = stage < bound.stages ? bound.low[stage] : T(0);
      tables.high[side][stage][node] = stage < bound.stages ? bound.high[stage] : T(0);
    }
    tables.stages[side][node] = bound.stages;
    tables.dim[side][node] = bound.dim;
    tables.cell[side][node] = side == 0 ? bound.first : bound.last;
  }
}

/// Whether all points from one cell to another are equal but for their numbers.
template <typename T>
__device__ __forceinline__ bool bound_one_point(std::uint32_t dims, const TiedBound<T> (&bounds)[2]) {
  bool is_one = true;
#pragma unroll 1
  for (std::uint32_t side = 0; side < 2; ++side) {
    is_one = is_one && bounds[side].stages == dims && bounds[side].dim == dims;
  }
#pragma unroll 1
  for (std::uint32_t stage = 0; is_one && stage < dims; ++stage) {
    is_one = bounds[0].low[stage] == bounds[1].low[stage];
  }
  return is_one;
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
