// The bound of what the filter by products may be off: it holds for pairs of every kind, and no much lower one would
// do.
#include "core/metric/reduced_distance.hpp"
#include "cuda/brute_force/filter/product_filter.cuh"
#include "cuda/brute_force/filter/product_rows.cuh"

#include "cuda/emulation/grid.hpp"
#include "cuda/brute_force/product_bound_check.hpp"
#include "cuda/brute_force/product_sums.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

/// In [0, 1).
float fraction(std::mt19937_64& random) { return static_cast<float>(random() >> 40) * 0x1p-24f; }

/// One pair through all steps of the filter, as kernels do them.
struct Pair {
  std::vector<float> query, point;  ///< centred
  double value = 0;                 ///< term_p + term_q - 2 s_q s_p acc, with the terms as they are
  double true_reduced = 0;
  double lengths = 0;  ///< squared, of both
  bool is_dismissed_at_own_reduced = false;

  void compute() {
    const auto dims = static_cast<std::uint32_t>(query.size());
    float terms[2], scales[2];
    std::vector<float> halves[2];
    for (int side = 0; side < 2; ++side) {
      const std::vector<float>& row = side == 0 ? query : point;
      float largest = 0, squared_length = 0;
      for (const float x : row) {
        largest = std::max(largest, std::fabs(x));
        squared_length = std::fma(x, x, squared_length);
        lengths += static_cast<double>(x) * static_cast<double>(x);
      }
      const std::int32_t exponent = cuda::product_exponent(largest);
      scales[side] = cuda::power_of_two(exponent);
      terms[side] = cuda::product_term(squared_length, dims);
      for (const float x : row) {
        halves[side].push_back(cuda::emulation::from_half_bits(cuda::to_half_bits(x * cuda::power_of_two(-exponent))));
      }
    }
    float sum = 0;
    for (std::uint32_t d = 0; d < dims; d += 4) {
      float numbers[5] = {sum};
      for (std::uint32_t i = 0; i < 4 && d + i < dims; ++i) numbers[i + 1] = halves[0][d + i] * halves[1][d + i];
      sum = cuda::emulation::add_cut(numbers, 5);
    }
    for (std::uint32_t d = 0; d < dims; ++d) {
      const double e = static_cast<double>(query[d]) - static_cast<double>(point[d]);
      true_reduced += e * e;
    }
    const float reduced = core::reduced_distance(core::L2{}, query.data(), point.data(), dims);
    const float v = std::fma(sum * scales[1], -2 * scales[0], terms[1]);
    value = static_cast<double>(terms[0]) + static_cast<double>(terms[1]) -
            2.0 * static_cast<double>(sum) * static_cast<double>(scales[0]) * static_cast<double>(scales[1]);
    is_dismissed_at_own_reduced = v > cuda::product_threshold(reduced, terms[0]);
  }
};

TEST(ProductBound, CoversRandomPairs) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> exponent(-75, 55);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t dims = i % 100 == 0 ? 2000 : 1 + static_cast<std::uint32_t>(random() % 200);
    Pair pair;
    const float size = std::ldexp(1.0f, exponent(random)), ratio = std::ldexp(1.0f, -static_cast<int>(random() % 24));
    const int kind = static_cast<int>(random() % 4);
    for (std::uint32_t d = 0; d < dims; ++d) {
      const float x = size * (2 * fraction(random) - (kind == 0 ? 0.0f : 1.0f));
      pair.query.push_back(kind == 3 && d % 3 != 0 ? x * ratio : x);
      pair.point.push_back(kind == 1 ? x * ratio : x + size * ratio * fraction(random));
    }
    pair.compute();
    ASSERT_FALSE(pair.is_dismissed_at_own_reduced) << "pair " << i << " of " << dims << " dims";
    ASSERT_LE(pair.value, pair.true_reduced) << "pair " << i << " of " << dims << " dims";
  }
}

TEST(ProductBound, HoldsForHardPairs) {
  expect_bound_holds({17, 80}, 8, [](const ProductPairs& pairs) {
    ProductSums sums;
    const auto pack = [&](const std::vector<float>& rows, ProductSums::Rows& packed) {
      cuda::PackTask task{.rows = rows.data(), .row_stride = pairs.dims, .count = rows.size() / pairs.dims};
      const std::uint64_t capacity = cuda::padded_product_rows(task.count);
      task.dims = pairs.dims;
      task.centre = pairs.centre.data();
      packed.values.resize(capacity * cuda::product_padded_dims(pairs.dims));
      packed.terms.resize(capacity);
      packed.scales.resize(capacity);
      task.values = packed.values.data();
      task.terms = packed.terms.data();
      task.scales = packed.scales.data();
      return task;
    };
    sums.sums.assign(kPairQueries * kPairPoints, NAN);
    const cuda::PackTask queries = pack(pairs.queries, sums.queries), points = pack(pairs.points, sums.points);
    launch_product_sums(
        queries, points, sums.sums.data(),
        [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes, auto... arguments) {
          cuda::emulation::run_grid(blocks, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                                    [&] { kernel(arguments...); });
        });
    return sums;
  });
}

TEST(ProductBound, IsNearlyReached) {
  // All coordinates lose half a unit of their 11 bits: half of the bound would not do.
  for (const std::uint32_t dims : {16u, 128u, 1024u}) {
    Pair pair;
    for (std::uint32_t d = 0; d < dims; ++d) {
      pair.query.push_back(d % 2 == 0 ? 0x1.002p-1f : -0x1.002p-1f);
      pair.point.push_back(d % 2 == 0 ? 0x1.002p-1f : -0x1.002p-1f);
    }
    pair.compute();
    EXPECT_FALSE(pair.is_dismissed_at_own_reduced);
    const double slack = static_cast<double>(cuda::product_slack(dims)) * pair.lengths;
    EXPECT_LE(pair.value, pair.true_reduced);
    EXPECT_GE(pair.value, pair.true_reduced - 0.6 * slack) << dims;
  }
}

TEST(ProductBound, ScalesFollowTheLargestCoordinate) {
  for (int exponent = -149; exponent < 128; ++exponent) {
    const float largest = std::ldexp(1.0f, exponent);
    for (const float x : {largest, std::nextafter(largest, 0.0f)}) {
      const float scale = cuda::power_of_two(cuda::product_exponent(x));
      EXPECT_GE(scale, 0x1p-60f);
      EXPECT_LE(scale, 0x1p60f);
      EXPECT_TRUE(x < scale || x >= 0x1p58f) << x;
      EXPECT_TRUE(16 * x >= scale || x < 0x1p-64f) << x;
    }
  }
  EXPECT_EQ(cuda::product_exponent(0), 0);
  EXPECT_EQ(cuda::product_term(NAN, 3), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(cuda::product_term(0x1p116f, 3), -std::numeric_limits<float>::infinity());
  EXPECT_LT(cuda::product_term(0, 3), 0);
}

TEST(ProductBound, HalvesAreTheNearest) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float here = cuda::emulation::from_half_bits(bits), next = cuda::emulation::from_half_bits(bits + 1);
    const float middle = (here + next) / 2;
    ASSERT_EQ(cuda::to_half_bits(here), bits);
    ASSERT_EQ(cuda::to_half_bits(-here), bits | 0x8000);
    ASSERT_EQ(cuda::to_half_bits(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(cuda::to_half_bits(std::nextafter(middle, here)), bits);
    ASSERT_EQ(cuda::to_half_bits(std::nextafter(middle, next)), bits + 1);
  }
}

}  // namespace
}  // namespace kith::test
