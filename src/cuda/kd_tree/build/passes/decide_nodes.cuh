// The nodes of points at the beginning of a pass: those that were candidates in the pass before lie in one of the
// halves of a node whose split is known exactly by now.
#pragma once

#include "cuda/kd_tree/build/passes/pass_shared.cuh"
#include "cuda/kd_tree/build/super_key.cuh"

namespace kith::cuda {

/// Fills the tables for pass `level`; level 1 has no exact splits above, the last one no children. Synchronises the
/// block. True if a node tells its points apart by their numbers.
template <typename T>
__device__ __forceinline__ bool load_tables(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level) {
  constexpr std::uint32_t kMost = NodeTables<T>::kMost;
  static_assert(3 * kMost <= kPassThreads && kMost % kWarp == 0);
  NodeTables<T>& tables = node_tables<T>();
  const std::uint32_t t = thread_number() % kMost, dims = p.shape.dims, parents = 1u << (level - 1);
  const std::uint64_t base = std::uint64_t{segment} * kHeap;
  bool uses_numbers = false;
  if (thread_number() < kMost) {  // a warp for each of three levels
    if (t < parents) {
      const SplitNode<T>& node = p.nodes[base + parents + t];
      tables.set_parent(t, node);
      uses_numbers = node.median.dim == dims;
    }
  } else if (thread_number() < 2 * kMost) {
    if (t < 2 * parents && level < p.levels) {
      const CountedBins& counted = p.counted[base + 2 * parents + t];
      tables.set_child(t, counted);
      uses_numbers = counted.slots[0].dim == dims || (counted.used > 1 && counted.slots[1].dim == dims);
    }
  } else if (thread_number() < 3 * kMost) {
    if (t < parents / 2) {
      const SplitNode<T>& node = p.nodes[base + parents / 2 + t];
      tables.exact[t] = {node.split_value, node.median.dim, node.split_place};
    }
  }
  return any_thread(uses_numbers);
}

/// The parent of a point in pass `level`: known, or decided by the exact split of the node above it.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_heap(const GroupParameters<T>& p, std::uint32_t parents,
                                                      std::uint32_t place, std::uint32_t heap) {
  if (heap >= parents) return heap;
  const auto& exact = node_tables<T>().exact[heap - parents / 2];
  return 2 * heap + (is_right_of(p.source, p.shape.dims, place, exact.dim, exact.value, exact.place) ? 1 : 0);
}
/// The same for four points from `place` on, whose nodes are bytes, of which those of `inside` are there, a bit each.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_heaps(const GroupParameters<T>& p, std::uint32_t parents,
                                                       std::uint32_t place, std::uint32_t heaps, std::uint32_t inside) {
  const std::uint32_t dims = p.shape.dims;
  T x[4];
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k) {  // all are on their way before the first is compared
    const std::uint32_t heap = heaps >> (8 * k) & 0xff;
    if ((inside >> k & 1) == 0 || heap >= parents) inside &= ~(1u << k);
    x[k] = 0;
    if ((inside >> k & 1) == 0) continue;
    const std::uint32_t dim = node_tables<T>().exact[heap - parents / 2].dim;
    if (dim < dims) x[k] = p.source.at(place + k, dim);
  }
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k) {
    if ((inside >> k & 1) == 0) continue;
    const std::uint32_t heap = heaps >> (8 * k) & 0xff;
    const auto& exact = node_tables<T>().exact[heap - parents / 2];
    const bool is_right = exact.dim < dims && x[k] != exact.value
                              ? x[k] > exact.value
                              : is_not_before(p.source, dims, place + k, exact.place, exact.dim, 1);
    heaps = (heaps & ~(0xffu << (8 * k))) | (2 * heap + (is_right ? 1 : 0)) << (8 * k);
  }
  return heaps;
}
/// The same where hardly any of the four are undecided.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_few_heaps(const GroupParameters<T>& p, std::uint32_t parents,
                                                           std::uint32_t place, std::uint32_t heaps,
                                                           std::uint32_t inside) {
  std::uint32_t open = ~heaps & parents * 0x01010101u;  // a bit in each byte
#pragma unroll 1
  for (; open != 0; open &= open - 1) {
    const std::uint32_t k = lowest_bit(open) / 8;
    if ((inside >> k & 1) == 0) continue;
    const std::uint32_t heap = decided_heap(p, parents, place + k, heaps >> (8 * k) & 0xff);
    heaps = (heaps & ~(0xffu << (8 * k))) | heap << (8 * k);
  }
  return heaps;
}

}  // namespace kith::cuda
