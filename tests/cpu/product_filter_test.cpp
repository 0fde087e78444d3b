// The product filter loses nothing: a pair that it dismisses is beyond the bound by the chain, on data made to fool it.
#include "cpu/brute_force/product_filter.hpp"

#include "core/chain.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class ProductFilter : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ProductFilter, Types);

/// The filter's value of a pair, as the scan computes it, for a given centre.
template <typename T>
bool is_dismissed(const T* query, const T* point, const std::vector<T>& centre, std::uint32_t dims, T bound) {
  std::vector<float> q(dims), p(dims);
  for (std::uint32_t d = 0; d < dims; ++d) {
    q[d] = static_cast<float>(query[d] - centre[d]);
    p[d] = static_cast<float>(point[d] - centre[d]);
  }
  float query_term, point_term;
  cpu::filter_terms(q.data(), dims, 1, &query_term);
  cpu::filter_terms(p.data(), dims, 1, &point_term);
  float value = point_term;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float factor = std::isfinite(query_term) ? -2 * q[d] : 0.0f;
    value = std::fma(std::isfinite(point_term) ? p[d] : 0.0f, factor, value);
  }
  return value > cpu::filter_bound(bound, query_term);
}

/// f64 numbers of every size that f32 has, has as denormals only, or has not.
void spread_sizes(PointSet& rows, std::mt19937_64& random) {
  const int least = static_cast<int>(random() % 400) - 250, range = 1 + static_cast<int>(random() % 60);
  for (double& value : rows.values<double>()) {
    value = std::ldexp(value, least + static_cast<int>(random() % static_cast<std::uint64_t>(range)));
  }
}

TYPED_TEST(ProductFilter, NeverDismissesAPairWithinTheBound) {
  using T = TypeParam;
  std::mt19937_64 random(46);
  std::uint64_t dismissed_beyond = 0, beyond = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::uint32_t dims = round % 100 == 0 ? 1000 : static_cast<std::uint32_t>(1 + random() % 40);
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    PointSet rows = nasty_points(shape, dtype_of<T>, 3, dims, random);
    if (std::is_same_v<T, double> && shape != NastyShape::uniform && random() % 2 == 0) spread_sizes(rows, random);
    const T* query = rows.view().row<T>(0);
    const T* point = rows.view().row<T>(1);
    std::vector<T> centre(dims, T(0));
    if (random() % 2 == 0) centre.assign(rows.view().row<T>(2), rows.view().row<T>(2) + dims);
    const T chain = core::chain_distance(core::L2Chain{}, query, point, dims);
    // The tightest bound that must still let the pair through, and a loose one for the sharpness of the filter.
    EXPECT_FALSE(is_dismissed(query, point, centre, dims, chain)) << "round " << round << " dims " << dims;
    EXPECT_FALSE(is_dismissed(query, point, centre, dims, std::numeric_limits<T>::infinity()));
    if (shape == NastyShape::uniform && chain > T(0.01)) {
      ++beyond;
      dismissed_beyond += is_dismissed(query, point, centre, dims, chain / 2) ? 1 : 0;
    }
  }
  EXPECT_GT(beyond, 1000u);
  EXPECT_EQ(dismissed_beyond, beyond);  // on plain data it is sharp
}

}  // namespace
}  // namespace kith::test
