// Building a tree needs no more memory of the system than the page on the k-d tree says. Plans are compared with every
// allocation in tests/allocation.
#include "support/random_case.hpp"
#include "support/sanitized.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

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
      EXPECT_GE(index.memory_bytes(), coordinates);
    }
  }
}

}  // namespace
}  // namespace kith::test
