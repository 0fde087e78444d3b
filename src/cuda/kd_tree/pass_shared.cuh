// What the kernels that read all points keep in shared memory.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/split_state.hpp"

namespace kith::cuda {

/// A node whose median is known down to a bin.
template <typename T>
struct ParentBins {
  T low, scale;
  std::uint32_t dim, median;
};

/// The nodes of three levels, for one pass.
template <typename T>
struct NodeTables {
  /// Exact splits of the level above the parents.
  struct Exact {
    T value;
    std::uint32_t dim, place;
  };
  ParentBins<T> parents[kHeap / 2];
  Bins<T> children[kHeap];
  Bins<T> seconds[kHeap];  ///< the other way to count a child
  Exact exact[kHeap / 2];
  std::uint8_t has_second[kHeap];
  bool uses_numbers;  ///< a node tells its points apart by their numbers
};

/// Candidates that a warp has found and not yet put into the lists of their nodes.
template <typename T>
struct FoundCandidates {
  static constexpr std::uint32_t kRoom = 128;
  OrderedKey<T> keys[kRoom];
  std::uint32_t places[kRoom];
  std::uint32_t counts[kHeap / 2];  ///< by node
  std::uint32_t bases[kHeap / 2];
  std::uint8_t nodes[kRoom];
};

template <typename T>
struct PassShared {
  NodeTables<T> tables;
  FoundCandidates<T> found[kPassThreads / kWarp];
};

template <typename T>
inline constexpr std::size_t kBehindPassShared = (sizeof(PassShared<T>) + 15) / 16 * 16;

template <typename T>
__device__ __forceinline__ PassShared<T>& pass_shared() {
  return *reinterpret_cast<PassShared<T>*>(shared_memory());
}

}  // namespace kith::cuda
