// The shared memory of the kernel split_group: tables, then counters or staged values, then two boxes of a segment.
//
// Functions that are not inlined take it from here, so that the compiler knows which memory it is.
#pragma once

#include "cuda/kd_tree/team.cuh"

namespace kith::cuda {

/// The nodes of three levels, for one pass.
template <typename T>
struct NodeTables {
  /// Exact splits of the level above the parents.
  struct Exact {
    T value;
    std::uint32_t dim, place;
  };
  struct Parent {
    Bins<T> bins;
    std::uint32_t median_bin;
  };
  Exact exact[kHeap / 2];
  Parent parents[kHeap / 2];
  CountedBins<T> children[kHeap / 2];
};

inline constexpr std::uint32_t kScatterEach = 8;  ///< points per thread and tile of the scatter

struct ScatterCells {
  std::uint32_t counts[kHeap];
  std::uint32_t offsets[kHeap];  ///< in the tile
  std::uint32_t places[kHeap];   ///< where the tile's points of a node go, less the offset; modulo 2^32
  std::uint32_t staged;          ///< points in the tile that move
  std::uint8_t node[kScatterEach * kGroupThreads];  ///< of each staged point
};

template <typename T>
struct GroupShared {
  NodeTables<T> tables;
  ScatterCells scatter;
  TeamCells cells;
  TeamCells warp_cells[kGroupThreads / kWarp];
  std::uint32_t select_histogram[kSelectBins];
};

template <typename T>
inline constexpr std::size_t kCountersAt = (sizeof(GroupShared<T>) + 15) / 16 * 16;
template <typename T>
inline constexpr std::size_t kRangesAt = kCountersAt<T> + (sizeof(T) * kScatterEach * kGroupThreads > 4 * kCounters
                                                               ? sizeof(T) * kScatterEach * kGroupThreads
                                                               : 4 * kCounters);

template <typename T>
KITH_HOST_DEVICE std::size_t group_shared_bytes(std::uint32_t dims) {
  return kRangesAt<T> + 2 * (sizeof(T) + sizeof(OrderedKey<T>)) * (std::size_t{dims} + 1);
}

template <typename T>
__device__ __forceinline__ GroupShared<T>& group_shared() {
  return *reinterpret_cast<GroupShared<T>*>(shared_memory());
}
/// kCounters of them.
template <typename T>
__device__ __forceinline__ std::uint32_t* group_counters() {
  return reinterpret_cast<std::uint32_t*>(shared_memory() + kCountersAt<T>);
}
/// Values of one tile, in the place of the counters.
template <typename T>
__device__ __forceinline__ T* staged_values() {
  return reinterpret_cast<T*>(shared_memory() + kCountersAt<T>);
}
/// [lower, upper][dims + 1]: between which values the points of a segment are counted in pass 0.
template <typename T>
__device__ __forceinline__ T* group_ranges() {
  return reinterpret_cast<T*>(shared_memory() + kRangesAt<T>);
}
/// [complement of the least, greatest][dims + 1]: the keys of the tight box.
template <typename T>
__device__ __forceinline__ OrderedKey<T>* group_tight(std::uint32_t dims) {
  return reinterpret_cast<OrderedKey<T>*>(group_ranges<T>() + 2 * (dims + 1));
}

}  // namespace kith::cuda
