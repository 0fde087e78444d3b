// What a block of pass 0 keeps in shared memory.
#pragma once

#include "cuda/kd_tree/split_state.hpp"
#include "cuda/intrinsics.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kRangeSampleBits = 10, kRangeSamples = 1u << kRangeSampleBits;  ///< of all points

/// The cells of a dimension for points of which the tables know every coordinate: a sum.
struct TieChain {
  static constexpr std::uint32_t kMostDims = 4;  ///< that the compiler knows

  std::uint32_t steps[kMostDims];  ///< cells from one value to the next, by component of the super-key
  std::uint32_t first;             ///< cell of the least values
  std::uint32_t room, last;        ///< the cells that are left to the plain cell of the last component
};

/// What a block of pass 0 knows of ties, in shared memory.
template <typename T>
struct TieShared {
  TiedCells<T> ties;
  TieChain chains[TieChain::kMostDims];
  std::uint16_t below[TieChain::kMostDims][kTableValues];  ///< values in the plain cells before each 256
  std::uint32_t few[kTabledDims];  ///< twins in the sample at the root, then values of the tables
  std::uint32_t firsts[kRangeSamples / kWarp];
  T tables[1];  ///< [dimension][kTableValues]

  KITH_HOST_DEVICE static std::size_t bytes(std::uint32_t dims) {
    return dims > kTabledDims ? 0 : sizeof(TieShared) + sizeof(T) * dims * kTableValues;
  }
};

/// The shared memory of pass 0.
template <typename T>
struct RootShared {
  std::uint32_t* counters;
  OrderedKey<T>* tight;  ///< the box of the points
  CellScale<T>* scales;  ///< how every dimension is cut into cells
  T* range;
  CellBins* bins;
  TieShared<T>* ties;

  __device__ __forceinline__ explicit RootShared(std::uint32_t dims)
      : counters(reinterpret_cast<std::uint32_t*>(shared_memory())),
        tight(reinterpret_cast<OrderedKey<T>*>(counters + kCounters)),
        scales(reinterpret_cast<CellScale<T>*>(tight + 2 * (dims + 1))),
        range(reinterpret_cast<T*>(scales + dims + 1)),
        bins(reinterpret_cast<CellBins*>(range + 2 * (dims + 1))),
        ties(reinterpret_cast<TieShared<T>*>(bins + dims + 1)) {}

  KITH_HOST_DEVICE static std::size_t bytes(std::uint32_t dims) {
    return 4 * kCounters +
           (2 * sizeof(OrderedKey<T>) + sizeof(CellScale<T>) + 2 * sizeof(T) + sizeof(CellBins)) *
               (std::size_t{dims} + 1) +
           TieShared<T>::bytes(dims);
  }
};

}  // namespace kith::cuda
