// What a block of pass 0 keeps in shared memory.
#pragma once

#include "cuda/kd_tree/build/split_state.hpp"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kRangeSampleBits = 10, kRangeSamples = 1u << kRangeSampleBits;  ///< of all points

/// The cells of a dimension for points of which the tables know every coordinate: a sum, in 65536ths of a cell.
struct alignas(16) TieChain {
  static constexpr std::uint32_t kMostDims = 4;  ///< that the compiler knows

  std::uint32_t steps[kMostDims];  ///< from one value to the next, by component of the super-key
  std::uint32_t first;             ///< of the least values
  std::uint32_t capacity;          ///< of a plain cell of the last component
  std::uint32_t last;              ///< whose plain cells those are
};

/// How the values of a dimension are found: the range from the first to the last one is cut into parts, such that
/// values at regular distances have one each.
template <typename T>
struct ValueParts {
  T low;    ///< the first value
  T scale;  ///< makes 1 of the way to the last one
  T last;   ///< the last part
};

/// What a block of pass 0 knows of ties, in shared memory.
template <typename T>
struct alignas(16) TieShared {
  TieChain chains[TieChain::kMostDims];
  TiedCells<T> ties;
  ValueParts<T> parts[kTabledDims];
  std::uint8_t below[kTabledDims][kTableValues];  ///< values in the parts before each one, but never all
  std::uint32_t few[kTabledDims];                 ///< twins in the sample at the root, then values of the tables
  std::uint32_t found[kTabledDims];               ///< distinct values in the sample, as far as they are counted
  std::uint32_t needs_numbers;  ///< whether the cells of a dimension refine ties down to the numbers of the points
  alignas(16) T tables[16 / sizeof(T)];  ///< [dimension][kTableValues]

  KITH_HOST_DEVICE static std::size_t bytes(std::uint32_t dims) {
    return dims > kTabledDims ? 0 : sizeof(TieShared) + sizeof(T) * dims * kTableValues;
  }
};

/// The shared memory of pass 0.
template <typename T>
struct RootShared {
  std::uint32_t* counters;
  TieShared<T>* ties;
  OrderedKey<T>* tight;  ///< the box of the points
  CellScale<T>* scales;  ///< how every dimension is cut into cells
  T* range;
  CellBins* bins;

  __device__ __forceinline__ explicit RootShared(std::uint32_t dims)
      : counters(reinterpret_cast<std::uint32_t*>(shared_memory())),
        ties(reinterpret_cast<TieShared<T>*>(counters + kCounters)),
        tight(reinterpret_cast<OrderedKey<T>*>(reinterpret_cast<std::byte*>(ties) + TieShared<T>::bytes(dims))),
        scales(reinterpret_cast<CellScale<T>*>(tight + 2 * (dims + 1))),
        range(reinterpret_cast<T*>(scales + dims + 1)),
        bins(reinterpret_cast<CellBins*>(range + 2 * (dims + 1))) {}

  KITH_HOST_DEVICE static std::size_t bytes(std::uint32_t dims) {
    return 4 * kCounters +
           (2 * sizeof(OrderedKey<T>) + sizeof(CellScale<T>) + 2 * sizeof(T) + sizeof(CellBins)) *
               (std::size_t{dims} + 1) +
           TieShared<T>::bytes(dims);
  }
};

/// Joins the coordinates of a warp's points to the tight box. What is not finite makes a box without end.
template <typename T>
__device__ __forceinline__ void join_tight(OrderedKey<T>* tight, std::uint32_t dims, std::uint32_t d, T low, T high,
                                           bool is_spoilt) {
  using Key = OrderedKey<T>;
  Key least = ordered_key(low), greatest = ordered_key(high);
  if (is_spoilt) greatest = static_cast<Key>(~Key{0});
  least = min_of_warp(least);
  greatest = max_of_warp(greatest);
  if (lane_number() == 0) {
    atomic_max(&tight[d], static_cast<Key>(~least));
    atomic_max(&tight[dims + 1 + d], greatest);
  }
}

}  // namespace kith::cuda
