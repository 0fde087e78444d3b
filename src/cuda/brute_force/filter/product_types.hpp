// Points and queries packed for products on tensor cores, and what the filter by products is asked. Plain data.
#pragma once

#include "core/host_device.hpp"
#include "cuda/brute_force/scan/scan_types.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

constexpr std::uint64_t padded_product_rows(std::uint64_t rows) {
  return (rows + kProductQueries - 1) / kProductQueries * kProductQueries;
}
constexpr std::uint32_t product_padded_dims(std::uint32_t dims) {
  return (dims + kProductDims - 1) / kProductDims * kProductDims;
}

/// Rows about a centre, each over a power of two of its own, rounded to 11 bits; aligned to 16 bytes.
struct ProductRows {
  const std::uint16_t* values = nullptr;  ///< [padded_product_rows][padded_dims], bits of halves
  const float* terms = nullptr;           ///< [padded_product_rows]: squared length less what errors may make of it
  const float* scales = nullptr;          ///< [padded_product_rows]: what `values` are to be multiplied by
  std::uint32_t padded_dims = 0;
};

/// A scan that offers, without their reduced distances, all pairs that may lie below the limit of the query. Packed row
/// q belongs to query q, chosen or not.
struct ProductTask {
  ScanTask<float> scan = {};
  ProductRows points = {};
  ProductRows queries = {};
};

/// Which rows are packed, and where. Row i is row `chosen[i]`, or row i.
struct PackTask {
  const float* rows = nullptr;
  std::uint64_t row_stride = 0;
  std::uint64_t count = 0;
  const std::uint32_t* chosen = nullptr;
  const std::uint32_t* chosen_count = nullptr;  ///< how many, if only the device knows; `count` is the most then
  std::uint32_t dims = 0;
  const float* centre = nullptr;  ///< [dims]; the same for points and queries
  std::uint16_t* values = nullptr;
  float* terms = nullptr;
  float* scales = nullptr;

  ProductRows packed() const { return {values, terms, scales, product_padded_dims(dims)}; }
};

}  // namespace kith::cuda
