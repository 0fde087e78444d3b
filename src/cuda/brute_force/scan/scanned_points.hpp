// The points of a search by scans, in the memory of the GPU. Plain data.
#pragma once

#include "cuda/brute_force/filter/half_sum_types.hpp"
#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/brute_force/scan/scan_types.hpp"

namespace kith::cuda {

/// Points in device memory, as scans want them.
template <typename T>
struct ScannedPoints {
  ScanPoints<T> points;
  TileOrder order;
  ProductRows product;            ///< without values: there is no filter
  HalfSumRows half_sums;          ///< without values: no filter with sums in halves; else there are both
  const float* centre = nullptr;  ///< of the rows of both
};

}  // namespace kith::cuda
