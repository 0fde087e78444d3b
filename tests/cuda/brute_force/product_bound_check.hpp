// What the bound of the filter by products promises of the sums of pairs.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/brute_force/filter/product_bound.hpp"
#include "cuda/brute_force/filter/product_types.hpp"

#include "cuda/brute_force/product_pairs.hpp"
#include "cuda/brute_force/value_of_half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {

inline std::vector<double> values_of_halves(const ProductSums::Rows& rows) {
  std::vector<double> values;
  for (const std::uint16_t bits : rows.values) values.push_back(value_of_half(bits));
  return values;
}

/// Every step of the bound that a sum takes part in, against f64: the sum itself, the value that pairs are dismissed
/// by, on both sides, and that no pair is dismissed at its own chain.
inline void expect_within_bound(const ProductPairs& asked, const ProductSums& got) {
  const std::uint32_t dims = asked.dims, padded_dims = cuda::product_padded_dims(dims);
  const std::vector<double> of_queries = values_of_halves(got.queries), of_points = values_of_halves(got.points);
  const double denormals = 3.0 * static_cast<double>(cuda::product_denormals(dims));
  for (std::uint32_t q = 0; q < kPairQueries; ++q) {
    for (std::uint32_t p = 0; p < kPairPoints; ++p) {
      SCOPED_TRACE(testing::Message() << "query " << q << ", point " << p);
      double exact = 0, magnitudes = 0;
      for (std::uint32_t d = 0; d < padded_dims; ++d) {
        const double a = of_queries[q * padded_dims + d], b = of_points[p * padded_dims + d];
        exact += a * b;
        magnitudes += std::fmax(std::fabs(a), 0x1p-14) * std::fmax(std::fabs(b), 0x1p-14);
      }
      const float sum = got.sums[q * kPairPoints + p];
      ASSERT_LE(std::fabs(static_cast<double>(sum) - exact), (dims + 16) * 0x1p-22 * magnitudes);

      const float* query = asked.queries.data() + q * dims;
      const float* point = asked.points.data() + p * dims;
      double true_reduced = 0, lengths = 0;
      for (std::uint32_t d = 0; d < dims; ++d) {
        const double a = query[d], b = point[d], m = asked.centre[d];
        true_reduced += (a - b) * (a - b);
        lengths += (a - m) * (a - m) + (b - m) * (b - m);
      }
      const float terms[] = {got.queries.terms[q], got.points.terms[p]};
      const float scales[] = {got.queries.scales[q], got.points.scales[p]};
      const double value =
          static_cast<double>(terms[0]) + static_cast<double>(terms[1]) -
          2.0 * static_cast<double>(sum) * static_cast<double>(scales[0]) * static_cast<double>(scales[1]);
      ASSERT_LE(value, true_reduced);
      if (std::isfinite(value)) {
        const double slack = static_cast<double>(cuda::product_slack(dims)) * lengths;
        ASSERT_GE(value, true_reduced - 2 * slack - denormals);
      } else {
        ASSERT_GE(lengths, 0.99 * static_cast<double>(cuda::kLargestProductNorm));
      }
      const float threshold = cuda::product_threshold(core::reduced_distance(core::L2{}, query, point, dims), terms[0]);
      ASSERT_FALSE(std::fma(sum * scales[1], -2 * scales[0], terms[1]) > threshold);
      ASSERT_FALSE(std::fma(sum, -2 * scales[0] * scales[1], terms[1]) > threshold);
    }
  }
}

/// All shapes in these dims; `sums_of` runs the kernels.
template <typename SumsOf>
void expect_bound_holds(std::initializer_list<std::uint32_t> all_dims, std::uint64_t seed, SumsOf&& sums_of) {
  std::mt19937_64 random(seed);
  for (const std::uint32_t dims : all_dims) {
    for (int shape = 0; shape < static_cast<int>(PairShape::count_of_shapes); ++shape) {
      for (const bool is_centred : {true, false}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", dims " << dims << ", shape " << shape
                                        << (is_centred ? ", centred" : ""));
        const ProductPairs pairs(static_cast<PairShape>(shape), dims, is_centred, random);
        expect_within_bound(pairs, sums_of(pairs));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace kith::test
