// What the applications on point clouds make of points.
#include "golden/golden_search.hpp"

#include <kith/apps/cloud_distance.hpp>
#include <kith/apps/downsample.hpp>
#include <kith/apps/outliers.hpp>
#include <kith/apps/transform.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint64_t kCloudRows = 500;
constexpr GoldenShape kCloudShapes[] = {GoldenShape::uniform, GoldenShape::grid, GoldenShape::repeats,
                                        GoldenShape::offset};

/// Calls `with(points, name)` for shapes, types and dims.
template <typename With>
void for_each_cloud(const With& with) {
  for (const GoldenShape shape : kCloudShapes) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {2u, 3u}) {
        const PointSet points = golden_points(shape, dtype, kCloudRows, dims, 1);
        with(points.view(), fmt::format("{}_{}x{}_{}", name_of(shape), kCloudRows, dims, kith::name_of(dtype)));
      }
    }
  }
}

TEST(GoldenClouds, MovedPoints) {
  GoldenSection golden("transform");
  const apps::Pose turn = apps::rotation_about_z(33.3);
  apps::Pose pose;
  for (std::uint64_t i = 0; i < 12; ++i)
    pose.matrix[i] = golden_coordinate(GoldenShape::uniform, 5, 12, i, 1, 0) * 3 - 1;
  const apps::Pose poses[] = {turn, pose, apps::inverse(pose), apps::then(turn, pose)};
  for_each_cloud([&](PointView points, const std::string& name) {
    for (const int threads : {1, 2}) {
      for (std::size_t i = 0; i < std::size(poses); ++i) {
        golden.check(fmt::format("{}_pose{}", name, i),
                     digest_of(apps::transform(points, poses[i], {.threads = threads}),
                               apps::turn_directions(points, poses[i], {.threads = threads})),
                     fmt::format("{} threads", threads));
      }
    }
  });
}

TEST(GoldenClouds, FewerPoints) {
  GoldenSection golden("downsample");
  for_each_cloud([&](PointView points, const std::string& name) {
    for (const int threads : {1, 2}) {
      const auto check = [&](const std::string& how, apps::DownsampleOptions options) {
        options.want_map = true;
        options.threads = threads;
        const apps::Downsampled found = apps::downsample(points, options);
        golden.check(name + "_" + how, digest_of(found.points, found.rows, found.counts, found.map),
                     fmt::format("{} threads", threads));
      };
      for (const auto keep : {apps::VoxelKeep::mean, apps::VoxelKeep::nearest, apps::VoxelKeep::first}) {
        check(fmt::format("voxel_0.3_{}", apps::name_of(keep)), {.voxel = 0.3, .keep = keep});
      }
      check("farthest_60", {.farthest = 60, .start = 11});
      check("distance_0.25", {.distance = 0.25});
    }
  });
}

/// Calls `with(device, threads, by)` for every device and one and two threads.
template <typename With>
void for_each_device(const With& with) {
  std::vector<Device> devices;
  for (const EngineOnDevice& where : available_engines()) {
    if (std::find(devices.begin(), devices.end(), where.device) == devices.end()) devices.push_back(where.device);
  }
  for (const Device& device : devices) {
    for (const int threads : {1, 2}) with(device, threads, fmt::format("{}, {} threads", device.name(), threads));
  }
}

TEST(GoldenClouds, OutliersOfClouds) {
  GoldenSection golden("outliers");
  for_each_cloud([&](PointView points, const std::string& name) {
    for_each_device([&](Device device, int threads, const std::string& by) {
      const apps::Outliers far =
          apps::outliers(points, {.neighbors = 6, .ratio = 1, .device = device, .threads = threads});
      golden.check(name + "_neighbors_6",
                   digest_of(far.flags, far.kept, far.mean_distances, far.mean, far.deviation, far.threshold), by);
      const apps::Outliers few =
          apps::outliers(points, {.radius = 0.2, .min_neighbors = 4, .device = device, .threads = threads});
      golden.check(name + "_radius_0.2", digest_of(few.flags, few.kept, few.counts), by);
    });
  });
}

TEST(GoldenClouds, DistancesBetweenClouds) {
  GoldenSection golden("cloud_distance");
  for_each_cloud([&](PointView points, const std::string& name) {
    for_each_device([&](Device device, int threads, const std::string& by) {
      apps::CloudDistanceOptions options;
      options.symmetric = true;
      options.percentiles = {50, 95};
      options.device = device;
      options.threads = threads;
      const apps::CloudDistance found = apps::cloud_distance(points.slice(0, 300), points.slice(300, 200), options);
      Digest digest;
      for (const apps::DirectedDistance* figures : {&found.forward, &*found.backward}) {
        digest.add(figures->distances).add(figures->nearest).add(figures->mean).add(figures->rms);
        digest.add(figures->max).add(figures->max_row).add(figures->percentiles);
      }
      digest.add(found.chamfer).add(found.chamfer_squared).add(found.hausdorff);
      golden.check(name, digest.text(), by);
    });
  });
}

}  // namespace
}  // namespace kith::test
