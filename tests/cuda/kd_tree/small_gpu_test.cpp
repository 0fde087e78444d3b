// Builds on an emulated GPU whose blocks have 64 KiB of shared memory, as those of compute capability 7.5: the same
// bytes as the CPU's builder, by the plans of such a GPU.
#include "cuda/kd_tree/emulated_group_build.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class SmallGpu : public RandomRows<T> {
 protected:
  /// Builds as planned for such a GPU; run_grid refuses blocks that ask for more.
  void expect_tree(const std::vector<T>& points, std::uint32_t dims, Plan plan) {
    expect_the_tree_of_the_cpu<T>(points, dims, plan,
                                  plan_finish<T>(points.size() / dims, dims, plan.leaf_size, kLeastSharedBytes));
  }

  emulation::SharedLimit limit_{kLeastSharedBytes};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGpu, Types);

TYPED_TEST(SmallGpu, UniformPointsOfAllDims) {
  for (const std::uint32_t dims : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 17u}) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    const auto points = this->rows(6000, dims, [&](auto, auto) { return this->unit(); });
    this->expect_tree(points, dims, {.leaf_size = 20, .cycles = dims == 3});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SmallGpu, TiesOfAllKinds) {
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    SCOPED_TRACE(testing::Message() << name << ", " << dims << " dims");
    this->expect_tree(this->rows(6000, dims, make), dims, {.leaf_size = 16, .cycles = dims == 2, .processors = 4});
  };
  for (const std::uint32_t dims : {2u, 3u, 4u, 6u, 8u}) {
    expect("a grid", dims, [&](auto, auto) { return static_cast<double>(this->below(12)) * 0.5 - 2; });
    expect("all equal", dims, [](auto, auto) { return 0.5; });
    if (this->HasFatalFailure()) return;
  }
  expect("two values", 3, [&](auto, auto) { return this->below(2); });
  expect("mostly equal", 3, [&](auto i, auto) { return i % 100 == 0 ? this->unit() : 0.25; });
}

/// With samples, for which the most dims leave the fewest bins.
TYPED_TEST(SmallGpu, UnevenPointsWithSamples) {
  for (const std::uint32_t dims : {2u, 4u, 8u}) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    const auto points = this->rows(20000, dims, [&](auto, auto) { return std::pow(this->unit(), 6.0); });
    this->expect_tree(points, dims, {.leaf_size = 24, .processors = 1, .is_sampled = true});
    if (this->HasFatalFailure()) return;
  }
}

/// Leaves of which the coordinates do not fit beside the rest.
TYPED_TEST(SmallGpu, LargeLeavesOfWideRows) {
  const std::uint32_t dims = 64 / sizeof(TypeParam);
  const auto points = this->rows(2500, dims, [&](auto, auto) { return this->unit(); });
  EXPECT_FALSE(plan_finish<TypeParam>(2500, dims, 1024, kLeastSharedBytes).is_staged);
  this->expect_tree(points, dims, {.leaf_size = 1024});
}

TEST(SharedLimit, RefusesWhatAGpuWouldRefuse) {
  const emulation::SharedLimit limit(kLeastSharedBytes);
  const auto run = [](std::size_t bytes) {
    emulation::run_grid(1, 32, bytes, emulation::Residence::one_by_one, [] {});
  };
  EXPECT_NO_THROW(run(kLeastSharedBytes));
  EXPECT_THROW(run(kLeastSharedBytes + 1), std::logic_error);
}

TEST(SharedLimit, IsLoweredByTheEnvironmentAndNeverRaised) {
  EXPECT_EQ(lowered_shared_limit(227 << 10, nullptr), 227u << 10);
  EXPECT_EQ(lowered_shared_limit(227 << 10, ""), 227u << 10);
  EXPECT_EQ(lowered_shared_limit(227 << 10, "99"), 99u << 10);
  EXPECT_EQ(lowered_shared_limit(99 << 10, "163"), 99u << 10);
  EXPECT_EQ(lowered_shared_limit(227 << 10, "1"), kLeastSharedBytes);
  EXPECT_EQ(lowered_shared_limit(227 << 10, "4294967295"), 227u << 10);
  for (const char* const bad : {"64k", " 64", "-1", "many", "4294967296"}) {
    EXPECT_NE(thrown_message<UsageError>([&] { lowered_shared_limit(227 << 10, bad); }).find("KITH_GPU_SHARED_KIB"),
              std::string::npos)
        << bad;
  }
}

}  // namespace
}  // namespace kith::test
