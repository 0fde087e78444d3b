// Normals and poses of registrations: the same bytes on every device and with every number of threads.
#include "golden/golden_search.hpp"
#include "support/sanitized.hpp"

#include <kith/apps/normals.hpp>
#include <kith/apps/registration.hpp>
#include <kith/apps/transform.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint64_t kSurfaceRows = 3000;

std::vector<Device> registration_devices() {
  std::vector<Device> devices;
  for (const EngineOnDevice& where : available_engines()) {
    if (std::find(devices.begin(), devices.end(), where.device) == devices.end()) devices.push_back(where.device);
  }
  return devices;
}

/// A wavy sheet over golden points of the unit square, in 2 dims a curve; offset by `far`.
PointSet sheet(DType dtype, std::uint64_t rows, std::uint32_t dims, double far) {
  const PointSet flat = golden_points(GoldenShape::uniform, DType::f64, rows, dims, 7);
  PointSet points(dtype, rows, dims);
  for (std::uint64_t i = 0; i < rows; ++i) {
    double x[3] = {flat.view().at(i, 0), flat.view().at(i, 1), 0};
    // Products and sums alone, which round alike everywhere.
    const double height = (x[0] - 0.5) * (x[0] - 0.5) * (x[0] + 0.25) + (dims == 3 ? (x[1] - 0.25) * (x[1] - 0.25) : 0);
    x[dims - 1] = height;
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (dtype == DType::f32) {
        points.values<float>()[i * dims + d] = static_cast<float>(x[d] + far);
      } else {
        points.values<double>()[i * dims + d] = x[d] + far;
      }
    }
  }
  return points;
}

template <typename With>
void for_each_way(const With& with) {
  for (const Device& device : registration_devices()) {
    for (const int threads : {1, 2}) {
      if (KITH_TEST_SLOW && threads == 1) continue;
      with(device, threads, fmt::format("{}, {} threads", device.name(), threads));
    }
  }
}

TEST(GoldenRegistration, Normals) {
  GoldenSection golden("normals");
  for (const std::uint32_t dims : {2u, 3u}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const PointSet points = sheet(dtype, kSurfaceRows, dims, 0);
      for (const auto direction :
           {apps::NormalDirection::axis, apps::NormalDirection::viewpoint, apps::NormalDirection::consistent}) {
        const std::string name =
            fmt::format("sheet_{}x{}_{}_{}", kSurfaceRows, dims, kith::name_of(dtype), apps::name_of(direction));
        for_each_way([&](const Device& device, int threads, const std::string& by) {
          apps::NormalsOptions options{.direction = direction, .viewpoint = {0.5, 0.5, -3}};
          options.device = device;
          options.threads = threads;
          const apps::Normals found = apps::normals(points.view(), options);
          golden.check(name, digest_of(found.normals, found.curvature), by);
          options.radius = 0.05;
          const apps::Normals within = apps::normals(points.view(), options);
          golden.check(name + "_radius", digest_of(within.normals, within.curvature), by);
        });
      }
    }
  }
}

TEST(GoldenRegistration, Poses) {
  GoldenSection golden("registration");
  for (const std::uint32_t dims : {2u, 3u}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const double far : {0.0, 1024.0}) {
        const PointSet target = sheet(dtype, kSurfaceRows * 3, dims, far);
        apps::Pose motion = apps::rotation_about_z(1.5);
        motion(0, 3) = 0.01 - (far == 0 ? 0 : 26);
        const PointSet source = apps::transform(target.view().slice(0, kSurfaceRows * 2), motion);
        for (const auto method :
             {apps::RegistrationMethod::point, apps::RegistrationMethod::plane, apps::RegistrationMethod::gicp}) {
          const auto check = [&](const std::string& how, apps::RegistrationOptions options) {
            const std::string name = fmt::format("sheet{}_{}x{}_{}_{}{}", far == 0 ? "" : "_far", kSurfaceRows * 3,
                                                 dims, kith::name_of(dtype), apps::name_of(method), how);
            if (KITH_TEST_SLOW && far == 0) return golden.leave_out(name);
            for_each_way([&](const Device& device, int threads, const std::string& by) {
              options.method = method;
              options.initial = apps::InitialPose::centroid;
              options.want_pairs = true;
              options.device = device;
              options.threads = threads;
              const apps::Registration found = apps::register_clouds(source.view(), target.view(), options);
              Digest digest;
              digest.add(std::span<const double>(found.transformation.matrix));
              digest.add(std::span<const double>(found.information)).add(found.inlier_rmse).add(found.inliers);
              digest.add(static_cast<std::uint64_t>(found.iterations.size()));
              for (const apps::RegisteredPair& pair : found.pairs) digest.add(pair.source).add(pair.target);
              golden.check(name, digest.text(), by);
            });
          };
          check("", {});
          check("_robust", {.keep = 0.9, .kernel = apps::RobustKernel::cauchy, .kernel_scale = 0.01});
          check("_scale", {.reciprocal = true, .scale = true});
        }
      }
    }
  }
}

TEST(GoldenRegistration, GlobalStarts) {
  GoldenSection golden("global_start");
  for (const std::uint32_t dims : {2u, 3u}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const double far : {0.0, 1024.0}) {
        const PointSet target = sheet(dtype, kSurfaceRows * 3, dims, far);
        apps::Pose motion = apps::rotation_about_z(130);
        motion(0, 3) = 2;
        const PointSet source = apps::transform(target.view().slice(0, kSurfaceRows * 2), motion);
        for (const std::uint32_t freedom : {6u, 4u, 3u}) {
          const std::string name = fmt::format("sheet{}_{}x{}_{}_{}", far == 0 ? "" : "_far", kSurfaceRows * 3, dims,
                                               kith::name_of(dtype), freedom);
          if (KITH_TEST_SLOW && far == 0) {
            golden.leave_out(name);
            continue;
          }
          for_each_way([&](const Device& device, int threads, const std::string& by) {
            apps::RegistrationOptions options;
            options.initial = apps::InitialPose::global;
            options.degrees_of_freedom = freedom;
            options.device = device;
            options.threads = threads;
            const apps::Registration found = apps::register_clouds(source.view(), target.view(), options);
            Digest digest;
            digest.add(std::span<const double>(found.transformation.matrix));
            digest.add(std::span<const double>(found.global->pose.matrix)).add(found.global->voxel);
            digest.add(found.global->matches).add(found.global->consistent);
            digest.add(found.global->overlap).add(found.global->runner_up);
            golden.check(name, digest.text(), by);
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
