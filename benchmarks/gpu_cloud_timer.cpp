// Times jobs on clouds on the GPU: gpu_cloud_timer RESULTS.json [part]
//
// Per case: the least, the median and the most of ten calls from arrays on the GPU to arrays on it, indexes included;
// the time of the CPU with all its cores, and whether the bytes are the same. `part` names a job, or a part of its
// name: only these are timed.
#include "gpu_timing.hpp"

#include <kith/apps/clouds_on_device.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kith;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// A wavy sheet whose points come in any order, or points anywhere in a cube.
std::vector<float> cloud_of(std::uint64_t points, std::uint64_t seed, bool is_sheet) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<float> rows;
  rows.reserve(points * 3);
  for (std::uint64_t i = 0; i < points; ++i) {
    const double x = draw() * 2 - 1, y = draw() * 2 - 1, z = draw();
    rows.push_back(static_cast<float>(x));
    rows.push_back(static_cast<float>(y));
    rows.push_back(static_cast<float>(is_sheet ? 0.2 * std::sin(5 * x) * std::cos(4 * y) + 0.001 * z : z * 2 - 1));
  }
  return rows;
}

class Measured {
 public:
  Measured(Results& results, std::string only) : results_(results), only_(std::move(only)) {}

  bool wants(const std::string& job) const { return job.find(only_) != std::string::npos; }

  /// `run` works on the GPU and waits; `check` runs the CPU and returns whether the bytes are the same.
  template <typename Run, typename Check>
  void operator()(const std::string& job, const std::string& cloud, std::uint64_t points, const Run& run,
                  const Check& check) {
    constexpr int kCalls = 10;
    std::vector<double> times;
    for (int call = -kWarmUps; call < kCalls; ++call) {
      const Clock::time_point start = Clock::now();
      run();
      if (call >= 0) times.push_back(ms_since(start));
    }
    std::sort(times.begin(), times.end());
    double cpu_ms = 0;
    const bool is_right = check(cpu_ms);
    char text[512];
    std::snprintf(text, sizeof text,
                  "{\"job\": \"%s\", \"cloud\": \"%s\", \"points\": %llu, \"dims\": 3, \"dtype\": \"f32\", "
                  "\"least_ms\": %.4f, \"ms\": %.4f, \"most_ms\": %.4f, \"cpu_ms\": %.2f, \"is_right\": %s}",
                  job.c_str(), cloud.c_str(), static_cast<unsigned long long>(points), times.front(), median(times),
                  times.back(), cpu_ms, is_right ? "true" : "false");
    std::printf("%s\n", text);
    results_.add(text, is_right);
  }

 private:
  Results& results_;
  std::string only_;
};

template <typename V>
bool same(const cuda::DeviceBuffer<V>& there, const V* expected, std::uint64_t count) {
  const std::vector<V> found = on_host(there.data(), count);
  return std::memcmp(found.data(), expected, count * sizeof(V)) == 0;
}

/// A cloud here and there.
struct Cloud {
  std::vector<float> rows;
  cuda::DeviceBuffer<float> there;
  std::uint64_t points = 0;

  Cloud(std::uint64_t count, std::uint64_t seed, bool is_sheet, const cuda::Stream& stream)
      : rows(cloud_of(count, seed, is_sheet)), there(on_device<float>(rows, stream)), points(count) {}
  PointView here_view() const { return PointView(rows.data(), points, 3); }
  PointView view() const { return PointView(there.data(), points, 3, Device::cuda()); }
};

void measure_normals(std::uint64_t points, bool is_sheet, const cuda::Stream& stream, Measured& measured) {
  if (!measured.wants("normals, k = 16")) return;
  const Cloud cloud(points, 1, is_sheet, stream);
  cuda::DeviceBuffer<float> normals(points * 3, stream), curvature(points, stream);
  apps::DeviceNormalsOptions options;
  options.stream = stream.get();
  measured(
      "normals, k = 16", is_sheet ? "surface" : "uniform", points,
      [&] { apps::normals_on_device(cloud.view(), normals.data(), curvature.data(), options); },
      [&](double& cpu_ms) {
        const Clock::time_point start = Clock::now();
        const apps::Normals expected = apps::normals(cloud.here_view(), {.device = Device::cpu()});
        cpu_ms = ms_since(start);
        return same(normals, expected.normals.values<float>().data(), points * 3) &&
               same(curvature, expected.curvature.values<float>().data(), points);
      });
}

void measure_voxels(std::uint64_t points, apps::VoxelKeep keep, double size, const cuda::Stream& stream,
                    Measured& measured) {
  const std::string job = "voxels, " + std::string(name_of(keep));
  if (!measured.wants(job)) return;
  const Cloud cloud(points, 2, true, stream);
  cuda::DeviceBuffer<float> sample(points * 3, stream);
  cuda::DeviceBuffer<std::uint32_t> rows(points, stream), counts(points, stream);
  apps::DeviceDownsampleOptions options;
  options.voxel = size;
  options.keep = keep;
  options.stream = stream.get();
  const bool wants_rows = keep != apps::VoxelKeep::mean;
  apps::SampledOnDevice found;
  measured(
      job, "surface", points,
      [&] {
        found = apps::downsample_on_device(
            cloud.view(), {sample.data(), wants_rows ? rows.data() : nullptr, counts.data(), nullptr}, options);
      },
      [&](double& cpu_ms) {
        const Clock::time_point start = Clock::now();
        const apps::Downsampled expected =
            apps::downsample(cloud.here_view(), {.voxel = size, .keep = keep, .want_rows = wants_rows});
        cpu_ms = ms_since(start);
        return found.points == expected.points.rows() &&
               same(sample, expected.points.values<float>().data(), found.points * 3) &&
               same(counts, expected.counts.data(), found.points) &&
               (!wants_rows || same(rows, expected.rows.data(), found.points));
      });
}

void measure_transform(std::uint64_t points, const cuda::Stream& stream, Measured& measured) {
  if (!measured.wants("transform")) return;
  const Cloud cloud(points, 3, true, stream);
  cuda::DeviceBuffer<float> moved(points * 3, stream);
  apps::Pose pose = apps::rotation_about_z(20);
  pose(0, 3) = 0.5;
  apps::DeviceTransformOptions options;
  options.stream = stream.get();
  measured(
      "transform", "surface", points, [&] { apps::transform_on_device(cloud.view(), pose, moved.data(), options); },
      [&](double& cpu_ms) {
        const Clock::time_point start = Clock::now();
        const PointSet expected = apps::transform(cloud.here_view(), pose);
        cpu_ms = ms_since(start);
        return same(moved, expected.values<float>().data(), points * 3);
      });
}

void measure_distance(std::uint64_t points, const cuda::Stream& stream, Measured& measured) {
  if (!measured.wants("distance, both ways")) return;
  const Cloud first(points, 4, true, stream), second(points, 5, true, stream);
  cuda::DeviceBuffer<double> distances(points, stream);
  apps::DeviceCloudDistanceOptions options;
  options.symmetric = true;
  options.percentiles = {50, 95};
  options.stream = stream.get();
  apps::CloudDistance found;
  measured(
      "distance, both ways", "surface", points,
      [&] { found = apps::cloud_distance_on_device(first.view(), second.view(), {distances.data()}, {}, options); },
      [&](double& cpu_ms) {
        apps::CloudDistanceOptions on_cpu = options;
        on_cpu.device = Device::cpu();
        const Clock::time_point start = Clock::now();
        const apps::CloudDistance expected = apps::cloud_distance(first.here_view(), second.here_view(), on_cpu);
        cpu_ms = ms_since(start);
        return same(distances, expected.forward.distances.data(), points) && found.chamfer == expected.chamfer &&
               found.hausdorff == expected.hausdorff && found.forward.percentiles == expected.forward.percentiles;
      });
}

void measure_outliers(std::uint64_t points, bool by_radius, const cuda::Stream& stream, Measured& measured) {
  const std::string job = by_radius ? "outliers, by radius" : "outliers, k = 16";
  if (!measured.wants(job)) return;
  const Cloud cloud(points, 6, true, stream);
  cuda::DeviceBuffer<std::uint8_t> flags(points, stream);
  apps::DeviceOutlierOptions options;
  if (by_radius) {
    options.radius = 0.005;
    options.min_neighbors = 8;
  } else {
    options.neighbors = 16;
  }
  options.stream = stream.get();
  apps::OutliersOnDevice found;
  measured(
      job, "surface", points, [&] { found = apps::outliers_on_device(cloud.view(), {flags.data()}, options); },
      [&](double& cpu_ms) {
        apps::OutlierOptions on_cpu = options;
        on_cpu.device = Device::cpu();
        const Clock::time_point start = Clock::now();
        const apps::Outliers expected = apps::outliers(cloud.here_view(), on_cpu);
        cpu_ms = ms_since(start);
        return same(flags, expected.flags.data(), points) && found.threshold == expected.threshold &&
               found.kept == expected.kept.size();
      });
}

}  // namespace

int main(int argc, char** argv) {
  return run_timer(argc, argv, "gpu_cloud_timer RESULTS.json [part]", [](Results& results, const std::string& only) {
    constexpr std::uint64_t kMany = 10'000'000, kSome = 1'000'000;
    const cuda::Stream stream;
    Measured measured(results, only);
    results.begin_list("rows");
    for (const bool is_sheet : {true, false}) {
      for (const std::uint64_t points : {kMany, kSome}) measure_normals(points, is_sheet, stream, measured);
    }
    measure_voxels(kMany, apps::VoxelKeep::mean, 0.005, stream, measured);
    measure_voxels(kMany, apps::VoxelKeep::nearest, 0.005, stream, measured);
    measure_transform(kMany, stream, measured);
    measure_distance(kSome, stream, measured);
    measure_outliers(kSome, false, stream, measured);
    measure_outliers(kSome, true, stream, measured);
  });
}
