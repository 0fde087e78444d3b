// What the kernels that read all points keep in shared memory.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/split_state.hpp"

namespace kith::cuda {

/// A node whose median is known down to a bin: a point in bins up to `last` but not before `median` may be it. What
/// lies behind the last bin counts as in it.
template <typename T>
struct ParentBins {
  Bins<T> bins;
  std::uint32_t median, last;

  __device__ __forceinline__ std::uint32_t bin_of(T x) const { return to_unsigned((x - bins.low) * bins.scale); }
};

/// How a child is counted.
template <typename T>
struct ChildBins {
  Bins<T> bins;
  bool has_second;  ///< there is another way, too
};

/// The nodes of three levels, for one pass. There are at most 32 on each, and a table has 32 words in a row: whichever
/// nodes the lanes of a warp look up, they do not wait for each other.
template <typename T>
struct NodeTables {
  static constexpr std::uint32_t kMost = kHeap / 2;
  /// Exact splits of the level above the parents.
  struct Exact {
    T value;
    std::uint32_t dim, place;
  };
  T parent_lows[kMost], parent_scales[kMost];
  std::uint32_t parent_dims_and_medians[kMost];
  T child_lows[kMost], child_scales[kMost];
  std::uint32_t child_dims[kMost];
  Bins<T> seconds[kMost];  ///< the other way to count a child
  Exact exact[kMost / 2];

  // Medians are bins, which take 11 bits; whether one is the last takes 1, dims take 13.
  static constexpr std::uint32_t kMedianBits = 12, kIsLast = 1u << kMedianBits;
  static_assert(kMostBins <= kIsLast);

  __device__ __forceinline__ ParentBins<T> parent(std::uint32_t node) const {
    const std::uint32_t packed = parent_dims_and_medians[node];
    const std::uint32_t median = packed & (kIsLast - 1);
    return {{parent_lows[node], parent_scales[node], packed >> (kMedianBits + 1)},
            median,
            (packed & kIsLast) != 0 ? 0xffffffffu : median};
  }
  __device__ __forceinline__ std::uint32_t parent_dim(std::uint32_t node) const {
    return parent_dims_and_medians[node] >> (kMedianBits + 1);
  }
  __device__ void set_parent(std::uint32_t node, const SplitNode<T>& known) {
    parent_lows[node] = known.bins.low;
    parent_scales[node] = known.bins.scale;
    parent_dims_and_medians[node] = known.bins.dim << (kMedianBits + 1) |
                                    (known.median_bin + 1 == known.bins.count ? kIsLast : 0) | known.median_bin;
  }
  /// `bins` is the number if there is another way, `wide_bins` if there is none.
  __device__ __forceinline__ ChildBins<T> child(std::uint32_t node, std::uint32_t bins, std::uint32_t wide_bins) const {
    const std::uint32_t packed = child_dims[node];
    const bool has_second = (packed & 1) != 0;
    return {{child_lows[node], child_scales[node], packed >> 1, has_second ? bins : wide_bins}, has_second};
  }
  __device__ void set_child(std::uint32_t node, const CountedBins<T>& counted) {
    child_lows[node] = counted.slots[0].low;
    child_scales[node] = counted.slots[0].scale;
    child_dims[node] = counted.slots[0].dim << 1 | (counted.used > 1 ? 1 : 0);
    if (counted.used > 1) seconds[node] = counted.slots[1];
  }
};

/// Candidates that a warp has found and not yet put into the lists of their nodes.
template <typename T, std::uint32_t kRoom>
struct FoundCandidates {
  OrderedKey<T> keys[kRoom];
  std::uint32_t places[kRoom];
  std::uint32_t counts[kHeap / 2];  ///< by node
  std::uint32_t bases[kHeap / 2];
  std::uint8_t nodes[kRoom];
};

/// The tables come first, then what the warps have found; the rest lies behind.
template <typename T>
inline constexpr std::size_t kBehindTables = (sizeof(NodeTables<T>) + 15) / 16 * 16;
template <typename T, std::uint32_t kRoom>
KITH_HOST_DEVICE constexpr std::size_t behind_found(std::uint32_t threads) {
  return (kBehindTables<T> + sizeof(FoundCandidates<T, kRoom>) * (threads / 32) + 15) / 16 * 16;
}

template <typename T>
__device__ __forceinline__ NodeTables<T>& node_tables() {
  return *reinterpret_cast<NodeTables<T>*>(shared_memory());
}
template <typename T, std::uint32_t kRoom>
__device__ __forceinline__ FoundCandidates<T, kRoom>& found_by_warp() {
  return reinterpret_cast<FoundCandidates<T, kRoom>*>(shared_memory() + kBehindTables<T>)[warp_number()];
}

}  // namespace kith::cuda
