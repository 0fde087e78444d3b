// Planes on a GPU: what the kernels get. Plain data, for host and device; all arrays are in device memory.
#pragma once

#include "cuda/kd_tree/search/search_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// A point as it is read with as few loads as there can be: at multiples of 8 or 16 bytes.
template <typename T, std::uint32_t kDims>
struct alignas(kDims * sizeof(T) <= 8 ? 8 : 16) PaddedPoint {
  T values[kDims == 2 ? 2 : 4];
};
template <typename T>
std::uint64_t padded_bytes(std::uint32_t dims) {
  return dims == 2 ? sizeof(PaddedPoint<T, 2>) : sizeof(PaddedPoint<T, 3>);
}

/// The planes of some points of a tree, from their lists of neighbours.
template <typename T>
struct PlaneTask {
  SearchTree<T> tree = {};
  const std::byte* points = nullptr;      ///< PaddedPoint by number
  const std::uint32_t* places = nullptr;  ///< in the tree's order; null: all
  std::uint64_t count = 0;
  const std::uint32_t* lists = nullptr;  ///< k numbers each, by number less `first`
  std::uint32_t k = 0;
  std::uint32_t first = 0;
  bool has_viewpoint = false;
  double viewpoint[3] = {};
  T* normals = nullptr;              ///< by number, as curvatures
  T* curvatures = nullptr;           ///< may be null
  std::uint32_t* without = nullptr;  ///< grows by the normals that are 0
};

}  // namespace kith::cuda
