// What the kernels that read all points keep in shared memory.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/split_state.hpp"

namespace kith::cuda {

/// A node whose median is known down to a bin.
template <typename T>
struct ParentBins {
  Bins<T> bins;
  std::uint32_t median;
};

/// How a child is counted.
template <typename T>
struct ChildBins {
  Bins<T> bins;
  bool has_second;  ///< there is another way, too
};

/// One word for each of some nodes, so often in memory that the lanes of a warp never wait for each other, whichever
/// nodes they look up.
template <typename Word, std::uint32_t kEntries>
class LaneTable {
 public:
  __device__ __forceinline__ Word at(std::uint32_t entry) const { return words_[entry][lane_number() % kCopies]; }
  /// The word for lane `lane` and its like; 32 of them make it whole.
  __device__ __forceinline__ void fill(std::uint32_t entry, std::uint32_t lane, Word word) {
    words_[entry][lane % kCopies] = word;
  }

 private:
  static constexpr std::uint32_t kCopies = 128 / sizeof(Word);
  Word words_[kEntries][kCopies];
};

/// The nodes of three levels, for one pass.
template <typename T>
struct NodeTables {
  /// Exact splits of the level above the parents.
  struct Exact {
    T value;
    std::uint32_t dim, place;
  };
  LaneTable<T, kHeap / 2> parent_lows, parent_scales;
  LaneTable<std::uint32_t, kHeap / 2> parent_dims_and_medians;
  LaneTable<T, kHeap> child_lows, child_scales;
  LaneTable<std::uint32_t, kHeap> child_dims;
  Bins<T> seconds[kHeap];  ///< the other way to count a child
  Exact exact[kHeap / 2];
  bool uses_numbers;  ///< a node tells its points apart by their numbers

  // Medians are bins, which take 11 bits; dims take 13.
  static constexpr std::uint32_t kMedianBits = 12;
  static_assert(kMostBins <= 1u << kMedianBits);

  __device__ __forceinline__ ParentBins<T> parent(std::uint32_t node) const {
    const std::uint32_t packed = parent_dims_and_medians.at(node);
    return {{parent_lows.at(node), parent_scales.at(node), packed >> kMedianBits}, packed & ((1u << kMedianBits) - 1)};
  }
  __device__ __forceinline__ std::uint32_t parent_dim(std::uint32_t node) const {
    return parent_dims_and_medians.at(node) >> kMedianBits;
  }
  /// 32 threads, one for each lane, set a node.
  __device__ void set_parent(std::uint32_t node, std::uint32_t lane, const SplitNode<T>& known) {
    parent_lows.fill(node, lane, known.bins.low);
    parent_scales.fill(node, lane, known.bins.scale);
    parent_dims_and_medians.fill(node, lane, known.bins.dim << kMedianBits | known.median_bin);
  }
  __device__ __forceinline__ ChildBins<T> child(std::uint32_t node) const {
    const std::uint32_t packed = child_dims.at(node);
    return {{child_lows.at(node), child_scales.at(node), packed >> 1}, (packed & 1) != 0};
  }
  __device__ void set_child(std::uint32_t node, std::uint32_t lane, const CountedBins<T>& counted) {
    child_lows.fill(node, lane, counted.slots[0].low);
    child_scales.fill(node, lane, counted.slots[0].scale);
    child_dims.fill(node, lane, counted.slots[0].dim << 1 | (counted.used > 1 ? 1 : 0));
    if (lane == 0 && counted.used > 1) seconds[node] = counted.slots[1];
  }
};

/// Candidates that a warp has found and not yet put into the lists of their nodes.
template <typename T>
struct FoundCandidates {
  static constexpr std::uint32_t kRoom = sizeof(T) == 4 ? 128 : 96;
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
