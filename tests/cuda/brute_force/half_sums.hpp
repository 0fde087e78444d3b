// Sums in halves of a tensor core, and what the filter with such sums assumes of them.
#pragma once

#include "cuda/brute_force/value_of_half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace kith::test {

/// Bits of halves: 16 rows a and 8 rows b of 16 dims, and what the sums of each row of b begin with.
struct HalfSumRowsOf16 {
  std::vector<std::uint16_t> a = std::vector<std::uint16_t>(16 * 16), b = std::vector<std::uint16_t>(8 * 16),
                             first = std::vector<std::uint16_t>(8);
};

/// `sums_of(rows)` gives the bits of the sums, [16][8].
template <typename SumsOf>
void expect_half_sums_hold(int cases, SumsOf&& sums_of) {
  std::mt19937_64 random(3);
  double worst = 0;
  for (int i = 0; i < cases; ++i) {
    HalfSumRowsOf16 rows;
    // Of a row of the filter coordinates are at most 1, of the other below 512, and sums begin with -2^15 at least.
    const std::uint32_t kind = static_cast<std::uint32_t>(random() % 5);
    const auto half = [&](std::uint32_t top, std::uint32_t d) {
      const std::uint32_t sign = kind == 1 ? d % 2 : static_cast<std::uint32_t>(random() % 2);
      const std::uint32_t least = kind == 0 ? top - 1024 : kind == 2 ? 0 : kind == 3 ? top * 3 / 4 : top - 3000;
      const std::uint32_t size = kind == 4 ? static_cast<std::uint32_t>(random() % 1500)
                                           : least + static_cast<std::uint32_t>(random() % (top - least));
      return static_cast<std::uint16_t>(sign << 15 | size);
    };
    for (std::uint32_t j = 0; j < 256; ++j) rows.a[j] = half(0x3c01, kind == 1 ? 0 : j);
    for (std::uint32_t j = 0; j < 128; ++j) rows.b[j] = half(random() % 2 == 0 ? 0x5fff : 0x3c01, j);
    for (std::uint16_t& x : rows.first) {
      x = static_cast<std::uint16_t>(0x8000 | random() % (i % 3 == 0 ? 0x2000 : i % 3 == 1 ? 0x4000 : 0x7801));
    }
    const std::vector<std::uint16_t> sums = sums_of(rows);
    for (std::uint32_t r = 0; r < 16; ++r) {
      for (std::uint32_t c = 0; c < 8; ++c) {
        const double first = value_of_half(rows.first[c]);
        double exact = first, sizes = std::fabs(first);
        for (std::uint32_t d = 0; d < 16; ++d) {
          const double x = value_of_half(rows.a[16 * r + d]), y = value_of_half(rows.b[16 * c + d]);
          exact += x * y;
          sizes += std::max(std::fabs(x), 0x1p-14) * std::max(std::fabs(y), 0x1p-14);
        }
        const double bound = (0x1p-10 + (16 + 17) * 0x1p-22) * sizes + 0x1p-24;
        const double error = std::fabs(value_of_half(sums[8 * r + c]) - exact);
        ASSERT_LE(error, bound) << "case " << i << ", kind " << kind << ", row " << r << ", column " << c;
        worst = std::max(worst, error / bound);
      }
    }
  }
  EXPECT_GE(worst, 0.2);  // a bound that nothing comes near to says nothing
}

}  // namespace kith::test
