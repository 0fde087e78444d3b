// Pairs of rows that are hard for the filter by products.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {

inline constexpr std::uint32_t kPairQueries = 64, kPairPoints = 128;

enum class PairShape { random, offset, close, mixed, cancelling, halfway, denormal, tiny, huge, count_of_shapes };

/// All queries with all points.
struct ProductPairs {
  std::uint32_t dims = 0;
  std::vector<float> queries, points, centre;

  /// About the mean of the points, or about zero, from which they may lie far away.
  ProductPairs(PairShape shape, std::uint32_t dims_wanted, bool is_centred, std::mt19937_64& random)
      : dims(dims_wanted), centre(dims_wanted, 0.0f) {
    std::uniform_real_distribution<float> unit(-1, 1);
    std::vector<float> base(dims);
    for (float& x : base) x = unit(random);
    for (std::uint32_t row = 0; row < kPairQueries + kPairPoints; ++row) {
      const bool is_query = row < kPairQueries;
      for (std::uint32_t d = 0; d < dims; ++d) {
        const float x = coordinate(shape, row, d, is_query, base, unit(random), random);
        (is_query ? queries : points).push_back(x);
        if (is_centred && !is_query) centre[d] += x / kPairPoints;
      }
    }
  }

 private:
  static float coordinate(PairShape shape, std::uint32_t row, std::uint32_t d, bool is_query,
                          const std::vector<float>& base, float x, std::mt19937_64& random) {
    switch (shape) {
      case PairShape::offset:
        return 1e6f + x;
      case PairShape::close:
        return base[d] + 1e-6f * x;
      case PairShape::mixed:
        return std::ldexp(x, static_cast<int>(random() % 50) - 30);
      case PairShape::cancelling:  // neighbouring products have opposite signs and nearly the same size
        return base[d / 2] * (1 + 0x1p-9f * x) * (is_query || d % 2 == 0 ? 1.0f : -1.0f);
      case PairShape::halfway:  // each coordinate loses half a unit of its half
        return (row % 3 == 0 ? 0x1.006p-1f : 0x1.002p-1f) * (base[d] < 0 ? -1.0f : 1.0f);
      case PairShape::denormal:
        return std::numeric_limits<float>::denorm_min() * std::round(2000 * x);
      case PairShape::tiny:
        return 0x1p-63f * x;
      case PairShape::huge:  // some rows are not filtered
        return (row % 3 == 0 ? 3e38f : 0x1p52f) * x;
      default:
        return x;
    }
  }
};

/// What the kernels make of the rows, and the sums of all pairs: [kPairQueries][kPairPoints].
struct ProductSums {
  struct Rows {
    std::vector<std::uint16_t> values;
    std::vector<float> terms, scales;
  };
  Rows queries, points;
  std::vector<float> sums;
};

}  // namespace kith::test
