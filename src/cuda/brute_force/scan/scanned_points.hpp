// The points of a search by scans, in the memory of the GPU. Plain data.
#pragma once

#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/brute_force/scan/scan_types.hpp"

namespace kith::cuda {

/// Points in device memory, as scans want them.
template <typename T>
struct ScannedPoints {
  ScanPoints<T> points;
  TileOrder order;
  ProductRows product;            ///< without values: there is no filter
  const float* centre = nullptr;  ///< of the rows of the product
};

}  // namespace kith::cuda
