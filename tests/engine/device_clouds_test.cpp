// Jobs on clouds on a GPU: what is refused before one is looked for. tests/cuda has the answers.
#include "support/thrown_message.hpp"

#include <kith/apps/clouds_on_device.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kith::test {
namespace {

TEST(DeviceClouds, MistakesAreNamedWithoutAGpu) {
  const std::vector<float> values(12, 0.0f);
  std::vector<float> to(12);
  std::vector<double> wide(12);
  const auto said = [](const auto& call) { return thrown_message<UsageError>(call); };
  const PointView here(values.data(), 4, 3), there(values.data(), 4, 3, Device::cuda(99));
  const PointView overlapping(values.data(), DType::f32, 4, 3, 2, Device::cuda(99));
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(here, to.data()); }), "name the GPU");
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(there, wide.data()); }), "an array of f64 for points of f32");
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(there, static_cast<float*>(nullptr)); }), "null");
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(overlapping, to.data()); }), "overlap");
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(there, to.data(), {}, {{.neighbors = 2}}); }), "no plane");
  EXPECT_PRED2(holds, said([&] { apps::transform_on_device(overlapping, {}, to.data()); }), "overlap");
  apps::Pose pose;
  pose(3, 0) = 1;
  EXPECT_PRED2(holds, said([&] { apps::transform_on_device(there, pose, to.data()); }), "transposed");
  EXPECT_PRED2(holds, said([&] { apps::downsample_on_device(there, {to.data()}, {}); }), "one of a voxel size");
  EXPECT_PRED2(holds, said([&] { apps::outliers_on_device(there, {}, {}); }), "either a number of neighbours");
  EXPECT_PRED2(holds, said([&] { apps::cloud_distance_on_device(here, there); }), "not in the same memory");
  const PointView flat(values.data(), 6, 2, Device::cuda(99));
  EXPECT_PRED2(holds, said([&] { apps::cloud_distance_on_device(there, flat); }), "must be the same");
}

TEST(DeviceClouds, AGpuThatIsNotThereIsNamed) {
  const std::vector<float> values(12, 0.0f);
  std::vector<float> to(12);
  const auto said = [](const auto& call) { return thrown_message<DeviceError>(call); };
  const PointView here(values.data(), 4, 3), there(values.data(), 4, 3, Device::cuda(99));
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(there, to.data()); }), "cuda:99");
  const Device missing = Device::cuda(99);
  EXPECT_PRED2(holds, said([&] { apps::normals(here, {.device = missing}); }), "cuda:99");
  EXPECT_PRED2(holds, said([&] { apps::transform(here, {}, {.device = missing}); }), "cuda:99");
  EXPECT_PRED2(holds, said([&] { apps::downsample(here, {.voxel = 1.0, .device = missing}); }), "cuda:99");
  EXPECT_PRED2(holds, said([&] { apps::downsample(here, {.farthest = 1, .device = missing}); }), "cuda:99");
  EXPECT_PRED2(holds, said([&] { apps::outliers(here, {.neighbors = 1, .device = missing}); }), "cuda:99");
  EXPECT_PRED2(holds, said([&] { apps::cloud_distance(here, here, {.device = missing}); }), "cuda:99");
}

}  // namespace
}  // namespace kith::test
