// Answers on a GPU are the same with every value that a profile may hold.
#include "cuda/on_device.hpp"
#include "support/expect_same.hpp"

#include <kith/apps/generate.hpp>
#include <kith/index.hpp>
#include <kith/profile.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace kith::test {
namespace {

PointSet uniform(std::uint64_t points, std::uint32_t dims, std::uint64_t seed) {
  return std::move(apps::generate({.points = points, .dims = dims, .seed = seed}).points);
}

TEST(SmallTunedValues, ChangeNoAnswer) {
  if (!has_gpu()) GTEST_SKIP() << "there is no GPU";
  use_profile("none");
  const std::uint64_t all = 2 * 3 * 2 * tuned_values().size(), every = all / rounds(all);
  std::uint64_t cases = 0;
  for (const std::uint32_t dims : {3, 16}) {
    const PointSet points = uniform(9000, dims, 1), queries = uniform(300, dims, 2);
    for (const Engine engine : {Engine::automatic, Engine::brute_force, Engine::kd_tree}) {
      use_tuning({});
      const Neighbors expected =
          Index::build(points.view(), {.engine = engine, .device = Device::cpu()}).knn(queries.view(), 8);
      for (const TunedValue& value : tuned_values()) {
        for (const std::uint64_t number : {value.least, value.most}) {
          if (cases++ % every != 0) continue;
          SCOPED_TRACE(testing::Message() << value.name << " = " << number << ", " << dims << " dims");
          Tuning values;
          values.*value.member = number;
          use_tuning(values);
          const BuildOptions options{.engine = engine, .device = Device::cuda(), .expected_queries = 300};
          expect_same(expected, Index::build(points.view(), options).knn(queries.view(), 8));
        }
      }
    }
  }
  use_tuning({});
}

}  // namespace
}  // namespace kith::test
