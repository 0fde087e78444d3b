// What the kernels that read all points keep in shared memory.
#pragma once

#include "cuda/kd_tree/build/passes/cells.cuh"

namespace kith::cuda {

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
  /// A node above the one that is counted: the first and the last cell of its median.
  struct alignas(16) Parent {
    std::uint32_t first, last, pick;
  };
  /// How a node is counted.
  struct alignas(16) Counted {
    std::uint32_t low, scale, last, pick;  ///< the last bin, the others as in CellBins

    __device__ __forceinline__ std::uint32_t bin_of(std::uint32_t cell) const {
      return cuda::bin_of(CellBins{low, scale, 0, last + 1}, cell);
    }
  };
  Parent parents[kMost];
  T parent_lows[kMost], parent_scales[kMost];  ///< of the cells; where they refine ties a range, see SplitNode
  Counted children[kMost];
  Counted seconds[kMost];  ///< the other way to count a child
  Exact exact[kMost / 2];

  // A pick tells which dimension is looked at, and whether there is another way, too. Its lower half picks one of four
  // numbers of 16 bits: permute_bytes knows how.
  static constexpr std::uint32_t kHasSecond = 1u << 31;
  static constexpr std::uint32_t kAreEqual = 1u << 31;  ///< of a parent: its candidates are, but for their numbers

  __device__ __forceinline__ static std::uint32_t pick_of(std::uint32_t dim) {
    return dim << 16 | 0x7600u | (dim < 4 ? (2 * dim + 1) << 4 | 2 * dim : 0);
  }
  __device__ __forceinline__ static std::uint32_t dim_of(std::uint32_t pick) { return pick << 1 >> 17; }

  __device__ __forceinline__ std::uint32_t parent_dim(std::uint32_t node) const { return dim_of(parents[node].pick); }
  __device__ __forceinline__ bool are_equal(std::uint32_t node) const { return (parents[node].pick & kAreEqual) != 0; }
  __device__ void set_parent(std::uint32_t node, const SplitNode<T>& known) {
    parents[node] = {known.median.first, known.median.last,
                     pick_of(known.median.dim) | (known.are_equal() ? kAreEqual : 0)};
    parent_lows[node] = known.scale.low;
    parent_scales[node] = known.scale.scale;
  }
  __device__ void set_child(std::uint32_t node, const CountedBins& counted) {
    const auto how = [](const CellBins& bins) {
      return Counted{bins.low, bins.scale, bins.count - 1, pick_of(bins.dim)};
    };
    children[node] = how(counted.slots[0]);
    if (counted.used < 2) return;
    children[node].pick |= kHasSecond;
    seconds[node] = how(counted.slots[1]);
  }
};

/// Where a cell lies, seen from those of a median.
struct SideOfCells {
  bool is_right, is_among;

  template <typename Parent>
  __device__ __forceinline__ SideOfCells(const Parent& median, std::uint32_t cell)
      : is_right(cell > median.last), is_among(!is_right && cell >= median.first) {}

  // In two bits.
  static constexpr std::uint32_t kRight = 1, kAmong = 2;
  __device__ __forceinline__ explicit SideOfCells(std::uint32_t bits)
      : is_right((bits & kRight) != 0), is_among((bits & kAmong) != 0) {}
  __device__ __forceinline__ std::uint32_t bits() const { return (is_right ? kRight : 0) | (is_among ? kAmong : 0); }
};

/// Candidates that a warp has found and not yet put into the lists of their nodes.
template <typename T, std::uint32_t kCapacity>
struct FoundCandidates {
  OrderedKey<T> keys[kCapacity];
  std::uint32_t places[kCapacity];
  std::uint32_t counts[kHeap / 2];  ///< by node; then where each node's candidates go in its list
  std::uint8_t nodes[kCapacity];
};

/// The tables come first, then what the warps have found; the rest lies behind.
template <typename T>
inline constexpr std::size_t kBehindTables = (sizeof(NodeTables<T>) + 15) / 16 * 16;
template <typename T, std::uint32_t kCapacity>
KITH_HOST_DEVICE constexpr std::size_t behind_found(std::uint32_t threads) {
  return (kBehindTables<T> + sizeof(FoundCandidates<T, kCapacity>) * (threads / 32) + 15) / 16 * 16;
}

template <typename T>
__device__ __forceinline__ NodeTables<T>& node_tables() {
  return *reinterpret_cast<NodeTables<T>*>(shared_memory());
}
template <typename T, std::uint32_t kCapacity>
__device__ __forceinline__ FoundCandidates<T, kCapacity>& found_by_warp() {
  return reinterpret_cast<FoundCandidates<T, kCapacity>*>(shared_memory() + kBehindTables<T>)[warp_number()];
}

/// Adds what this block counted to what all blocks of its segment count. A segment's only block need not add.
template <typename T>
__device__ void flush_counters(const GroupParameters<T>& p, std::uint32_t segment, const std::uint32_t* counters,
                               std::uint32_t used) {
  std::uint32_t* all = p.histogram + std::uint64_t{segment} * p.segment_counters;
  if (p.parts == 1) {
    for (std::uint32_t i = thread_number(); i < used; i += threads_per_block()) all[i] = counters[i];
    return;
  }
  // Two counters at a time: none reaches 2^32.
  auto* pairs = reinterpret_cast<std::uint64_t*>(all);
  const auto* own = reinterpret_cast<const std::uint64_t*>(counters);
  for (std::uint32_t i = thread_number(); i < (used + 1) / 2; i += threads_per_block()) {
    if (own[i] != 0) atomic_add(&pairs[i], own[i]);
  }
}

}  // namespace kith::cuda
