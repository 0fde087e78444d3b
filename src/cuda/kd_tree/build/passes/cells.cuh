// Coordinates as the passes of a group see them: 16 bits each.
//
// The range of a segment is cut into 65536 cells per dimension; what lies outside is in the outer ones. Pass 0 notes
// the cells of every point, and the passes that follow read 2 bytes instead of 4 or 8. Rounding is monotone, so the
// order of the cells is the order of the points, and points in the cell of a median are told apart by their exact
// coordinates: however coarse the cells are, the splits are exact. Bins are of some cells each, in whole numbers.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/build/passes/segment_slice.cuh"
#include "cuda/kd_tree/build/team.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kCellBits = 16, kLastCell = (1u << kCellBits) - 1;

/// Between which values the points of a segment lie, most of them at least. Dimension `dims` is their number.
template <typename T>
__device__ __forceinline__ T range_side(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t d,
                                        bool is_upper) {
  const std::uint32_t sides = p.shape.dims + 1;
  return p.segment_boxes[std::uint64_t{segment} * 2 * sides + (is_upper ? sides + d : d)];
}

template <typename T>
__device__ __forceinline__ CellScale<T> scale_of_range(T low, T high) {
  constexpr T kMost = sizeof(T) == 4 ? T(1e38) : T(1e300);
  T scale = high > low ? T(kLastCell + 1) / (high - low) : T(0);
  if (!(scale < kMost)) scale = kMost;
  return {low, scale};
}

template <typename T>
__device__ __forceinline__ CellScale<T> cell_scale(const GroupParameters<T>& p, std::uint32_t segment,
                                                   std::uint32_t d) {
  return scale_of_range(range_side(p, segment, d, false), range_side(p, segment, d, true));
}

/// Monotone, because subtraction and multiplication are monotone under rounding. An infinite difference times a scale
/// of 0 is no number: that is cell 0, as all others are then.
template <typename T>
__device__ __forceinline__ std::uint32_t cell_of(const CellScale<T>& scale, T x) {
  T at = (x - scale.low) * scale.scale;
  if constexpr (sizeof(T) == 8) at = greater(T(0), at);  // to_unsigned makes 0 of floats that are no numbers
  const std::uint32_t cell = to_unsigned(at);
  return cell < kLastCell ? cell : kLastCell;
}

/// The same, where it is rarely asked.
template <typename T>
KITH_NOINLINE __device__ CellScale<T> distant_scale(const GroupParameters<T>& p, std::uint32_t segment,
                                                    std::uint32_t d) {
  return cell_scale(p, segment, d);
}

/// The scales of a segment in shared memory, if its dims are few. The block must synchronise afterwards.
template <typename T>
__device__ __forceinline__ void stage_scales(const GroupParameters<T>& p, std::uint32_t segment) {
  const std::uint32_t dims = p.shape.dims, d = threads_per_block() - 1 - thread_number();
  if (dims > kStagedDims || d > dims) return;
  reinterpret_cast<CellScale<T>*>(shared_memory() + StepLayout<T>(dims, 0, false, 0).scales)[d] =
      cell_scale(p, segment, d);
}
template <typename T>
__device__ __forceinline__ CellScale<T> staged_scale(const GroupParameters<T>& p, std::uint32_t segment,
                                                     std::uint32_t d) {
  if (p.shape.dims > kStagedDims) return distant_scale(p, segment, d);
  return reinterpret_cast<const CellScale<T>*>(shared_memory() + StepLayout<T>(p.shape.dims, 0, false, 0).scales)[d];
}

/// Bins over the cells from `first` to `last`; others fall into the first or the last. At most one for each cell.
__device__ __forceinline__ CellBins bins_over(std::uint32_t first, std::uint32_t last, std::uint32_t dim,
                                              std::uint32_t count) {
  const std::uint32_t cells = last > first ? last - first + 1 : 1;
  // Any scale is right that does not run out of bins too early, so a quick quotient will do.
  constexpr std::uint32_t kMost = 1u << kCellBits;
  const std::uint32_t scale = to_unsigned(rough_quotient(static_cast<float>(count) * kMost, static_cast<float>(cells)));
  return {first, scale < 1 ? 1 : scale < kMost ? scale : kMost, dim, count};
}

/// Bins over the cells of a median, such that none of these is in an outer bin, which holds all that lies outside.
__device__ __forceinline__ CellBins bins_around(const MedianCells& median, std::uint32_t count) {
  const std::uint32_t outer = (median.last - median.first + 1) / (count - 2) + 1;
  return bins_over(median.first > outer ? median.first - outer : 0,
                   median.last + outer < kLastCell ? median.last + outer : kLastCell, median.dim, count);
}

__device__ __forceinline__ std::uint32_t bin_of(const CellBins& bins, std::uint32_t cell) {
  const std::uint32_t last = bins.count - 1;
  const std::uint32_t bin = (cell > bins.low ? cell - bins.low : 0) * bins.scale >> kCellBits;
  return bin < last ? bin : last;
}

/// The bins of a segment in pass 0: where its median may lie, or over all cells.
template <typename T>
__device__ __forceinline__ CellBins root_bins(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t d,
                                              const CellScale<T>& scale, std::uint32_t count) {
  if (p.segment_windows == nullptr || d == p.shape.dims) return bins_over(0, kLastCell, d, count);
  const T* window = p.segment_windows + std::uint64_t{segment} * 2 * (p.shape.dims + 1) + d;
  return bins_around({d, cell_of(scale, window[0]), cell_of(scale, window[p.shape.dims + 1])}, count);
}

/// The cells of a bin.
__device__ __forceinline__ MedianCells cells_of(const CellBins& bins, std::uint32_t bin) {
  // The first cell of a bin: a rough quotient is off by one at most.
  const auto first_of = [&](std::uint32_t b) {
    const std::uint32_t from = b << kCellBits;
    std::uint32_t cell = to_unsigned(rough_quotient(static_cast<float>(from), static_cast<float>(bins.scale)));
    if (cell > 0 && cell * bins.scale >= from) --cell;
#pragma unroll
    for (std::uint32_t i = 0; i < 2; ++i) cell += cell * bins.scale < from ? 1 : 0;
    return bins.low + cell;
  };
  MedianCells cells{bins.dim, bin == 0 ? 0 : first_of(bin), bin + 1 == bins.count ? kLastCell : first_of(bin + 1) - 1};
  if (cells.last > kLastCell) cells.last = kLastCell;
  return cells;
}

/// Where the split of a node lies for certain, given the cells of its median, and with it all points in them.
template <typename T>
struct SplitRange {
  T low, high;
};

template <typename T>
__device__ __forceinline__ SplitRange<T> split_range(const CellScale<T>& scale, const MedianCells& median, T box_low,
                                                     T box_high) {
  constexpr T kMost = sizeof(T) == 4 ? T(1e33) : T(1e300);  // times all cells is a number
  const T width = T(1) / scale.scale;
  if (!(width < kMost)) return {box_low, box_high};
  // A cell more on both sides makes up for all rounding.
  SplitRange<T> range{scale.low + (static_cast<T>(median.first) - T(1)) * width,
                      scale.low + (static_cast<T>(median.last) + T(2)) * width};
  if (median.first == 0 || !(range.low > box_low)) range.low = box_low;
  if (median.last == kLastCell || !(range.high < box_high)) range.high = box_high;
  return range;
}

}  // namespace kith::cuda
