// The pairs of a warp whose products a tensor core has summed up: which of them may lie below the limit of their query
// (product_bound.hpp says why no other can).
//
// A pair takes 2 instructions if all points of the warp have one scale, else 3.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/brute_force/filter/product_bound.hpp"
#include "cuda/brute_force/filter/product_copies.cuh"
#include "cuda/brute_force/filter/product_offers.cuh"
#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// What pairs of a query are compared with.
struct alignas(8) QuerySide {
  float threshold;
  float factor;  ///< -2 times the scale
};
/// Of query `query`, if it is one of `queries`. For one that is none, or whose limit nothing is below, only points
/// without a term pass.
inline __device__ QuerySide query_side(const ProductTask& task, std::uint64_t query, std::uint64_t queries) {
  if (query >= queries || !(Entry<float>::first() < task.scan.lists.limits[query])) {
    return {-std::numeric_limits<float>::infinity(), 0};
  }
  return {product_threshold(task.scan.lists.limits[query].reduced(), task.queries.terms[query]),
          -2 * task.queries.scales[query]};
}

struct alignas(8) TwoFloats {
  float values[2];
};

/// The 64 x 64 pairs of a warp, one of four side by side that have 256 queries and the same points. A warp has 64
/// queries in a row, or, if the four multiply together, 16 of each 64.
template <bool kTogether>
class ProductPairs {
 public:
  static constexpr std::uint32_t kSide = 64, kWarps = 4;
  using Offers = ProductOffers<kProductThreads>;

  /// Which of the 256 queries row r of this lane is, of 8.
  static __device__ __forceinline__ std::uint32_t query_of(std::uint32_t r) {
    const std::uint32_t warp = warp_number() % kWarps, row = r % 2 * 8 + lane_number() / 4;
    return (kTogether ? r / 2 * kSide + warp * 16 : warp * kSide + r / 2 * 16) + row;
  }

  /// Notes the pairs that are not dismissed. `queries` are those of the four warps; the first point is `first_point`.
  __device__ void compare(const QuerySide* queries, const float* terms, const float* scales, std::uint64_t first_point,
                          Offers& offers) {
    TwoFloats own_scales[kColumnParts];
    std::uint32_t differences = 0;
#pragma unroll
    for (std::uint32_t n = 0; n < kColumnParts; ++n) {
      own_scales[n] = *reinterpret_cast<const TwoFloats*>(scales + 8 * n + 2 * (lane_number() % 4));
#pragma unroll
      for (std::uint32_t j = 0; j < 2; ++j) {
        differences |= std::bit_cast<std::uint32_t>(own_scales[n].values[j]) ^
                       std::bit_cast<std::uint32_t>(own_scales[0].values[0]);
      }
    }
    if (any_lane(differences != 0)) {
      compare_with<true>(queries, terms, own_scales, first_point, offers);
    } else {
      compare_with<false>(queries, terms, own_scales, first_point, offers);
    }
  }

 protected:
  static constexpr std::uint32_t kRowParts = kSide / 16, kColumnParts = kSide / 8, kRows = 2 * kRowParts;

  /// The least value of each of the lane's 8 rows decides whether the row has to be looked at again. No value is NaN:
  /// halves are finite, and those of rows without a term are zeros.
  template <bool kMixed>
  __device__ __forceinline__ void compare_with(const QuerySide* queries, const float* terms,
                                               const TwoFloats (&scales)[kColumnParts], std::uint64_t first_point,
                                               Offers& offers) {
    const auto value = [&](std::uint32_t r, std::uint32_t n, std::uint32_t j, float factor, float term) {
      const float sum = sums_[r / 2][n][2 * (r % 2) + j];
      return core::fused_multiply_add(sum, kMixed ? factor * scales[n].values[j] : factor, term);
    };
    QuerySide sides[kRows];
    float least[kRows];
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; ++r) {
      sides[r] = queries[query_of(r)];
      if (!kMixed) sides[r].factor *= scales[0].values[0];
    }
    TwoFloats own_terms[kColumnParts];
#pragma unroll
    for (std::uint32_t n = 0; n < kColumnParts; ++n) {
      own_terms[n] = *reinterpret_cast<const TwoFloats*>(terms + 8 * n + 2 * (lane_number() % 4));
#pragma unroll
      for (std::uint32_t j = 0; j < 2; ++j) {
#pragma unroll
        for (std::uint32_t r = 0; r < kRows; ++r) {
          const float here = value(r, n, j, sides[r].factor, own_terms[n].values[j]);
          least[r] = n + j == 0 ? here : lesser(least[r], here);
        }
      }
    }
    std::uint32_t rows = 0;
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; ++r) rows |= least[r] > sides[r].threshold ? 0 : 1u << r;
    if (!any_lane(rows != 0)) return;
    std::uint32_t passed[kRowParts] = {};  // bit 16 h + 2 n + j of word m is for sums_[m][n][2 h + j]
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; ++r) {
      if ((rows >> r & 1) == 0) continue;
      // Read once more, else all values are kept for this rare case.
      const volatile QuerySide* again = queries + query_of(r);
      const float factor = kMixed ? again->factor : again->factor * scales[0].values[0];
#pragma unroll
      for (std::uint32_t n = 0; n < kColumnParts; ++n) {
#pragma unroll
        for (std::uint32_t j = 0; j < 2; ++j) {
          const bool is_dismissed = value(r, n, j, factor, own_terms[n].values[j]) > sides[r].threshold;
          passed[r / 2] |= is_dismissed ? 0 : 1u << (16 * (r % 2) + 2 * n + j);
        }
      }
    }
    note(passed, first_point, offers);
  }

  __device__ __forceinline__ static void note(std::uint32_t (&passed)[kRowParts], std::uint64_t first_point,
                                              Offers& offers) {
    for (;;) {
#pragma unroll
      for (std::uint32_t m = 0; m < kRowParts; ++m) {
        for (; passed[m] != 0 && !offers.is_full(); passed[m] &= passed[m] - 1) {
          const std::uint32_t bit = lowest_bit(passed[m]);
          const std::uint32_t column = 8 * (bit / 2 % 8) + 2 * (lane_number() % 4) + bit % 2;
          offers.note(query_of(2 * m + bit / 16), first_point + column);
        }
      }
      if (!any_lane(offers.is_full())) break;
      offers.offer();
    }
  }

  float sums_[kRowParts][kColumnParts][4];
};

}  // namespace kith::cuda
