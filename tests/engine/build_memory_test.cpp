// Building a tree needs no more memory than the page on the k-d tree says, and a job what its plan says.
#include "support/random_case.hpp"

#include <kith/index.hpp>
#include <kith/job_plan.hpp>

#include <malloc.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <tuple>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KITH_TEST_SANITIZED 1
#else
#define KITH_TEST_SANITIZED 0
#endif

namespace kith::test {
namespace {

/// A line of /proc/self/status in bytes; 0 if it is not there.
std::uint64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::stoull(line.substr(name.size() + 1));
  }
  return 0;
}

/// Gives what was freed back to the system, which would hide what is allocated next.
void give_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

/// Makes the highest memory in use start again from what is in use now.
bool forget_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << 5;
  clear.close();
  return !clear.fail() && status_bytes("VmHWM") > 0;
}

constexpr std::uint64_t kThreadsAndSuch = 4 << 20;

TEST(BuildMemory, StaysBelowTwoCopiesOfThePoints) {
  if (KITH_TEST_SANITIZED) GTEST_SKIP() << "sanitizers take memory of their own";
  if (!forget_peak()) GTEST_SKIP() << "this system does not tell the highest memory in use";
  // Just above a power of two, leaves are half empty and there are the most boxes.
  constexpr std::uint64_t kRows = (1 << 20) + 1;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint32_t dims : {2u, 3u, 8u, 10u}) {
      std::mt19937_64 random(3);
      const PointSet points = nasty_points(NastyShape::uniform, dtype, kRows, dims, random);
      const std::uint64_t coordinates = kRows * dims * size_of(dtype);
      const std::uint64_t before = status_bytes("VmRSS");
      ASSERT_TRUE(forget_peak());
      const Index index = Index::build(points.view(), {.engine = Engine::kd_tree, .threads = 2});
      const std::uint64_t peak = status_bytes("VmHWM") - before;
      EXPECT_LE(peak, coordinates * 22 / 10 + 8 * kRows + kThreadsAndSuch) << name_of(dtype) << ", " << dims << " dims";
      const BuildPlan plan = Index::plan(kRows, dims, dtype, {.engine = Engine::kd_tree, .threads = 2});
      EXPECT_LE(peak, plan.peak_bytes + kThreadsAndSuch) << name_of(dtype) << ", " << dims << " dims";
      EXPECT_GE(index.memory_bytes(), coordinates);
    }
  }
}

TEST(BuildMemory, IsWhatThePlanOfEachBuilderSays) {
  if (KITH_TEST_SANITIZED) GTEST_SKIP() << "sanitizers take memory of their own";
  if (!forget_peak()) GTEST_SKIP() << "this system does not tell the highest memory in use";
  constexpr std::uint64_t kRows = (1 << 20) + 1;
  constexpr std::uint64_t kHugePages = 2 * (2 << 20);  // each buffer ends in one
  for (const Builder builder : {Builder::presort, Builder::select, Builder::segsort}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {1u, 2u, 3u, 8u, 10u}) {
        std::mt19937_64 random(4);
        const PointSet points = nasty_points(NastyShape::uniform, dtype, kRows, dims, random);
        BuildOptions options{.engine = Engine::kd_tree, .builder = builder, .threads = 2};
        malloc_trim(0);  // what earlier builds gave back would be taken again unseen
        const std::uint64_t before = status_bytes("VmRSS");
        ASSERT_TRUE(forget_peak());
        const Index index = Index::build(points.view(), options);
        const std::uint64_t peak = status_bytes("VmHWM") - before;
        const std::uint64_t planned = Index::plan(kRows, dims, dtype, options).peak_bytes;
        EXPECT_LE(peak, planned + kThreadsAndSuch + kHugePages)
            << name_of(builder) << ", " << name_of(dtype) << ", " << dims;
        EXPECT_GE(peak + kThreadsAndSuch, planned * 9 / 10)
            << name_of(builder) << ", " << name_of(dtype) << ", " << dims;
      }
    }
  }
}

TEST(BuildMemory, OfABuildAndASearchIsWhatThePlanSays) {
  if (KITH_TEST_SANITIZED) GTEST_SKIP() << "sanitizers take memory of their own";
  if (!forget_peak()) GTEST_SKIP() << "this system does not tell the highest memory in use";
  for (const auto& [engine, rows, asked] :
       {std::tuple(Engine::kd_tree, 2000000u, 1000000u), std::tuple(Engine::brute_force, 2000000u, 200u)}) {
    SCOPED_TRACE(name_of(engine));
    constexpr std::uint32_t kNeighbors = 8;
    std::mt19937_64 random(4);
    const PointSet points = nasty_points(NastyShape::uniform, DType::f32, rows, 3, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, asked, 3, random);
    const JobPlan plan =
        plan_job({.points = rows, .k = kNeighbors, .queries = asked, .engine = engine, .device = Device::cpu()});
    const auto expect_about = [](std::uint64_t measured, std::uint64_t planned) {
      EXPECT_LE(measured, planned + (4 << 20));  // threads and such
      EXPECT_GE(measured, planned * 8 / 10);
    };
    give_back();
    const std::uint64_t before = status_bytes("VmRSS");
    ASSERT_TRUE(forget_peak());
    const Index index = Index::build(points.view(), {.engine = engine, .device = Device::cpu()});
    expect_about(status_bytes("VmHWM") - before, plan.build_bytes);
    ASSERT_TRUE(forget_peak());
    const Neighbors found = index.knn(queries.view(), kNeighbors);
    expect_about(status_bytes("VmHWM") - before, plan.search_bytes);
  }
}

}  // namespace
}  // namespace kith::test
