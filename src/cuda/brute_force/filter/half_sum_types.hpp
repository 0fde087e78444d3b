// Points packed for the filter whose sums are halves, and what it is asked. Plain data.
#pragma once

#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/brute_force/scan/scan_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// Whether rows of so many dims are filtered by sums in halves, where the GPU has fast ones.
constexpr bool has_half_sums(std::uint32_t dims) {
  return dims >= kFewestDimsForProducts && dims <= kMostDimsForHalfSums;
}

/// Rows about a centre, all over one power of two, rounded to 11 bits; aligned to 16 bytes.
struct HalfSumRows {
  const std::uint16_t* values = nullptr;  ///< [padded_product_rows][product_padded_dims], bits of halves
  const std::uint16_t* terms = nullptr;   ///< [padded_product_rows][2], see half_sum_bound.hpp and term_place
  const float* scale = nullptr;           ///< one for all
};

/// Where the term of a row is, twice: terms of rows 2 i and 2 i + 1 and these two again, because they begin the sums of
/// two queries of a lane, and the pairs that a lane needs of 32 rows side by side. Here and two further.
KITH_HOST_DEVICE constexpr std::uint64_t term_place(std::uint64_t row) {
  return row / 32 * 64 + row % 8 / 2 * 16 + row % 32 / 8 * 4 + row % 2;
}

/// A scan that offers, without their reduced distances, all pairs that may lie below the limit of the query. A query
/// that this filter cannot take is noted as one whose list has overflowed.
struct HalfSumTask {
  ScanTask<float> scan = {};
  HalfSumRows points = {};
  const float* centre = nullptr;  ///< [dims]
  std::uint32_t* kept = nullptr;  ///< by query: how many entries are not looked at again; all of one that overflowed
};

/// Which rows are packed, and where.
struct HalfSumPackTask {
  ScanPoints<float> points = {};
  const float* centre = nullptr;
  const float* scale = nullptr;
  std::uint16_t* values = nullptr;
  std::uint16_t* terms = nullptr;
};

}  // namespace kith::cuda
