// The GPU builds the CPU's tree, byte by byte, whatever the points. Suites named Small are for compute-sanitizer too.
#include "cuda/on_device.hpp"
#include "support/random_case.hpp"
#include "support/sign_index.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/generate.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint32_t kDims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 100};
constexpr std::uint32_t kLeafSizes[] = {1, 3, 8, 24, 64, 500, 1024};

BuildOptions tree_on(Device device, std::uint32_t leaf_size = 0, SplitRule split = SplitRule::widest) {
  return {.engine = Engine::kd_tree, .device = device, .split = split, .leaf_size = leaf_size};
}

/// Both trees, from host memory.
void expect_tree_of_cpu(PointView points, std::uint32_t leaf_size = 0, SplitRule split = SplitRule::widest) {
  const auto expected = Index::build(points, tree_on(Device::cpu(), leaf_size, split)).to_bytes();
  const auto built = Index::build(points, tree_on(Device::cuda(), leaf_size, split)).to_bytes();
  ASSERT_EQ(built.size(), expected.size());
  const auto differs = std::mismatch(built.begin(), built.end(), expected.begin());
  ASSERT_TRUE(differs.first == built.end())
      << points.rows() << " x " << points.dims() << ", " << (points.dtype() == DType::f32 ? "f32" : "f64")
      << ", leaves of " << leaf_size << ", split " << name_of(split) << ": first difference at byte "
      << differs.first - built.begin() << " of " << built.size();
}

void expect_tree_of_cpu_on_random_case(std::uint64_t seed, std::uint64_t most_rows) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
  const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
  const std::uint32_t dims = kDims[random() % std::size(kDims)];
  const std::uint32_t leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
  const SplitRule split = random() % 3 == 0 ? SplitRule::cycle : SplitRule::widest;
  const std::uint64_t rows = random() % (dims > 9 ? most_rows / 8 : most_rows);
  expect_tree_of_cpu(nasty_points(shape, dtype, rows, dims, random).view(), leaf_size, split);
}

/// Rows of three made by a function of the row.
template <typename Make>
PointSet rows_of_three(std::uint64_t rows, Make&& make) {
  PointSet points(DType::f32, rows, 3);
  float* out = points.values<float>().data();
  for (std::uint64_t i = 0; i < rows; ++i) make(i, out + 3 * i);
  return points;
}

float unit(std::mt19937_64& random) { return static_cast<float>(random() >> 40) * 0x1.0p-24f; }

// --- small ---

TEST(SmallBuildOnDevice, GivesTheTreeOfTheCpuOnRandomCases) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 0; seed < rounds(60) && !HasFatalFailure(); ++seed)
    expect_tree_of_cpu_on_random_case(seed, 3000);
}

TEST(SmallBuildOnDevice, KnowsNoPointsAndVeryFew) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(3);
  for (const std::uint32_t leaf_size : kLeafSizes) {
    for (const std::uint64_t rows : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{leaf_size} - 1,
                                     std::uint64_t{leaf_size}, std::uint64_t{leaf_size} + 1}) {
      const PointSet points = nasty_points(NastyShape::uniform, DType::f32, rows, 3, random);
      expect_tree_of_cpu(points.view(), leaf_size);
      if (HasFatalFailure()) return;
    }
  }
}

/// More points than a block finishes alone: as many as a cluster splits, and one more.
TEST(SmallBuildOnDevice, SplitsLargeNodesToo) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(4);
  for (const std::uint64_t rows : {20'000u, 32'768u, 32'769u}) {
    if (rounds(2) < 2 && rows != 20'000) continue;
    for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal}) {
      for (const DType dtype : {DType::f32, DType::f64}) {
        expect_tree_of_cpu(nasty_points(shape, dtype, rows, 3, random).view(), 24);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SmallBuildOnDevice, ReadsRowsWhereTheyLie) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(5);
  for (const std::uint32_t dims : {1u, 3u, 4u, 9u}) {
    const PointSet points = nasty_points(NastyShape::clusters, DType::f32, 9000, dims, random);
    const std::span<const float> values = points.values<float>();
    const auto expected = Index::build(points.view(), tree_on(Device::cpu())).to_bytes();
    const DeviceArray<float> rows(values);
    const PointView view(rows.data(), points.rows(), dims, Device::cuda());
    EXPECT_TRUE(Index::build(view, tree_on(Device::cuda())).to_bytes() == expected) << dims << " dims";
    EXPECT_TRUE(rows.values() == std::vector<float>(values.begin(), values.end())) << "the caller's rows changed";

    // Two columns more in each row, which hold what must not be looked at.
    std::vector<float> wide(points.rows() * (dims + 2), NAN);
    for (std::uint64_t i = 0; i < points.rows(); ++i) {
      std::copy_n(values.data() + i * dims, dims, wide.data() + i * (dims + 2));
    }
    const DeviceArray<float> apart{std::span<const float>(wide)};
    const PointView gaps(apart.data(), DType::f32, points.rows(), dims, dims + 2, Device::cuda());
    EXPECT_TRUE(Index::build(gaps, tree_on(Device::cuda())).to_bytes() == expected) << dims << " dims, with gaps";
  }
}

TEST(SmallBuildOnDevice, NamesBadPoints) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(6);
  for (const std::uint64_t rows : {std::uint64_t{50}, std::uint64_t{10'000} * rounds(2)}) {
    PointSet points = nasty_points(NastyShape::uniform, DType::f64, rows, 4, random);
    points.values<double>()[(rows - 1) * 4 + 2] = -INFINITY;
    points.values<double>()[37 * 4 + 3] = NAN;
    const DeviceArray<double> there(points.values<double>());
    const PointView on_device(there.data(), rows, 4, Device::cuda());
    const std::string expected = thrown_message<BadData>([&] { Index::build(points.view(), tree_on(Device::cpu())); });
    EXPECT_NE(expected.find("row 37, column 3"), std::string::npos) << expected;
    EXPECT_EQ(thrown_message<BadData>([&] { Index::build(points.view(), tree_on(Device::cuda())); }), expected);
    EXPECT_EQ(thrown_message<BadData>([&] { Index::build(on_device, tree_on(Device::cuda())); }), expected);
  }
}

TEST(SmallBuildOnDevice, IsLoadedOnEitherDevice) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(7);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet points = nasty_points(NastyShape::clusters, dtype, 9000, 3, random);
    const Index built = Index::build(points.view(), tree_on(Device::cuda()));
    EXPECT_EQ(built.device(), Device::cuda());
    EXPECT_EQ(built.size(), points.rows());
    const auto bytes = built.to_bytes();
    EXPECT_EQ(std::memcmp(built.points().view().data(), points.view().data(), points.bytes()), 0);
    const Index on_cpu = Index::from_bytes(bytes);
    EXPECT_TRUE(on_cpu.to_bytes() == bytes);
    EXPECT_TRUE(on_cpu.knn_self(4) == Index::build(points.view(), tree_on(Device::cpu())).knn_self(4));
    const Index on_gpu =
        Index::from_bytes(Index::build(points.view(), tree_on(Device::cpu())).to_bytes(), {.device = Device::cuda()});
    EXPECT_EQ(on_gpu.device(), Device::cuda());
    EXPECT_TRUE(on_gpu.to_bytes() == bytes);
  }
}

/// Bytes changed by someone who knows how to make the checksums right: both devices agree on what they make of them.
TEST(SmallBuildOnDevice, ForgedFilesAreRefusedAsOnTheCpu) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(8);
  const PointSet points = nasty_points(NastyShape::grid, DType::f32, 700, 3, random);
  const auto genuine = Index::build(points.view(), tree_on(Device::cpu(), 8)).to_bytes();
  const auto outcome = [](const std::vector<std::byte>& bytes, Device device) -> std::string {
    try {
      return Index::from_bytes(bytes, {.device = device}).to_bytes() == bytes ? "accepted" : "changed";
    } catch (const CorruptFile& error) {
      return error.what();
    }
  };
  for (int i = 0; i < 200; ++i) {
    auto forged = genuine;
    forged[random() % forged.size()] ^= static_cast<std::byte>(1u << (random() % 8));
    sign_index(forged);
    ASSERT_EQ(outcome(forged, Device::cuda()), outcome(forged, Device::cpu())) << "change " << i;
  }
}

// --- large ---

TEST(BuildOnDevice, GivesTheTreeOfTheCpuOnRandomCases) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 1000; seed < 1250 && !HasFatalFailure(); ++seed) {
    expect_tree_of_cpu_on_random_case(seed, seed % 10 == 0 ? 300'000 : 30'000);
  }
}

TEST(BuildOnDevice, GivesTheTreeOfTheCpuAroundPowersOfTwo) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(9);
  for (std::uint32_t k = 2; k <= 17; ++k) {
    for (const std::uint64_t rows : {(1u << k) - 1, 1u << k, (1u << k) + 1}) {
      const std::uint32_t dims = kDims[random() % 9], leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
      const auto shape = random() % 2 == 0 ? NastyShape::uniform : NastyShape::grid;
      expect_tree_of_cpu(nasty_points(shape, k % 2 == 0 ? DType::f32 : DType::f64, rows, dims, random).view(),
                         leaf_size);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BuildOnDevice, GivesTheTreeOfTheCpuInEveryNumberOfDims) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(10);
  for (const std::uint32_t dims : kDims) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const SplitRule split : {SplitRule::widest, SplitRule::cycle}) {
        const std::uint64_t rows = dims > 9 ? 20'000 : 100'000;
        expect_tree_of_cpu(nasty_points(NastyShape::clusters, dtype, rows, dims, random).view(), 0, split);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(BuildOnDevice, GivesTheTreeOfTheCpuOnGeneratedShapes) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  using apps::Shape;
  for (const Shape shape : {Shape::uniform, Shape::clusters, Shape::surface, Shape::lidar, Shape::grid, Shape::line,
                            Shape::duplicates, Shape::classes}) {
    SCOPED_TRACE(apps::name_of(shape));
    for (const std::uint64_t rows : {std::uint64_t{100'000}, std::uint64_t{1'000'000}}) {
      const DType dtype = rows == 100'000 ? DType::f64 : DType::f32;
      expect_tree_of_cpu(apps::generate({.shape = shape, .points = rows, .dtype = dtype}).points.view());
      if (HasFatalFailure()) return;
    }
  }
}

/// Rows with NaN, which scanners write where they saw nothing, are left out.
TEST(BuildOnDevice, GivesTheTreeOfTheCpuOnRealClouds) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  if (!std::filesystem::exists(KITH_TEST_DATA)) GTEST_SKIP() << "no test data at " << KITH_TEST_DATA;
  for (const char* name : {"stanford_bunny/bun_zipper.ply", "stanford_bunny/bun000.ply", "pcl/office1.pcd",
                           "pcl/table_scene_mug_stereo_textured.pcd", "pdal_las/las_autzen_trim.las",
                           "libpointmatcher/car_cloud400.csv", "open3d/slac_fragment_000.ply"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      SCOPED_TRACE(name);
      const auto file = io::read_points(std::string(KITH_TEST_DATA) + "/" + name, {.dtype = dtype});
      const PointView all = file.view();
      std::vector<std::uint64_t> rows;
      for (std::uint64_t row = 0; row < all.rows(); ++row) {
        bool is_finite = true;
        for (std::uint32_t d = 0; d < all.dims(); ++d) {
          is_finite = is_finite && (dtype == DType::f32 ? std::isfinite(all.row<float>(row)[d])
                                                        : std::isfinite(all.row<double>(row)[d]));
        }
        if (is_finite) rows.push_back(row);
      }
      ASSERT_GT(rows.size(), 1000u);
      PointSet points(dtype, rows.size(), all.dims());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (dtype == DType::f32) {
          std::copy_n(all.row<float>(rows[i]), all.dims(), points.values<float>().data() + i * all.dims());
        } else {
          std::copy_n(all.row<double>(rows[i]), all.dims(), points.values<double>().data() + i * all.dims());
        }
      }
      expect_tree_of_cpu(points.view());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BuildOnDevice, GivesTheTreeOfTheCpuOnAMillionHardPoints) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  constexpr std::uint64_t kRows = 1'000'000;
  std::mt19937_64 random(11);
  const auto expect = [](const char* what, const PointSet& points) {
    SCOPED_TRACE(what);
    expect_tree_of_cpu(points.view());
  };
  const auto draw_each = [&](auto&& draw) {
    return rows_of_three(kRows, [&](std::uint64_t, float* x) {
      for (int d = 0; d < 3; ++d) x[d] = draw();
    });
  };
  expect("a grid of 32 per side, each cell 30 times", draw_each([&] { return static_cast<float>(random() % 32); }));
  expect("two values", draw_each([&] { return random() % 2 == 0 ? -1.0f : 1.0f; }));
  expect("all equal", draw_each([] { return 0.1f; }));
  expect("zeros of both signs", draw_each([&] { return random() % 2 == 0 ? -0.0f : 0.0f; }));
  expect("zeros of both signs among others",
         draw_each([&] { return random() % 4 != 0 ? (random() % 2 == 0 ? -0.0f : 0.0f) : unit(random) - 0.5f; }));
  expect("two decimals", draw_each([&] { return std::round(unit(random) * 10'000) / 100; }));
  expect("from 1e-30 to 1e30", draw_each([&] { return std::pow(10.0f, 60 * unit(random) - 30); }));
  expect("denormals", draw_each([&] { return static_cast<float>(random() % 5000) * 0x1.0p-149f; }));
  expect("sorted by x", rows_of_three(kRows, [&](std::uint64_t i, float* x) {
           x[0] = static_cast<float>(i) / kRows;
           x[1] = unit(random);
           x[2] = unit(random);
         }));
  expect("one far away", rows_of_three(kRows, [&](std::uint64_t i, float* x) {
           for (int d = 0; d < 3; ++d) x[d] = i == 123'456 ? 1e30f : unit(random);
         }));
  expect("from one end of the floats to the other", rows_of_three(kRows, [&](std::uint64_t i, float* x) {
           for (int d = 0; d < 3; ++d) x[d] = i < 2 ? (i == 0 ? -3e38f : 3e38f) : unit(random);
         }));
}

}  // namespace
}  // namespace kith::test
