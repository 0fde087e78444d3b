// What a group of levels works on. A group splits the nodes of one level, its segments, into the nodes `levels` below;
// inside a segment nodes have heap numbers: 1 is the segment itself, 2h and 2h + 1 are the halves of h.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/kd_tree/tuning.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t kMostGroupLevels = core::kTightBoxEvery;
inline constexpr std::uint32_t kHeap = 1u << kMostGroupLevels;  ///< heap numbers per segment, 0 unused

/// How a coordinate of a segment's points is rounded to cells; cells.cuh tells more.
template <typename T>
struct CellScale {
  T low = 0;
  T scale = 0;
};

/// How the cells of a segment refine ties; tied_cells.cuh tells more.
template <typename T>
struct TiedCells {
  CellScale<T> scales[kTabledDims + 1];  ///< of plain cells
  /// By dimension and component of its super-key: the cells of each value; 0: plain ones, for want of a table or room.
  std::uint16_t widths[kTabledDims][kTabledDims];
  std::uint16_t first[kTabledDims], count[kTabledDims];  ///< the values of a table that lie in the range
};

/// Where cells refine ties: what the first and the last cell of the medians of a segment's last level say of the points
/// in them, by node; tied_bounds.cuh tells more. As many nodes lie in a row as there are lanes: those that look up
/// different ones do not wait for each other.
template <typename T, std::uint32_t kMostDims = kTabledDims>
struct TiedBounds {
  static constexpr std::uint32_t kNodes = kHeap / 2;

  T low[2][kMostDims][kNodes], high[2][kMostDims][kNodes];
  std::uint32_t stages[2][kNodes];
  std::uint32_t dim[2][kNodes];
  std::uint32_t cell[2][kNodes];
};

/// Bins of some cells each. Dimension `dims` stands for the number of the point.
struct CellBins {
  std::uint32_t low = 0;    ///< the first cell
  std::uint32_t scale = 0;  ///< bins in 65536 cells
  std::uint32_t dim = 0;
  std::uint32_t count = 0;  ///< of bins
};

/// The cells of a coordinate among which the median of a node lies.
struct MedianCells {
  std::uint32_t dim = 0;
  std::uint32_t first = 0, last = 0;
};

/// A node whose median is known down to some cells, and later exactly.
template <typename T>
struct SplitNode {
  MedianCells median;
  CellScale<T> scale;             ///< of that coordinate; where cells refine ties, the range in which its split lies
  std::uint32_t needed = 0;       ///< how many points of those cells go left
  std::uint32_t candidates = 0;   ///< points of those cells found so far
  std::uint32_t split_place = 0;  ///< of the first point of the right half
  T split_value = 0;              ///< its coordinate, in the dimension of the cells
  /// If all points of those cells are equal, their numbers lie between these and tell them apart; else there are none.
  std::uint32_t first_number = 1, last_number = 0;

  KITH_HOST_DEVICE bool are_equal() const { return first_number <= last_number; }
};

/// How the points of a node are counted before its box is known exactly: by the one or two dimensions that can win.
struct CountedBins {
  CellBins slots[2];
  std::uint32_t used = 0;
  std::uint32_t unused = 0;
};

/// What blocks that resolve one long list share. All zero at the start.
struct ListCells {
  std::uint32_t arrived;
  std::uint32_t few;
  std::uint32_t few_places[kFewCandidates];
  std::uint64_t few_keys[kFewCandidates];
  std::uint64_t least[3];                   ///< complement of the least key, by barrier
  std::uint64_t greatest[3];                ///< by barrier
  std::uint32_t histogram[3][kSelectBins];  ///< by barrier
};

template <typename T>
struct GroupParameters {
  using Key = OrderedKey<T>;

  TreeShape shape;
  std::uint32_t first_level = 0;
  std::uint32_t levels = 0;
  std::uint32_t most_bins = kMostBins;
  bool uses_all_counters = false;  ///< of the histograms
  PointSource<T> source;

  T* out_values = nullptr;  ///< coordinate d of the point at place i at d * out_stride + i
  std::uint64_t out_stride = 0;
  std::uint32_t* out_indices = nullptr;
  TreeArrays<T> tree;  ///< the splits of these levels are written

  /// Boxes have dims + 1 sides: the last is the range of the numbers of the points.
  const T* segment_boxes = nullptr;    ///< [segment][lower, upper][dims + 1]: cut, at the root root_range
  T* root_range = nullptr;             ///< pass 0 notes here how far a sample of all points reaches; root only
  const T* segment_windows = nullptr;  ///< the same: about where the medians lie; null: unknown
  T* child_boxes = nullptr;            ///< [segment << levels][lower, upper][child_sides]
  T* child_windows = nullptr;          ///< the same, if there are samples and another group follows
  std::uint32_t child_sides = 0;       ///< dims, or dims + 1 if another group follows

  /// The cells of all points, coordinate d of the point at place i at d * cell_stride + i: where the scatter will write
  /// the numbers, and, from the third coordinate on, the coordinates.
  std::uint16_t* first_cells = nullptr;
  std::uint16_t* other_cells = nullptr;  ///< from the third coordinate on
  std::uint64_t cell_stride = 0;

  KITH_HOST_DEVICE std::uint16_t* cells(std::uint32_t d) const {
    return d < 2 ? first_cells + d * cell_stride : other_cells + (d - 2) * cell_stride;
  }

  // Where dimensions have few values; null if there are too many dims.
  T* tables = nullptr;                    ///< [dimension][kTableValues]: ascending
  std::uint32_t* table_counts = nullptr;  ///< [dimension]: values in its table; 0: there is none
  std::uint32_t* tied = nullptr;          ///< [segment]: whether its cells refine ties
  TiedCells<T>* ties = nullptr;           ///< [segment]: how, if so
  TiedBounds<T>* tied_bounds = nullptr;   ///< [segment]: of its last level, if so

  // Scratch. Zero at the start: table_counts, tied, nodes, tight, histogram, cursors, lists, sample_heaps.
  std::uint8_t* heap = nullptr;  ///< [place]: the node of each point, or its parent while undecided
  // Lists of candidates, in the range of their node (ListEntries), in the copy of the points that only the scatter
  // writes: keys where the first coordinate will be, places where the second one will be, or, of the last level, which
  // the scatter lists, where the number will be.
  Key* keys = nullptr;
  /// In the last level, when its splits are known: the source place of each candidate, where it goes, `place_words`
  /// apart.
  std::uint32_t* places = nullptr;
  std::uint32_t place_words = 1;
  SplitNode<T>* nodes = nullptr;       ///< [segment][heap]
  CountedBins* counted = nullptr;      ///< [segment][heap]
  T* boxes = nullptr;                  ///< [segment][heap][lower, upper][dims + 1]
  Key* tight = nullptr;                ///< [segment][complement of the least, greatest][dims + 1]
  std::uint32_t* histogram = nullptr;  ///< [segment][segment_counters]
  std::uint32_t segment_counters = 0;
  std::uint32_t parts = 1;               ///< blocks that share a segment in a pass
  std::uint8_t* sample_heaps = nullptr;  ///< [segment][sample]: the node of each; 0: there is none
  T* sample_values = nullptr;            ///< [segment][dimension][sample]
  std::uint32_t* uneven = nullptr;       ///< [segment]: whether samples are looked at; written after pass 0
  std::uint32_t sample_shift = 0;        ///< the logarithm of the points per sample; 0: there are no samples
  std::uint32_t samples = 0;             ///< of a segment, at most
  std::uint32_t* cursors = nullptr;      ///< [segment << levels] points moved so far
  ListCells* lists = nullptr;            ///< one per node, level by level, while blocks share lists
  std::uint32_t* refused = nullptr;      ///< set if a coordinate is not finite; only the finish asks
};

/// Bins for which each histogram at local level l has room: the root counts every dimension, other nodes at most two.
KITH_HOST_DEVICE inline std::uint32_t bins_at(std::uint32_t level, std::uint32_t dims, std::uint32_t most) {
  std::uint32_t bins = level == 0 ? kMostBins : kCounters >> (level + 1);
  while (level == 0 && bins > 1 && bins * (std::uint64_t{dims} + 1) > kCounters) bins /= 2;
  return bins < most ? bins : most;
}
/// Bins of a node that is counted by one dimension: it may have the counters of both. Not if `most` is less.
KITH_HOST_DEVICE inline std::uint32_t wide_bins_at(std::uint32_t level, std::uint32_t dims, std::uint32_t most,
                                                   bool uses_all_counters) {
  const std::uint32_t bins = kCounters >> level;
  return uses_all_counters ? (bins < most ? bins : most) : bins_at(level, dims, most);
}

}  // namespace kith::cuda
