// Cells that refine ties, for dimensions of few values.
//
// The cells of a dimension need to follow the order of the super-key only, (x_d, x_(d+1), …, number). Where a dimension
// has few values, a table of them gives each one that lies in the range of the segment as many cells of its own, and a
// cell between two neighbours to whatever the table does not know. Among the cells of a value the next component
// decides by the same rule, or by its plain cell for want of a table or of room, and after the last one the number of
// the point. So ties are spread over cells as if they were none, and a table that is wrong costs time, nothing else.
//
// Pass 0 finds the cells of all points. What a cell says of the points in it is told by tied_bounds.cuh, what it is in
// another dimension by tied_recode.cuh.
#pragma once

#include "cuda/kd_tree/build/passes/cells.cuh"

namespace kith::cuda {

/// The tables, and how a segment uses them.
template <typename T>
struct TieMap {
  const TiedCells<T>* ties;
  const T* tables;
  std::uint32_t dims;

  __device__ __forceinline__ TieMap(const TiedCells<T>* of_segment, const T* all_tables, std::uint32_t of_dims)
      : ties(of_segment), tables(all_tables), dims(of_dims) {}
  __device__ __forceinline__ TieMap(const GroupParameters<T>& p, std::uint32_t segment)
      : ties(p.ties + segment), tables(p.tables), dims(p.shape.dims) {}

  /// The values of dimension d in the range.
  __device__ __forceinline__ const T* values(std::uint32_t d) const {
    return tables + d * kTableValues + ties->first[d];
  }
};

/// How many of the first `count` values of a table are less than each x. They are looked up side by side.
template <std::uint32_t kEach, typename T>
__device__ __forceinline__ void values_below(const T* values, std::uint32_t count, const T (&x)[kEach],
                                             std::uint32_t (&below)[kEach]) {
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) below[k] = 0;
#pragma unroll 1
  for (; count > 1; count -= count / 2) {
    const T* middle = values + count / 2 - 1;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) below[k] += middle[below[k]] < x[k] ? count / 2 : 0;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) below[k] += count > 0 && values[below[k]] < x[k] ? 1 : 0;
}

/// Where each x lies among the values of its dimension: 2 i + 1 if it is value i, 2 i if it lies before that.
template <std::uint32_t kEach, typename T>
__device__ __forceinline__ void find_slots(const TieMap<T>& map, std::uint32_t d, const T (&x)[kEach],
                                           std::uint32_t (&slots)[kEach]) {
  const std::uint32_t count = map.ties->count[d];
  const T* values = map.values(d);
  values_below(values, count, x, slots);
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    slots[k] = 2 * slots[k] + (slots[k] < count && values[slots[k]] == x[k] ? 1 : 0);
  }
}
template <typename T>
__device__ __forceinline__ std::uint32_t slot_of(const TieMap<T>& map, std::uint32_t d, T x) {
  const T one[1] = {x};
  std::uint32_t slots[1];
  find_slots(map, d, one, slots);
  return slots[0];
}

/// The first cell of a slot, if each value has `width` of them.
__device__ __forceinline__ std::uint32_t first_of_slot(std::uint32_t slot, std::uint32_t width) {
  return slot / 2 * (width + 1) + slot % 2;
}

/// The cell of a point in dimension d, given `slot(e)` and, for dimensions without a table and for its number, the
/// plain cell `plain(e)`. Another one on the same side of the cells from `first` to `last`, if it is not among them.
/// kDims: 0 if the compiler does not know.
template <std::uint32_t kDims, typename T, typename Slot, typename Plain>
__device__ __forceinline__ std::uint32_t tied_cell(const TieMap<T>& map, std::uint32_t d, const Slot& slot,
                                                   const Plain& plain, std::uint32_t first = 0,
                                                   std::uint32_t last = kLastCell) {
  const std::uint32_t dims = kDims > 0 ? kDims : map.dims, stages = d < dims ? dims : 0;
  std::uint32_t base = 0, capacity = kLastCell + 1;
#pragma unroll(kDims > 0 ? kDims : 1)
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t e = d + stage < dims ? d + stage : d + stage - dims;
    const std::uint32_t width = map.ties->widths[d][stage];
    if (width == 0) return base + (plain(e) * capacity >> kCellBits);
    const std::uint32_t own = slot(e);
    base += first_of_slot(own, width);
    if (own % 2 == 0) return base;
    capacity = width;
    if (base > last || base + capacity <= first) return base;
  }
  return base + (plain(dims) * capacity >> kCellBits);
}

/// The same for the point at a place.
template <typename T>
KITH_NOINLINE __device__ std::uint32_t tied_cell_at(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t d,
                                                    std::uint32_t place, std::uint32_t first, std::uint32_t last) {
  const TieMap<T> map(p, segment);
  const auto slot = [&](std::uint32_t e) { return slot_of(map, e, p.source.at(place, e)); };
  const auto plain = [&](std::uint32_t e) {
    const T x = e < map.dims ? p.source.at(place, e) : static_cast<T>(p.source.index(place));
    return cell_of(map.ties->scales[e], x);
  };
  return tied_cell<0>(map, d, slot, plain, first, last);
}

/// The cell of a corner in dimension d, given its coordinates `at(e)`.
template <typename T, typename At>
__device__ __forceinline__ std::uint32_t tied_cell_of_corner(const TieMap<T>& map, std::uint32_t d, const At& at) {
  return tied_cell<0>(
      map, d, [&](std::uint32_t e) { return slot_of(map, e, at(e)); },
      [&](std::uint32_t e) { return cell_of(map.ties->scales[e], at(e)); });
}

/// The bins of a segment in pass 0; see root_bins.
template <typename T>
KITH_NOINLINE __device__ CellBins tied_root_bins(const GroupParameters<T>& p, const TieMap<T> map,
                                                 std::uint32_t segment, std::uint32_t d, std::uint32_t count) {
  if (p.segment_windows == nullptr || d == map.dims) return bins_over(0, kLastCell, d, count);
  const auto side = [&](std::uint32_t e, bool is_upper) {
    const T* box = e == d ? p.segment_windows : p.segment_boxes;
    return box[std::uint64_t{segment} * 2 * (map.dims + 1) + (is_upper ? map.dims + 1 : 0) + e];
  };
  std::uint32_t cells[2];
#pragma unroll 1
  for (std::uint32_t i = 0; i < 2; ++i) {  // from that of the lower corner to that of the upper one
    cells[i] = tied_cell_of_corner(map, d, [&](std::uint32_t e) { return side(e, i == 1); });
  }
  return bins_over(cells[0], cells[1], d, count);
}

/// Half of a node whose split is known but for some cells.
template <typename T>
struct HalfOfNode {
  std::uint32_t dim;    ///< of the split
  SplitRange<T> range;  ///< of the half, in that dimension
  const T* box;         ///< of the node
};

/// The first or the last cell of a half in dimension d.
template <typename T>
__device__ __forceinline__ std::uint32_t tied_cell_of_half(const TieMap<T>& map, const HalfOfNode<T>& half,
                                                           std::uint32_t d, bool is_last) {
  return tied_cell_of_corner(map, d, [&](std::uint32_t e) {
    if (e == half.dim) return is_last ? half.range.high : half.range.low;
    return half.box[(is_last ? map.dims + 1 : 0) + e];
  });
}

/// See split_range.
template <typename T>
KITH_NOINLINE __device__ SplitRange<T> tied_split_range(const TieMap<T> map, const MedianCells median, T box_low,
                                                        T box_high) {
  const std::uint32_t d = median.dim, width = d < map.dims ? map.ties->widths[d][0] : 0;
  if (width == 0) return split_range(map.ties->scales[d], median, box_low, box_high);
  const std::uint32_t count = map.ties->count[d], before = (median.first + width) / (width + 1),
                      after = median.last / (width + 1);
  const T* values = map.values(d);
  // The first cell is that of value before - 1 or lies between it and the next; the last one is that of value `after`
  // or lies before it.
  SplitRange<T> range{box_low, box_high};
  if (before > 0 && values[(before < count ? before : count) - 1] > box_low) {
    range.low = values[(before < count ? before : count) - 1];
  }
  if (after < count && values[after] < box_high) range.high = values[after];
  return range;
}

}  // namespace kith::cuda
