// Vectors in transposed blocks give the values of the contract's chain, byte for byte.
#include "cpu/cover_tree/vector_space.hpp"

#include "core/metric/reduced_distance.hpp"
#include "support/random_case.hpp"
#include "support/space_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class VectorSpaceOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorSpaceOf, Types);

TYPED_TEST(VectorSpaceOf, MeasuresLikeTheReduced) {
  using T = TypeParam;
  const std::uint32_t all_dims[] = {1, 2, 3, 16, 33, 55, 63, 64, 65, 96, 97, 200};
  const Metric metrics[] = {Metric::l2(), Metric::l1(), Metric::linf(), Metric::cosine()};
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t dims = all_dims[random() % std::size(all_dims)];
    const auto n = static_cast<std::uint32_t>(random() % 100);
    const Metric metric = metrics[random() % 4];
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const PointSet points = nasty_points(shape, dtype_of<T>, n + 1, dims, random);  // one more, so that there are any
    const PointSet others = nasty_points(shape, dtype_of<T>, 8, dims, random);
    const T* rows = points.view().row<T>(0);
    const cpu::VectorSpace<T> space(rows, n, dims, metric);
    std::vector<std::span<const T>> outside;
    for (std::uint64_t i = 0; i < 8; ++i) outside.emplace_back(others.view().row<T>(i), dims);
    const auto reduced_of = [&](const T* a, const T* b) {
      return core::visit_reduction<core::KdTreeReductions>(
          metric, [&](auto reduced) { return core::reduced_distance(reduced, a, b, dims); });
    };
    const auto row = [&](std::uint32_t i) { return rows + std::size_t{i} * dims; };
    check_space(
        space, outside, random, [&](std::uint32_t a, std::uint32_t b) { return reduced_of(row(a), row(b)); },
        [&](std::uint32_t i, std::uint32_t b) { return reduced_of(outside[i].data(), row(b)); });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(VectorSpaceOf, MeasuresFewLikeTheReduced) {
  using T = TypeParam;
  const std::uint32_t all_dims[] = {1, 3, 16, 55, 64, 65, 97, 200};
  const Metric metrics[] = {Metric::l2(), Metric::l1(), Metric::linf()};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t dims = all_dims[random() % std::size(all_dims)];
    const auto n = static_cast<std::uint32_t>(1 + random() % 60);
    const Metric metric = metrics[random() % 3];
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const PointSet points = nasty_points(shape, dtype_of<T>, n, dims, random);
    const T* rows = points.view().row<T>(0);
    const cpu::VectorSpace<T> space(rows, n, dims, metric);
    const auto value_of = [&](std::uint32_t a, std::uint32_t b) {
      return core::visit_reduction<core::KdTreeReductions>(metric, [&](auto reduced) {
        return core::reduced_distance(reduced, rows + std::size_t{a} * dims, rows + std::size_t{b} * dims, dims);
      });
    };
    std::vector<std::uint32_t> few(1 + random() % cpu::kFew), many(random() % 50), found(many.size());
    for (auto& number : few) number = static_cast<std::uint32_t>(random() % n);
    for (auto& number : many) number = static_cast<std::uint32_t>(random() % n);
    std::vector<T> limits(many.size()), values(many.size() * cpu::kFew);
    for (T& limit : limits) {
      const auto a = static_cast<std::uint32_t>(random() % n), b = static_cast<std::uint32_t>(random() % n);
      limit = random() % 8 == 0 ? T(-1) : random() % 8 == 0 ? std::numeric_limits<T>::infinity() : value_of(a, b);
    }
    typename cpu::VectorSpace<T>::Few measured;
    measured.set(space, few);
    const std::uint32_t hits = measured.measure(many.data(), limits.data(), static_cast<std::uint32_t>(many.size()),
                                                found.data(), values.data());
    std::uint32_t hit = 0;
    for (std::uint32_t i = 0; i < many.size(); ++i) {
      const bool is_near =
          std::any_of(few.begin(), few.end(), [&](auto one) { return value_of(one, many[i]) <= limits[i]; });
      if (!is_near) continue;
      ASSERT_LT(hit, hits);
      ASSERT_EQ(found[hit], i);
      for (std::size_t j = 0; j < few.size(); ++j) {
        const T expected = value_of(few[j], many[i]), value = values[hit * std::size_t{cpu::kFew} + j];
        if (expected <= limits[i]) {
          ASSERT_EQ(value, expected);
        } else {
          ASSERT_GT(value, limits[i]);
        }
      }
      ++hit;
    }
    ASSERT_EQ(hit, hits);
  }
}

TYPED_TEST(VectorSpaceOf, KnowsDistancesAndEqualRows) {
  using T = TypeParam;
  const T rows[] = {0, 1, T(-0.0), 1, 0, 2};
  const cpu::VectorSpace<T> space(rows, 3, 2, Metric::l2());
  EXPECT_TRUE(space.same(0, 1));
  EXPECT_FALSE(space.same(0, 2));
  EXPECT_EQ(space.metric(T(2)), static_cast<double>(std::sqrt(T(2))));
  EXPECT_EQ(cpu::VectorSpace<T>(rows, 3, 2, Metric::l1()).metric(T(2)), 2.0);
  EXPECT_EQ(space.rounding().relative, core::reduced_rounding<T>(2).relative);
}

}  // namespace
}  // namespace kith::test
