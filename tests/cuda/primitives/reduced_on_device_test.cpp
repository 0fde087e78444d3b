// The reduced distances, boxes and lists give the same bytes on the GPU as on the host.
#include "cuda/primitives/reduced_on_device.hpp"

#include "support/random_case.hpp"

#include <kith/device.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace kith::test {
namespace {

bool has_gpu() { return available_devices().size() > 1; }

template <typename T>
class ReducedOnDevice : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ReducedOnDevice, Types);

TYPED_TEST(ReducedOnDevice, GiveTheBytesOfTheHost) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  using T = TypeParam;
  std::mt19937_64 random(48);
  for (int shape = 0; shape < static_cast<int>(NastyShape::count_of_shapes); ++shape) {
    for (const std::uint32_t dims : {1u, 2u, 3u, 8u, 33u, 64u}) {
      const PointSet points = nasty_points(static_cast<NastyShape>(shape), dtype_of<T>, 4000, dims, random);
      const std::vector<T> rows(points.values<T>().begin(), points.values<T>().end());
      const auto device = pairs_on_device(rows, dims);
      const auto host = pairs_on_host(rows, dims);
      ASSERT_EQ(device.size(), host.size());
      EXPECT_EQ(std::memcmp(device.data(), host.data(), host.size() * sizeof(host[0])), 0)
          << "shape " << shape << ", dims " << dims;
    }
  }
}

TEST(ListOnDevice, KeepsTheSmallestPairs) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(49);
  for (const std::uint32_t capacity : {1u, 8u, 30u}) {
    std::vector<core::Candidate<float>> offered;
    for (std::uint32_t i = 0; i < 500; ++i) {
      offered.push_back({static_cast<float>(random() % 20), static_cast<std::uint32_t>(random() % 1000)});
    }
    const auto kept = list_on_device(offered, capacity);
    std::sort(offered.begin(), offered.end());
    for (std::uint32_t i = 0; i < capacity; ++i) EXPECT_EQ(kept[i], offered[i]) << i;
  }
}

TEST(CudaBackend, TellsOfItsDevices) {
  EXPECT_TRUE(built_with_cuda());
  for (const DeviceInfo& info : available_devices()) {
    EXPECT_FALSE(info.name.empty());
    EXPECT_GT(info.memory_bytes, 0u);
    EXPECT_GT(info.threads, 0);
    ASSERT_EQ(info.gpu.has_value(), info.device.kind() == Device::Kind::cuda);
    if (!info.gpu) continue;
    EXPECT_TRUE(info.gpu->has_code) << info.name;  // the tests run there
    EXPECT_GE(info.gpu->compute_capability, 75);
    EXPECT_GE(info.gpu->shared_bytes, 64u << 10);
    EXPECT_EQ(info.gpu->has_full_plan, info.gpu->shared_bytes >= 99u << 10);
  }
}

TEST(CudaBackend, AMissingGpuIsADeviceError) {
  const float point[] = {0};
  EXPECT_THROW(Index::build(PointView(point, 1, 1), {.device = Device::cuda(99)}), DeviceError);
}

}  // namespace
}  // namespace kith::test
