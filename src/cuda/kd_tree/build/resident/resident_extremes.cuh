// The least and the greatest keys of all points of a cluster: the box of the root, and the ranges of undecided points.
#pragma once

#include "cuda/kd_tree/build/resident/resident_block.cuh"

namespace kith::cuda {

/// Extremes of node j in `own.extremes()`: [j][complement of the least, greatest][side], a side for each dimension.
/// They are of the points for which selects(j, state) says so, of the nodes for which is_open(j) does. The cluster and
/// the blocks synchronise.
template <typename T, typename IsOpen, typename Selects>
__device__ void find_extremes(const ResidentBlock<T>& own, std::uint32_t nodes, std::uint32_t sides, IsOpen&& is_open,
                              Selects&& selects) {
  using Key = OrderedKey<T>;
  const std::uint32_t values = nodes * 2 * sides;
  for (std::uint32_t i = thread_number(); i < values; i += kResidentThreads) own.extremes()[i] = 0;
  sync_block();
#pragma unroll 1
  for (std::uint32_t j = 0; j < nodes; ++j) {
    if (!is_open(j)) continue;
    Key* extremes = own.extremes() + j * 2 * sides;
#pragma unroll 1
    for (std::uint32_t d = 0; d < sides; ++d) {
      Key low = static_cast<Key>(~Key{0}), high = 0;
      for (std::uint32_t slot = thread_number(); slot < own.count; slot += kResidentThreads) {
        if (!selects(j, own.states()[slot])) continue;
        const Key key = own.key(slot, d);
        low = key < low ? key : low;
        high = key > high ? key : high;
      }
      sync_warp();
      low = min_of_warp(low);
      high = max_of_warp(high);
      if (lane_number() == 0 && low <= high) {
        atomic_max(&extremes[d], static_cast<Key>(~low));
        atomic_max(&extremes[sides + d], high);
      }
    }
  }
  sync_block();
  const std::uint32_t stride = own.p.extreme_values();
  for (std::uint32_t i = thread_number(); i < values; i += kResidentThreads) {
    own.p.extremes[block_number() * stride + i] = own.extremes()[i];
  }
  sync_cluster();
  static_assert(kMostCluster <= kWarp);
  for (std::uint32_t i = warp_number(); i < values; i += kResidentThreads / kWarp) {
    const std::uint32_t block = lane_number();
    const Key key = max_of_warp(block < own.p.blocks ? load_fresh(own.p.extremes + block * stride + i) : Key{0});
    if (lane_number() == 0) own.extremes()[i] = key;
  }
  sync_block();
}

/// The tight box of the root. False if a coordinate is not finite: then an extreme is not, because keys of infinities
/// and NaNs lie beyond those of all finite numbers.
template <typename T>
__device__ bool find_root_box(const ResidentBlock<T>& own) {
  using Key = OrderedKey<T>;
  find_extremes(
      own, 1, own.dims, [](std::uint32_t) { return true; }, [](std::uint32_t, std::uint32_t) { return true; });
  bool is_bad = false;
  if (thread_number() < 2 * own.dims) {
    const Key key = own.extremes()[thread_number()];
    const T side = value_of_key<T>(thread_number() < own.dims ? static_cast<Key>(~key) : key);
    is_bad = !(side - side == T(0));
    own.box(0, 0)[thread_number()] = side;
  }
  return !any_thread(is_bad);
}

}  // namespace kith::cuda
