// What builds and searches take of a GPU's memory is what their plans say, and no more than a MemoryLimit allows. The
// pool that all of it comes from counts.
#include "cuda/on_device.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/job_plan.hpp>
#include <kith/memory_limit.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace kith::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class MemoryPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU is here";
    require_success(cudaDeviceGetDefaultMemPool(&pool_, 0));
  }

  std::uint64_t value(cudaMemPoolAttr which) const {
    require_success(cudaDeviceSynchronize());
    std::uint64_t bytes = 0;
    require_success(cudaMemPoolGetAttribute(pool_, which, &bytes));
    return bytes;
  }
  std::uint64_t used() const { return value(cudaMemPoolAttrUsedMemCurrent); }
  /// The most that was in use while `work` ran.
  std::uint64_t peak_of(const std::function<void()>& work) const {
    require_success(cudaDeviceSynchronize());
    std::uint64_t none = 0;
    require_success(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &none));
    work();
    return value(cudaMemPoolAttrUsedMemHigh);
  }

  PointSet points(DType dtype, std::uint64_t rows, std::uint32_t dims) {
    return nasty_points(NastyShape::uniform, dtype, rows, dims, random_);
  }

  std::mt19937_64 random_{17};
  cudaMemPool_t pool_ = nullptr;
};

/// Within 5 %, and what small arrays are rounded to.
void expect_about(std::uint64_t measured, std::uint64_t planned) {
  EXPECT_LE(measured, planned + planned / 20 + kMiB);
  EXPECT_GE(measured + measured / 20 + kMiB, planned);
}

TEST_F(MemoryPlan, IsWhatBuildsTake) {
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {2u, 3u, 4u, 8u, 16u}) {
        SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << name_of(dtype) << ", " << dims << " dims");
        const std::uint64_t rows = 2000001;
        const PointSet set = points(dtype, rows, dims);
        const BuildOptions options{.engine = engine, .device = Device::cuda()};
        const BuildPlan plan = Index::plan(rows, dims, dtype, options);
        const std::uint64_t before = used();
        std::optional<Index> index;
        const std::uint64_t peak = peak_of([&] { index = Index::build(set.view(), options); }) - before;
        expect_about(peak, plan.peak_bytes);
        expect_about(used() - before, plan.index_bytes);
      }
    }
  }
}

/// How many nodes a cover tree has depends on the points.
TEST_F(MemoryPlan, IsEnoughForCoverTrees) {
  for (const std::uint32_t dims : {2u, 3u, 16u}) {
    const PointSet set = points(DType::f32, 50000, dims);
    const BuildOptions options{.engine = Engine::cover_tree, .device = Device::cuda()};
    const std::uint64_t most = used() + Index::plan(50000, dims, DType::f32, options).peak_bytes + kMiB;
    EXPECT_LE(peak_of([&] { Index::build(set.view(), options); }), most) << dims;
    const MemoryLimit limit(most);
    EXPECT_LE(peak_of([&] { Index::build(set.view(), options); }), most) << dims << ", limited";
  }
}

TEST_F(MemoryPlan, IsWhatSearchesTake) {
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << name_of(dtype));
      const std::uint64_t rows = engine == Engine::kd_tree ? 1000000 : 20000, asked = 5000000;
      const PointSet set = points(dtype, rows, 3), queries = points(dtype, asked, 3);
      const std::uint64_t before = used();
      const Index index = Index::build(set.view(), {.engine = engine, .device = Device::cuda()});
      const JobPlan plan =
          plan_job({.points = rows, .dtype = dtype, .queries = asked, .engine = engine, .device = Device::cuda()});
      const std::uint64_t peak = peak_of([&] { index.knn(queries.view(), 8); }) - before;
      EXPECT_LE(peak, plan.search_bytes + plan.search_bytes / 20 + kMiB);
      if (engine == Engine::kd_tree) expect_about(peak, plan.search_bytes);  // candidates of brute force may be fewer
    }
  }
}

/// More neighbours, so that a search takes longer than copies, and the points themselves, which are searched at once.
TEST_F(MemoryPlan, IsWhatOtherSearchesInTreesTake) {
  const std::uint64_t rows = 2000000, asked = 3000000;
  const std::uint32_t k = 50;
  const PointSet set = points(DType::f32, rows, 3), queries = points(DType::f32, asked, 3);
  const std::uint64_t before = used();
  const Index index = Index::build(set.view(), {.engine = Engine::kd_tree, .device = Device::cuda()});
  JobRequest job{.points = rows, .k = k, .queries = asked, .engine = Engine::kd_tree, .device = Device::cuda()};
  expect_about(peak_of([&] { index.knn(queries.view(), k); }) - before, plan_job(job).search_bytes);
  job.queries.reset();
  expect_about(peak_of([&] { index.knn_self(k); }) - before, plan_job(job).search_bytes);
}

TEST_F(MemoryPlan, LimitsAreObeyed) {
  const PointSet set = points(DType::f32, 500000, 3), queries = points(DType::f32, 1000000, 3);
  const BuildOptions tree{.engine = Engine::kd_tree, .device = Device::cuda()};
  const std::uint64_t before = used(), needed = Index::plan(500000, 3, DType::f32, tree).peak_bytes;
  const Neighbors expected = Index::build(set.view(), tree).knn(queries.view(), 8);
  {
    const MemoryLimit limit(before + needed - 1);
    const std::string text = thrown_message<OutOfMemory>([&] { Index::build(set.view(), tree); });
    EXPECT_PRED2(holds, text, "needs " + std::to_string(needed));
    EXPECT_PRED2(holds, text, "the limit of " + std::to_string(before + needed - 1));
  }
  std::optional<Index> index;
  {
    const MemoryLimit limit(before + needed + kMiB);  // small arrays are rounded
    EXPECT_LE(peak_of([&] { index = Index::build(set.view(), tree); }), before + needed + kMiB);
  }
  for (const std::uint64_t more : {64 * kMiB, 16 * kMiB, 4 * kMiB}) {
    const MemoryLimit limit(used() + more);
    EXPECT_LE(peak_of([&] { EXPECT_TRUE(index->knn(queries.view(), 8) == expected) << more; }), used() + more);
    index->count(queries.view(), 0.01);
  }
  const MemoryLimit none(used());
  EXPECT_THROW(index->knn(queries.view(), 8), OutOfMemory);
}

TEST_F(MemoryPlan, ALimitMakesBruteForceTakePointsInParts) {
  const PointSet set = points(DType::f32, 300000, 16), queries = points(DType::f32, 100, 16);
  const BuildOptions brute{.engine = Engine::brute_force, .device = Device::cuda()};
  const Neighbors expected = Index::build(set.view(), brute).knn(queries.view(), 5);
  const MemoryLimit limit(used() + 24 * kMiB);
  const Index index = Index::build(set.view(), brute);
  EXPECT_PRED2(holds, index.explain(), "4 parts of up to ");
  EXPECT_LE(peak_of([&] { EXPECT_TRUE(index.knn(queries.view(), 5) == expected); }), used() + 24 * kMiB);
}

}  // namespace
}  // namespace kith::test
