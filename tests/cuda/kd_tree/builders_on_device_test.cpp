// The builders with names build the tree of the CPU on a GPU, byte by byte. Suites named Small are for
// compute-sanitizer too.
#include "cuda/on_device.hpp"
#include "engine/validate.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/generate.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <random>
#include <string>

namespace kith::test {
namespace {

BuildOptions tree_by(Builder builder, Device device = Device::cuda(), std::uint32_t leaf_size = 0,
                     SplitRule split = SplitRule::widest) {
  return {.engine = Engine::kd_tree, .device = device, .split = split, .builder = builder, .leaf_size = leaf_size};
}

/// By every builder that has a name and runs on a GPU.
void expect_trees_of_cpu(PointView points, std::uint32_t leaf_size = 0, SplitRule split = SplitRule::widest) {
  const auto expected = Index::build(points, tree_by(Builder::histogram, Device::cpu(), leaf_size, split)).to_bytes();
  for (const Builder builder : {Builder::presort, Builder::select, Builder::segsort}) {
    const Index built = Index::build(points, tree_by(builder, Device::cuda(), leaf_size, split));
    ASSERT_NE(built.explain().find("builder " + std::string(name_of(builder))), std::string::npos) << built.explain();
    ASSERT_TRUE(built.to_bytes() == expected) << name_of(builder) << ": " << points.rows() << " x " << points.dims()
                                              << ", " << (points.dtype() == DType::f32 ? "f32" : "f64")
                                              << ", leaves of " << leaf_size << ", split " << name_of(split);
  }
}

void expect_trees_of_cpu_on_random_case(std::uint64_t seed, std::uint64_t most_rows) {
  constexpr std::uint32_t kDims[] = {1, 2, 3, 4, 5, 8, 9, 16, 100};
  constexpr std::uint32_t kLeafSizes[] = {1, 3, 8, 24, 64, 1024};
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
  const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
  const std::uint32_t dims = kDims[random() % std::size(kDims)];
  const std::uint32_t leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
  const SplitRule split = random() % 3 == 0 ? SplitRule::cycle : SplitRule::widest;
  const std::uint64_t rows = random() % (dims > 9 ? most_rows / 8 : most_rows);
  expect_trees_of_cpu(nasty_points(shape, dtype, rows, dims, random).view(), leaf_size, split);
}

TEST(SmallBuildersOnDevice, GiveTheTreeOfTheCpuOnRandomCases) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 0; seed < rounds(40) && !HasFatalFailure(); ++seed)
    expect_trees_of_cpu_on_random_case(seed, 3000);
}

TEST(SmallBuildersOnDevice, KnowNoPointsAndVeryFew) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(3);
  for (const std::uint32_t leaf_size : {1u, 3u, 24u}) {
    for (std::uint64_t rows = 0; rows < 2 + rounds(4); ++rows) {
      expect_trees_of_cpu(nasty_points(NastyShape::uniform, DType::f32, rows, 3, random).view(), leaf_size);
      if (HasFatalFailure()) return;
    }
  }
}

/// More points than a block takes.
TEST(SmallBuildersOnDevice, SplitLargeNodesToo) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(4);
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      if (dtype == DType::f64 && rounds(2) < 2) continue;
      expect_trees_of_cpu(nasty_points(shape, dtype, 20'000, 3, random).view(), 24);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SmallBuildersOnDevice, NameBadPoints) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(6);
  PointSet points = nasty_points(NastyShape::uniform, DType::f64, 5000, 4, random);
  points.values<double>()[4999 * 4 + 2] = -INFINITY;
  points.values<double>()[37 * 4 + 3] = NAN;
  const DeviceArray<double> there(points.values<double>());
  const PointView on_device(there.data(), points.rows(), 4, Device::cuda());
  const std::string expected = thrown_message<BadData>([&] { Index::build(points.view()); });
  for (const Builder builder : {Builder::presort, Builder::select, Builder::segsort}) {
    EXPECT_EQ(thrown_message<BadData>([&] { Index::build(points.view(), tree_by(builder)); }), expected);
    EXPECT_EQ(thrown_message<BadData>([&] { Index::build(on_device, tree_by(builder)); }), expected);
  }
}

TEST(BuildersOnDevice, GiveTheTreeOfTheCpuOnRandomCases) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 1000; seed < 1100 && !HasFatalFailure(); ++seed) {
    expect_trees_of_cpu_on_random_case(seed, seed % 10 == 0 ? 300'000 : 30'000);
  }
}

TEST(BuildersOnDevice, GiveTheTreeOfTheCpuOnGeneratedShapes) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  using apps::Shape;
  for (const Shape shape : {Shape::uniform, Shape::clusters, Shape::surface, Shape::lidar, Shape::grid, Shape::line,
                            Shape::duplicates, Shape::classes}) {
    SCOPED_TRACE(apps::name_of(shape));
    for (const std::uint64_t rows : {std::uint64_t{100'000}, std::uint64_t{1'000'000}}) {
      const DType dtype = rows == 100'000 ? DType::f64 : DType::f32;
      expect_trees_of_cpu(apps::generate({.shape = shape, .points = rows, .dtype = dtype}).points.view());
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace kith::test
