// Deduplication on a GPU: what is refused before anybody looks for one. tests/cuda has the answers.
#include "support/thrown_message.hpp"

#include <kith/apps/dedupe_on_device.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {
namespace {

TEST(DeviceDedupe, MistakesAreNamedWithoutAGpu) {
  const std::vector<float> values(12, 0.0f);
  const std::vector<double> scores(3, 0.0);
  std::vector<std::uint32_t> kept(4);
  const auto said = [&](PointView points, std::uint32_t* into, std::span<const double> with = {}) {
    apps::DeviceDedupeOptions options;
    options.scores = with;
    return thrown_message<UsageError>([&] { apps::dedupe_on_device(points, into, nullptr, options); });
  };
  const PointView points(values.data(), 4, 3, Device::cuda(99));
  EXPECT_PRED2(holds, said(PointView(values.data(), 4, 3), kept.data()), "name the GPU");
  EXPECT_PRED2(holds, said(points, nullptr), "kept: the pointer is null");
  EXPECT_PRED2(holds, said(points, kept.data(), scores), "3 scores for 4 points");
  EXPECT_PRED2(holds, said(PointView(values.data(), DType::f32, 4, 3, 2, Device::cuda(99)), kept.data()), "overlap");
  EXPECT_PRED2(holds, said(PointView(nullptr, DType::f32, 4, 3, 3, Device::cuda(99)), kept.data()), "null");
  EXPECT_PRED2(holds, said(PointView(values.data(), DType::f32, 4, 0, 0, Device::cuda(99)), kept.data()),
               "0 dimensions");
}

TEST(DeviceDedupe, AGpuThatIsNotThereIsNamed) {
  const std::vector<float> values(12, 0.0f);
  std::vector<std::uint32_t> kept(4);
  const auto said = [](const auto& call) { return thrown_message<DeviceError>(call); };
  const PointView there(values.data(), 4, 3, Device::cuda(99));
  EXPECT_PRED2(holds, said([&] { apps::dedupe_on_device(there, kept.data(), nullptr); }), "cuda:99");
  for (const std::uint64_t rows : {0, 4}) {
    const PointView here(values.data(), rows, 3);
    EXPECT_PRED2(holds, said([&] { apps::dedupe(here, {.device = Device::cuda(99)}); }), "cuda:99");
    EXPECT_PRED2(holds, said([&] { apps::dedupe(here, {.tolerance = 1, .device = Device::cuda(99)}); }), "cuda:99");
  }
  EXPECT_EQ(apps::dedupe(PointView(values.data(), 4, 3), {.device = Device::automatic()}).kept.size(), 1u);
}

}  // namespace
}  // namespace kith::test
