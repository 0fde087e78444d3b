// The plans of a GPU whose blocks have 64 KiB of shared memory, on the GPU that is there: the CPU's trees and answers.
#include "cuda/on_device.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace kith::test {
namespace {

/// Sets the limit while a test runs.
class SmallPlanOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
    if (const char* const before = std::getenv(cuda::kSharedLimitVariable)) before_ = before;
    setenv(cuda::kSharedLimitVariable, "64", 1);
  }
  void TearDown() override { setenv(cuda::kSharedLimitVariable, before_.c_str(), 1); }  // empty: no limit

  static Index build(PointView points, Engine engine, Device device, std::uint32_t leaf_size = 0) {
    return Index::build(points, {.engine = engine, .device = device, .leaf_size = leaf_size});
  }
  static void expect_tree_of_cpu(PointView points, std::uint32_t leaf_size) {
    EXPECT_TRUE(build(points, Engine::kd_tree, Device::cuda(), leaf_size).to_bytes() ==
                build(points, Engine::kd_tree, Device::cpu(), leaf_size).to_bytes())
        << points.rows() << " x " << points.dims() << " of " << name_of(points.dtype()) << ", leaves of " << leaf_size;
  }

  std::mt19937_64 random_{64};

 private:
  std::string before_;
};
class LargeTreeWith64KibOnDevice : public SmallPlanOnDevice {};

TEST_F(SmallPlanOnDevice, IsWhatTheLimitSays) { EXPECT_EQ(cuda::shared_limit_of(0), cuda::kLeastSharedBytes); }

TEST_F(SmallPlanOnDevice, BuildsTheTreeOfTheCpu) {
  for (const std::uint32_t dims : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 33u}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal}) {
        expect_tree_of_cpu(nasty_points(shape, dtype, 9000, dims, random_).view(), 24);
        if (HasFailure()) return;
      }
    }
  }
}

/// Leaves whose coordinates do not fit beside the rest.
TEST_F(SmallPlanOnDevice, BuildsLargeLeaves) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::uint32_t dims = dtype == DType::f32 ? 16 : 8;
    expect_tree_of_cpu(nasty_points(NastyShape::clusters, dtype, 5000, dims, random_).view(), 1024);
  }
}

TEST_F(SmallPlanOnDevice, SearchesEqualTheCpu) {
  for (const Engine engine : {Engine::kd_tree, Engine::brute_force, Engine::cover_tree}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {3u, 8u, 130u}) {
        if (dims == 130 && engine == Engine::kd_tree) continue;
        SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << dims << " dims of " << name_of(dtype));
        const PointSet points = nasty_points(NastyShape::clusters, dtype, 2500, dims, random_);
        const PointSet queries = nasty_points(NastyShape::clusters, dtype, 150, dims, random_);
        const Index on_cpu = build(points.view(), engine, Device::cpu()),
                    on_gpu = build(points.view(), engine, Device::cuda());
        for (const std::uint32_t k : {1u, 20u, 100u}) {
          expect_same(on_cpu.knn(queries.view(), k), on_gpu.knn(queries.view(), k));
        }
        EXPECT_EQ(on_cpu.count(queries.view(), 1.0), on_gpu.count(queries.view(), 1.0));
        if (HasFailure()) return;
      }
    }
  }
}

/// Pass 0 has no room for the box of a segment.
TEST_F(SmallPlanOnDevice, TooManyDimsForATreeAreNamed) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f64, 3000, 800, random_);
  const std::string message =
      thrown_message<DeviceError>([&] { build(points.view(), Engine::kd_tree, Device::cuda()); });
  EXPECT_PRED2(holds, message, "800 dims");
  EXPECT_PRED2(holds, message, "brute force");
}

TEST_F(LargeTreeWith64KibOnDevice, BuildsTheTreeOfTheCpu) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint32_t dims : {3u, 8u}) {
      for (const NastyShape shape : {NastyShape::uniform, NastyShape::wide_spread, NastyShape::grid}) {
        expect_tree_of_cpu(nasty_points(shape, dtype, 4'300'000, dims, random_).view(), 0);  // enough for samples
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
