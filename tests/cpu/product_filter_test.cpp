// The product filter loses nothing: a pair that it dismisses is beyond the bound by the chain, on data made to fool it.
#include "cpu/brute_force/product_filter.hpp"

#include "core/metric/reduced_distance.hpp"
#include "support/random_case.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class ProductFilter : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ProductFilter, Types);

/// Two points as the scan filters them: copies around a centre, for points up to `largest` away from it.
template <typename T>
struct FilteredPair {
  cpu::FilterUnits units;
  float value;
  double query_term;

  FilteredPair(const T* query, const T* point, const std::vector<double>& centre, std::uint32_t dims, double largest)
      : units(cpu::filter_units<T>(largest, dims)) {
    std::vector<float> q(dims), p(dims);
    for (std::uint32_t d = 0; d < dims; ++d) {
      q[d] = cpu::filter_value(query[d], centre[d], units.scale);
      p[d] = cpu::filter_value(point[d], centre[d], units.scale);
    }
    double query_norm, point_norm;
    cpu::filter_norms(q.data(), dims, 1, &query_norm);
    cpu::filter_norms(p.data(), dims, 1, &point_norm);
    query_term = cpu::query_term(query_norm, dims);
    value = cpu::point_term(point_norm, dims);
    const bool has_point = std::isfinite(value), has_query = std::isfinite(query_term);
    for (std::uint32_t d = 0; d < dims; ++d) {
      value = std::fma(has_point ? p[d] : 0.0f, has_query ? -2 * q[d] : 0.0f, value);
    }
  }
  bool is_dismissed(T bound) const { return value > cpu::filter_bound(bound, query_term, units); }
};

template <typename T>
double largest_apart(const PointSet& rows, const std::vector<double>& centre) {
  double largest = 0;
  for (std::uint64_t i = 0; i < rows.view().rows(); ++i) {
    for (std::size_t d = 0; d < centre.size(); ++d) {
      largest = std::max(largest, std::abs(static_cast<double>(rows.view().row<T>(i)[d]) - centre[d]));
    }
  }
  return largest;
}

/// Coordinates times powers of two from all over the type's range.
template <typename T>
void spread_sizes(PointSet& rows, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const int sizes = Limits::max_exponent - Limits::min_exponent + Limits::digits;
  const int least = Limits::min_exponent - Limits::digits + static_cast<int>(random() % static_cast<unsigned>(sizes));
  const int range = 1 + static_cast<int>(random() % 60);
  for (T& value : rows.values<T>()) {
    int exponent = 0;
    const T fraction = std::frexp(value, &exponent);
    exponent = least + static_cast<int>(random() % static_cast<unsigned>(range));
    value = std::ldexp(fraction, std::min(exponent, Limits::max_exponent));
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
    if (shape != NastyShape::uniform && random() % 2 == 0) spread_sizes<T>(rows, random);
    const T* query = rows.view().row<T>(0);
    const T* point = rows.view().row<T>(1);
    std::vector<double> centre(dims, 0.0);
    if (random() % 2 == 0) centre.assign(rows.view().row<T>(2), rows.view().row<T>(2) + dims);
    double largest = largest_apart<T>(rows, centre);
    if (shape != NastyShape::uniform && random() % 4 == 0) {  // as if other points were much farther away, or nearer
      largest = std::ldexp(largest, static_cast<int>(random() % 400) - 200);
    }
    const FilteredPair<T> pair(query, point, centre, dims, largest);
    const T reduced = core::reduced_distance(core::L2{}, query, point, dims);
    // The tightest bound that must still let the pair through, and a loose one for the sharpness of the filter.
    EXPECT_FALSE(pair.is_dismissed(reduced)) << "round " << round << " dims " << dims;
    EXPECT_FALSE(pair.is_dismissed(std::numeric_limits<T>::infinity()));
    if (shape == NastyShape::uniform && reduced > T(0.01)) {
      ++beyond;
      dismissed_beyond += pair.is_dismissed(reduced / 2) ? 1 : 0;
    }
  }
  EXPECT_GT(beyond, 1000u);
  EXPECT_EQ(dismissed_beyond, beyond);  // on plain data it is sharp
}

/// Pairs whose roundings all err the same way: behind a large coordinate, which makes the sum large, come products of
/// about half a unit of its last place. In equal points each of them is lost, in opposite ones each is rounded up.
TYPED_TEST(ProductFilter, NeverDismissesWhereRoundingsAddUp) {
  using T = TypeParam;
  constexpr double kRoundoff = std::numeric_limits<float>::epsilon() / 2;
  for (const std::uint32_t dims : {2u, 16u, 100u, 784u, 4096u}) {
    for (const bool is_opposite : {false, true}) {
      for (double share = 0.9; share < 1.1; share += 0.005) {
        const double tiny = std::sqrt(share * kRoundoff * (is_opposite ? 1 : 0.5));
        std::vector<T> point(dims, static_cast<T>(tiny)), query(dims);
        point[0] = is_opposite ? T(1) : T(1.005);
        for (std::uint32_t d = 0; d < dims; ++d) query[d] = is_opposite ? -point[d] : point[d];
        const FilteredPair<T> pair(query.data(), point.data(), std::vector<double>(dims, 0.0), dims, 1);
        const T reduced = core::reduced_distance(core::L2{}, query.data(), point.data(), dims);
        EXPECT_FALSE(pair.is_dismissed(reduced))
            << "dims " << dims << " share " << share << " opposite " << is_opposite;
      }
    }
  }
}

TYPED_TEST(ProductFilter, IsAsSharpForNumbersOfAnySize) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  constexpr std::uint32_t kDims = 16;
  const PointSet rows = nasty_points(NastyShape::uniform, dtype_of<T>, 2, kDims, random);
  const int most = std::numeric_limits<T>::max_exponent / 2 - 8;  // squares must not leave the type
  for (int exponent = -most; exponent <= most; ++exponent) {
    std::vector<T> query(kDims), point(kDims);
    for (std::uint32_t d = 0; d < kDims; ++d) {
      query[d] = std::ldexp(rows.view().row<T>(0)[d], exponent);
      point[d] = std::ldexp(rows.view().row<T>(1)[d], exponent);
    }
    const FilteredPair<T> pair(query.data(), point.data(), std::vector<double>(kDims, 0.0), kDims,
                               std::ldexp(1.0, exponent));
    const T reduced = core::reduced_distance(core::L2{}, query.data(), point.data(), kDims);
    EXPECT_FALSE(pair.is_dismissed(reduced)) << exponent;
    EXPECT_TRUE(pair.is_dismissed(reduced * T(0.999))) << exponent;
  }
}

/// A reduced distance of zero is no distance of zero: the copies see what the reduced distance lost.
TYPED_TEST(ProductFilter, KeepsPairsWhoseReducedUnderflows) {
  using T = TypeParam;
  for (const T size :
       {std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min() * 64}) {
    const std::vector<T> query = {size, -size, size}, point = {-size, size, T(0)};
    const FilteredPair<T> pair(query.data(), point.data(), std::vector<double>(3, 0.0), 3, static_cast<double>(size));
    EXPECT_EQ(core::reduced_distance(core::L2{}, query.data(), point.data(), 3), T(0));
    EXPECT_FALSE(pair.is_dismissed(T(0))) << size;
  }
}

/// A shape of points whose coordinates f32 does not hold as they are.
struct HardShape {
  std::string name;
  double offset, size, clusters;  ///< cluster c lies at c * clusters
};

/// What the index says, against the chain of every pair; enough points that the filter works when lists are full.
TYPED_TEST(ProductFilter, SearchesOfHardShapesAreThoseOfTheReduced) {
  using T = TypeParam;
  const bool is_f64 = sizeof(T) == 8;
  const HardShape shapes[] = {{"plain", 0, 1, 0},
                              {"offset", 1e8, is_f64 ? 1 : 1e4, 0},
                              {"far clusters", 0, 1e-3, 1e6},
                              {"equal points", 3, 0, 0},
                              {"tiny", 0, is_f64 ? 1e-300 : 1e-38, 0},
                              {"small", 0, is_f64 ? 1e-155 : 1e-21, 0},
                              {"denormals", 0, is_f64 ? 1e-320 : 1e-43, 0},
                              {"large", 0, is_f64 ? 1e150 : 1e17, 0},
                              {"huge", 0, is_f64 ? 1e300 : 1e37, 0},
                              {"both", 0, is_f64 ? 1e-150 : 1e-18, is_f64 ? 1e150 : 1e18}};
  constexpr std::uint32_t kPoints = 1500, kQueries = 30, kNearest = 3;
  for (const HardShape& shape : shapes) {
    for (const std::uint32_t dims : {3u, 17u}) {
      std::mt19937_64 random(dims);
      std::uniform_real_distribution<double> fraction(-1, 1);
      const auto draw = [&](std::uint64_t count) {
        PointSet rows(dtype_of<T>, count, dims);
        std::uint64_t i = 0;
        for (T& value : rows.values<T>()) {
          const double cluster = static_cast<double>(i++ / dims % 3);
          value = static_cast<T>(shape.offset + cluster * shape.clusters + fraction(random) * shape.size);
        }
        return rows;
      };
      const PointSet points = draw(kPoints), queries = draw(kQueries);
      const Index index = Index::build(points.view(), {.engine = Engine::brute_force, .threads = 1});
      const Neighbors found = index.knn(queries.view(), kNearest, {.squared = true, .threads = 1});
      for (std::uint32_t q = 0; q < kQueries; ++q) {
        std::vector<std::pair<T, std::uint32_t>> all(kPoints);
        for (std::uint32_t i = 0; i < kPoints; ++i) {
          all[i] = {core::reduced_distance(core::L2{}, queries.view().template row<T>(q),
                                           points.view().template row<T>(i), dims),
                    i};
        }
        std::partial_sort(all.begin(), all.begin() + kNearest, all.end());
        for (std::uint32_t j = 0; j < kNearest; ++j) {
          ASSERT_EQ(found.index(q, j), all[j].second) << shape.name << " dims " << dims << " query " << q;
          ASSERT_EQ(found.distance(q, j), static_cast<double>(all[j].first)) << shape.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
