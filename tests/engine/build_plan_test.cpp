// What a build takes is known before it begins, and which device `automatic` means.
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/device.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace kith::test {
namespace {

bool has_gpu() { return available_devices().size() > 1; }

TEST(BuildPlan, IndexBytesAreThoseOfTheIndex) {
  std::mt19937_64 random(11);
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {1u, 3u, 8u, 9u, 40u}) {
        for (const std::uint64_t rows : {0u, 1u, 17u, 500u, 1025u}) {
          for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::cosine()}) {
            SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << name_of(dtype) << ", " << rows << " x "
                                            << dims << ", " << metric.name());
            const BuildOptions options{
                .engine = engine, .metric = metric, .leaf_size = dims == 8 ? 5u : 0u, .threads = 2};
            const BuildPlan plan = Index::plan(rows, dims, dtype, options);
            const PointSet points = nasty_points(NastyShape::uniform, dtype, rows, dims, random);
            EXPECT_EQ(plan.engine, engine);
            EXPECT_EQ(plan.device, Device::cpu());
            EXPECT_EQ(plan.index_bytes, Index::build(points.view(), options).memory_bytes());
            EXPECT_GE(plan.peak_bytes, plan.index_bytes);
          }
        }
      }
    }
  }
}

TEST(BuildPlan, ThePeriodDecidesWhatBruteForceKeeps) {
  std::mt19937_64 random(12);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 100, 2, random);
  const BuildOptions options{.engine = Engine::brute_force, .period = {1, 0}};
  EXPECT_EQ(Index::plan(100, 2, DType::f32, options).index_bytes, Index::build(points.view(), options).memory_bytes());
}

TEST(BuildPlan, IsMadeWithoutMemory) {
  const BuildPlan plan = Index::plan(0xFFFFFFFEull, 4096, DType::f64, {.engine = Engine::kd_tree});
  EXPECT_GT(plan.index_bytes, 0xFFFFFFFEull * 4096 * 8);
  EXPECT_GT(plan.peak_bytes, plan.index_bytes);
}

TEST(BuildPlan, ChoosesAsTheBuildDoes) {
  EXPECT_EQ(Index::plan(100, 3, DType::f32).engine, Engine::brute_force);
  const BuildPlan plan = Index::plan(100000, 3, DType::f32);
  EXPECT_EQ(plan.engine, Engine::kd_tree);
  EXPECT_PRED2(holds, plan.reason, "a k-d tree prunes well");
}

TEST(BuildPlan, RefusesWhatBuildRefuses) {
  EXPECT_THROW(Index::plan(1ull << 32, 1, DType::f32), UsageError);
  EXPECT_THROW(Index::plan(1, 4097, DType::f32), UsageError);
  EXPECT_THROW(Index::plan(1, 0, DType::f32), UsageError);
  EXPECT_THROW(Index::plan(1, 1, DType::f32, {.leaf_size = 2000}), UsageError);
  EXPECT_THROW(Index::plan(1, 1, DType::f32, {.engine = Engine::cover_tree, .metric = Metric::lp(3)}), UsageError);
  EXPECT_THROW(Index::plan(1, 1, DType::f32, {.device = Device::cuda(99)}), DeviceError);
}

TEST(AutomaticDevice, IsTheCpuForLittleWork) {
  const BuildPlan plan = Index::plan(1000, 3, DType::f32, {.device = Device::automatic()});
  EXPECT_EQ(plan.device, Device::cpu());
  EXPECT_PRED2(holds, plan.reason, "\ndevice cpu: ");
}

TEST(AutomaticDevice, IsTheDefaultAndLooksForNoGpuInVain) {
  EXPECT_EQ(BuildOptions().device, Device::automatic());
  EXPECT_EQ(LoadOptions().device, Device::automatic());
  EXPECT_PRED2(holds, Index::plan(999999, 3, DType::f32).reason, "device cpu: a GPU pays from 1000000 points on");
  for (const Engine engine : {Engine::automatic, Engine::kd_tree}) {
    const BuildPlan few = Index::plan(5000000, 3, DType::f32, {.engine = engine, .expected_queries = 10});
    EXPECT_PRED2(holds, few.reason, "device cpu: 10 queries are answered before a GPU has started");
  }
  EXPECT_PRED2(holds, Index::plan(5000000, 3, DType::f32, {.device = Device::cpu()}).reason, "device cpu: as asked");
}

TEST(AutomaticDevice, IsTheCpuWhereNoGpuIs) {
  if (has_gpu()) GTEST_SKIP() << "there is a GPU";
  constexpr std::uint64_t kRows = 1100000;
  EXPECT_EQ(Index::plan(kRows, 2, DType::f32, {.device = Device::automatic()}).device, Device::cpu());
  std::mt19937_64 random(13);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, kRows, 2, random);
  const Index index = Index::build(points.view(), {.engine = Engine::kd_tree, .device = Device::automatic()});
  EXPECT_EQ(index.device(), Device::cpu());
}

TEST(AutomaticDevice, HoldsForLoadingToo) {
  const float points[] = {0, 1, 2};
  const Index index = Index::build(PointView(points, 3, 1), {.engine = Engine::kd_tree});
  EXPECT_EQ(Index::from_bytes(index.to_bytes(), {.device = Device::automatic()}).device(), Device::cpu());
  EXPECT_THROW(Index::from_bytes(index.to_bytes(), {.device = Device::cuda(99)}), DeviceError);
}

TEST(DeviceArrays, NeedAPlaceAndAGpu) {
  const float values[] = {0, 1, 2, 3};
  const Index index = Index::build(PointView(values, 2, 2));
  EXPECT_THROW(Index::build(PointView(values, 2, 2, Device::automatic())), UsageError);
  EXPECT_THROW(index.knn(PointView(values, 2, 2, Device::automatic()), 1), UsageError);
  if (has_gpu()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THROW(Index::build(PointView(values, 2, 2, Device::cuda())), DeviceError);
  EXPECT_THROW(index.knn(PointView(values, 2, 2, Device::cuda()), 1), DeviceError);
  EXPECT_THROW(index.radius(PointView(values, 2, 2, Device::cuda()), 1), DeviceError);
  EXPECT_THROW(index.count(PointView(values, 2, 2, Device::cuda()), 1), DeviceError);
  EXPECT_THROW(index.box(PointView(values, 2, 2, Device::cuda()), PointView(values, 2, 2)), DeviceError);
  EXPECT_THROW(index.box_count(PointView(values, 2, 2), PointView(values, 2, 2, Device::cuda())), DeviceError);
}

}  // namespace
}  // namespace kith::test
