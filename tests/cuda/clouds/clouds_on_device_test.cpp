// Jobs on clouds on a GPU, of arrays there and of the host: the bytes of the CPU.
#include "cuda/clouds/cloud_case.hpp"
#include "cuda/on_device.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/clouds_on_device.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint64_t kSizes[] = {1, 2, 3, 15, 16, 17, 33, 400, 1025, 3000};

template <typename V>
bool same_bytes(const std::vector<V>& a, std::span<const V> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), b.size_bytes()) == 0);
}
template <typename T>
bool same_bytes(const PointSet& a, const PointSet& b) {
  return a.rows() == b.rows() && a.dims() == b.dims() &&
         std::memcmp(a.values<T>().data(), b.values<T>().data(), a.values<T>().size_bytes()) == 0;
}

/// A stream that waits for no other.
class OwnStream {
 public:
  OwnStream() { require_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  void* get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

template <typename T>
void expect_normals(const PointSet& points, apps::NormalsOptions options, std::uint32_t gap) {
  options.device = Device::cpu();
  const apps::Normals expected = apps::normals(points.view(), options);
  const RowsOnDevice<T> there(points.view(), points.dims() + gap);
  const DeviceArray<T> normals(std::vector<T>(points.rows() * points.dims(), T(7)));
  const DeviceArray<T> curvature(std::vector<T>(points.rows(), T(7)));
  const OwnStream stream;
  apps::DeviceNormalsOptions on_gpu{options};
  on_gpu.stream = gap % 2 == 0 ? stream.get() : nullptr;
  ASSERT_EQ(apps::normals_on_device(there.view(), normals.data(), curvature.data(), on_gpu), expected.without);
  ASSERT_TRUE(same_bytes(normals.values(), expected.normals.values<T>()));
  ASSERT_TRUE(same_bytes(curvature.values(), expected.curvature.values<T>()));
  options.device = Device::cuda();
  const apps::Normals from_host = apps::normals(points.view(), options);
  ASSERT_TRUE(same_bytes<T>(from_host.normals, expected.normals));
  ASSERT_TRUE(same_bytes<T>(from_host.curvature, expected.curvature));
  ASSERT_EQ(from_host.without, expected.without);
}

template <typename T>
void expect_moved(const PointSet& points, std::uint32_t gap, bool skip) {
  apps::Pose pose = apps::rotation_about_z(33);
  pose(0, 3) = 0.1;
  pose(1, 3) = -4e3;
  if (points.dims() == 3) pose(2, 0) = 0.25;
  const RowsOnDevice<T> there(points.view(), points.dims() + gap);
  const DeviceArray<T> moved(std::vector<T>(points.rows() * points.dims(), T(7)));
  const OwnStream stream;
  apps::DeviceTransformOptions options;
  options.skip_nonfinite = skip;
  options.stream = gap % 2 == 0 ? stream.get() : nullptr;
  const PointSet expected = apps::transform(points.view(), pose, {.skip_nonfinite = skip});
  apps::transform_on_device(there.view(), pose, moved.data(), options);
  ASSERT_TRUE(same_bytes(moved.values(), expected.values<T>()));
  const PointSet turned = apps::turn_directions(points.view(), pose, {.skip_nonfinite = skip});
  apps::turn_directions_on_device(there.view(), pose, moved.data(), options);
  ASSERT_TRUE(same_bytes(moved.values(), turned.values<T>()));
  const apps::TransformOptions on_gpu{.skip_nonfinite = skip, .device = Device::cuda()};
  ASSERT_TRUE(same_bytes<T>(apps::transform(points.view(), pose, on_gpu), expected));
  ASSERT_TRUE(same_bytes<T>(apps::turn_directions(points.view(), pose, on_gpu), turned));
}

template <typename T>
void expect_sample(const PointSet& points, apps::DownsampleOptions options, std::uint32_t gap) {
  options.want_map = true;
  const apps::Downsampled expected = apps::downsample(points.view(), options);
  const std::uint64_t rows = points.rows();
  const RowsOnDevice<T> there(points.view(), points.dims() + gap);
  const DeviceArray<T> sample(std::vector<T>(rows * points.dims(), T(7)));
  const std::vector<std::uint32_t> sevens(rows, 7);
  const DeviceArray<std::uint32_t> kept(sevens), counts(sevens), map(sevens);
  const OwnStream stream;
  apps::DeviceDownsampleOptions on_gpu{options};
  on_gpu.stream = gap % 2 == 0 ? stream.get() : nullptr;
  const apps::SampledOnDevice found =
      apps::downsample_on_device(there.view(), {sample.data(), kept.data(), counts.data(), map.data()}, on_gpu);
  ASSERT_EQ(found.points, expected.points.rows());
  ASSERT_EQ(found.skipped, expected.skipped);
  const auto first = [&](const DeviceArray<std::uint32_t>& array) {
    std::vector<std::uint32_t> values = array.values();
    values.resize(found.points);
    return values;
  };
  std::vector<T> values = sample.values();
  values.resize(found.points * points.dims());
  ASSERT_TRUE(same_bytes(values, expected.points.values<T>()));
  ASSERT_EQ(first(kept), expected.rows);
  ASSERT_EQ(first(counts), expected.counts);
  ASSERT_EQ(map.values(), expected.map);
  options.device = Device::cuda();
  for (const bool wants_rows : {true, false}) {
    options.want_rows = options.want_map = wants_rows;
    const apps::Downsampled from_host = apps::downsample(points.view(), options);
    ASSERT_TRUE(same_bytes<T>(from_host.points, expected.points));
    if (wants_rows || options.keep != apps::VoxelKeep::mean) {
      ASSERT_EQ(from_host.rows, expected.rows);
    }
    if (wants_rows) {
      ASSERT_EQ(from_host.map, expected.map);
      ASSERT_EQ(from_host.counts, expected.counts);
    }
  }
}

void expect_figures(const apps::DirectedDistance& found, const apps::DirectedDistance& expected) {
  const auto same = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  EXPECT_EQ(found.matched, expected.matched);
  EXPECT_EQ(found.unmatched, expected.unmatched);
  EXPECT_EQ(found.skipped, expected.skipped);
  EXPECT_EQ(found.max_row, expected.max_row);
  EXPECT_TRUE(same(found.mean, expected.mean)) << found.mean << " " << expected.mean;
  EXPECT_TRUE(same(found.mean_squared, expected.mean_squared));
  EXPECT_TRUE(same(found.rms, expected.rms));
  EXPECT_TRUE(same(found.max, expected.max)) << found.max << " " << expected.max;
  ASSERT_EQ(found.percentiles.size(), expected.percentiles.size());
  for (std::size_t i = 0; i < found.percentiles.size(); ++i) {
    EXPECT_TRUE(same(found.percentiles[i], expected.percentiles[i])) << i;
  }
}

template <typename T>
void expect_distance(const PointSet& first, const PointSet& second, apps::CloudDistanceOptions options,
                     std::uint32_t gap) {
  options.device = Device::cpu();
  const apps::CloudDistance expected = apps::cloud_distance(first.view(), second.view(), options);
  const RowsOnDevice<T> a(first.view(), first.dims() + gap), b(second.view(), second.dims());
  const DeviceArray<double> forward(std::vector<double>(first.rows(), 7)),
      backward(std::vector<double>(second.rows(), 7));
  const DeviceArray<std::uint32_t> nearest(std::vector<std::uint32_t>(first.rows(), 7));
  const OwnStream stream;
  apps::DeviceCloudDistanceOptions on_gpu{options};
  on_gpu.stream = gap % 2 == 0 ? stream.get() : nullptr;
  const apps::CloudDistance found = apps::cloud_distance_on_device(a.view(), b.view(), {forward.data(), nearest.data()},
                                                                   {backward.data(), nullptr}, on_gpu);
  expect_figures(found.forward, expected.forward);
  ASSERT_TRUE(same_bytes(forward.values(), std::span<const double>(expected.forward.distances)));
  ASSERT_EQ(nearest.values(), expected.forward.nearest);
  ASSERT_EQ(found.backward.has_value(), expected.backward.has_value());
  if (found.backward) {
    expect_figures(*found.backward, *expected.backward);
    ASSERT_TRUE(same_bytes(backward.values(), std::span<const double>(expected.backward->distances)));
    if (expected.backward->matched > 0 && expected.forward.matched > 0) {
      ASSERT_EQ(found.chamfer, expected.chamfer);
      ASSERT_EQ(found.chamfer_squared, expected.chamfer_squared);
      ASSERT_EQ(found.hausdorff, expected.hausdorff);
    }
  }
  options.device = Device::cuda();
  const apps::CloudDistance from_host = apps::cloud_distance(first.view(), second.view(), options);
  expect_figures(from_host.forward, expected.forward);
  ASSERT_TRUE(same_bytes(from_host.forward.distances, std::span<const double>(expected.forward.distances)));
  ASSERT_EQ(from_host.forward.nearest, expected.forward.nearest);
}

template <typename T>
void expect_outliers(const PointSet& points, apps::OutlierOptions options, std::uint32_t gap) {
  options.device = Device::cpu();
  const apps::Outliers expected = apps::outliers(points.view(), options);
  const std::uint64_t rows = points.rows();
  const RowsOnDevice<T> there(points.view(), points.dims() + gap);
  const DeviceArray<std::uint8_t> flags(std::vector<std::uint8_t>(rows, 7));
  const DeviceArray<std::uint32_t> kept(std::vector<std::uint32_t>(rows, 7)),
      counts(std::vector<std::uint32_t>(rows, 7));
  const DeviceArray<double> means(std::vector<double>(rows, 7));
  const OwnStream stream;
  apps::DeviceOutlierOptions on_gpu{options};
  on_gpu.stream = gap % 2 == 0 ? stream.get() : nullptr;
  const apps::OutliersOnDevice found =
      apps::outliers_on_device(there.view(), {flags.data(), kept.data(), means.data(), counts.data()}, on_gpu);
  ASSERT_EQ(found.kept, expected.kept.size());
  ASSERT_EQ(found.skipped, expected.skipped);
  ASSERT_EQ(found.mean, expected.mean);
  ASSERT_EQ(found.deviation, expected.deviation);
  ASSERT_EQ(found.threshold, expected.threshold);
  ASSERT_EQ(flags.values(), expected.flags);
  std::vector<std::uint32_t> numbers = kept.values();
  numbers.resize(found.kept);
  ASSERT_EQ(numbers, expected.kept);
  if (options.neighbors) {
    ASSERT_TRUE(same_bytes(means.values(), std::span<const double>(expected.mean_distances)));
  } else {
    ASSERT_EQ(counts.values(), expected.counts);
  }
  options.device = Device::cuda();
  const apps::Outliers from_host = apps::outliers(points.view(), options);
  ASSERT_EQ(from_host.flags, expected.flags);
  ASSERT_EQ(from_host.kept, expected.kept);
  ASSERT_EQ(from_host.threshold, expected.threshold);
}

/// Some rows that cannot be used.
template <typename T>
PointSet spoilt(PointSet points) {
  for (std::uint64_t i = 0; i < points.rows(); i += 7) {
    points.values<T>()[i * points.dims() + i % points.dims()] =
        i % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : -std::numeric_limits<T>::infinity();
  }
  return points;
}

template <typename T>
class SmallCloudsOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
  /// Calls `with(cloud, gap, number)` for clouds of each shape and size.
  template <typename With>
  void for_each_cloud(const With& with) {
    std::uint64_t number = 0;
    for (std::uint64_t shape = 0; shape < kAwkwardShapes; ++shape) {
      for (const std::uint64_t rows : kSizes) {
        if (number++ % std::max<std::uint64_t>(60 / rounds(60), 1) != 0) continue;
        const std::uint32_t dims = number % 3 == 0 ? 2 : 3;
        SCOPED_TRACE(testing::Message() << "awkward_cloud(" << rows << ", " << dims << ", " << number << ", " << shape
                                        << ")");
        with(awkward_cloud<T>(rows, dims, number, shape), static_cast<std::uint32_t>(number % 4), number);
        if (HasFatalFailure()) return;
      }
    }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCloudsOnDevice, Types);

TYPED_TEST(SmallCloudsOnDevice, NormalsAreThoseOfTheCpu) {
  this->for_each_cloud([&](const PointSet& cloud, std::uint32_t gap, std::uint64_t number) {
    apps::NormalsOptions options;
    options.neighbors = number % 4 == 0 ? 5 : number % 4 == 1 ? 40 : 16;
    if (number % 5 == 0) {
      options.direction = apps::NormalDirection::viewpoint;
      options.viewpoint = {0.3, 0.2, 4};
    }
    if (number % 11 == 0) options.direction = apps::NormalDirection::consistent;
    if (number % 13 == 0) options.radius = 0.2;
    expect_normals<TypeParam>(cloud, options, gap);
    if (this->HasFatalFailure()) return;
    options.skip_nonfinite = true;
    if (number % 6 == 1) expect_normals<TypeParam>(spoilt<TypeParam>(cloud.clone()), options, gap);
  });
}

TYPED_TEST(SmallCloudsOnDevice, MotionsAreThoseOfTheCpu) {
  this->for_each_cloud([&](const PointSet& cloud, std::uint32_t gap, std::uint64_t) {
    expect_moved<TypeParam>(cloud, gap, false);
    if (!this->HasFatalFailure()) expect_moved<TypeParam>(spoilt<TypeParam>(cloud.clone()), gap, true);
  });
}

TYPED_TEST(SmallCloudsOnDevice, SamplesAreThoseOfTheCpu) {
  using apps::VoxelKeep;
  this->for_each_cloud([&](const PointSet& cloud, std::uint32_t gap, std::uint64_t number) {
    apps::DownsampleOptions options;
    for (const VoxelKeep keep : {VoxelKeep::mean, VoxelKeep::nearest, VoxelKeep::first}) {
      options.keep = keep;
      for (const double size : {1e-9, 0.07, 0.5, 1e6}) {
        options.voxel = size;
        expect_sample<TypeParam>(cloud, options, gap);
        if (this->HasFatalFailure()) return;
      }
    }
    options.skip_nonfinite = true;
    options.voxel = 0.1;
    if (number % 6 == 1) expect_sample<TypeParam>(spoilt<TypeParam>(cloud.clone()), options, gap);
    options.skip_nonfinite = false;
    options.voxel.reset();
    options.distance = 0.1;
    if (number % 6 == 2) expect_sample<TypeParam>(cloud, options, gap);
  });
}

TYPED_TEST(SmallCloudsOnDevice, DistancesAreThoseOfTheCpu) {
  this->for_each_cloud([&](const PointSet& cloud, std::uint32_t gap, std::uint64_t number) {
    const PointSet other = awkward_cloud<TypeParam>(1 + number * 53 % 900, cloud.dims(), number + 1000, number % 5);
    apps::CloudDistanceOptions options;
    options.symmetric = number % 2 == 0;
    options.percentiles = {0, 50, 95, 100};
    if (number % 3 == 0) options.max_distance = 0.05;
    if (number % 7 == 0) options.percentiles.clear();
    expect_distance<TypeParam>(cloud, other, options, gap);
    if (this->HasFatalFailure()) return;
    options.skip_nonfinite = true;
    if (number % 6 == 1) expect_distance<TypeParam>(cloud, spoilt<TypeParam>(other.clone()), options, gap);
    if (number % 6 == 2) expect_distance<TypeParam>(spoilt<TypeParam>(cloud.clone()), other, options, gap);
  });
}

TYPED_TEST(SmallCloudsOnDevice, OutliersAreThoseOfTheCpu) {
  this->for_each_cloud([&](const PointSet& cloud, std::uint32_t gap, std::uint64_t number) {
    apps::OutlierOptions options;
    options.neighbors = 1 + number % 20;
    options.ratio = 0.5;
    expect_outliers<TypeParam>(cloud, options, gap);
    if (this->HasFatalFailure()) return;
    options.skip_nonfinite = true;
    if (number % 6 == 1) expect_outliers<TypeParam>(spoilt<TypeParam>(cloud.clone()), options, gap);
    options.neighbors.reset();
    options.radius = 0.1;
    options.min_neighbors = 3;
    options.skip_nonfinite = false;
    if (!this->HasFatalFailure()) expect_outliers<TypeParam>(cloud, options, gap);
  });
}

template <typename T>
class LargeCloudsOnDevice : public SmallCloudsOnDevice<T> {};
TYPED_TEST_SUITE(LargeCloudsOnDevice, Types);

TYPED_TEST(LargeCloudsOnDevice, AreAsOnTheCpu) {
  using T = TypeParam;
  for (std::uint64_t shape = 0; shape < kAwkwardShapes; ++shape) {
    SCOPED_TRACE(testing::Message() << "shape " << shape);
    const PointSet cloud = awkward_cloud<T>(200'003, 3, shape + 77, shape);
    expect_normals<T>(cloud, {}, 0);
    expect_moved<T>(cloud, 1, false);
    for (const double size : {0.03, 0.6}) expect_sample<T>(cloud, {.voxel = size}, 0);
    const PointSet other = awkward_cloud<T>(150'001, 3, shape + 99, shape == 3 ? 0 : shape);
    expect_distance<T>(cloud, other, {.symmetric = true, .percentiles = {50, 99}}, 0);
    apps::OutlierOptions options;
    options.neighbors = 8;
    expect_outliers<T>(cloud, options, 0);
    if (this->HasFatalFailure()) return;
  }
}

TEST(CloudsOnDeviceErrors, SmallMistakesAreNamed) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const PointSet cloud = spoilt<float>(awkward_cloud<float>(100, 3, 1, 0));
  const RowsOnDevice<float> there(cloud.view(), 3);
  const DeviceArray<float> to(std::vector<float>(300, 7));
  const DeviceArray<double> wide(std::vector<double>(300, 7));
  const DeviceArray<std::uint8_t> flags(std::vector<std::uint8_t>(100, 7));
  std::vector<float> here(300);
  const auto said = [](const auto& call) { return thrown_message<UsageError>(call); };
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(there.view(), here.data()); }),
               "normals: the array is not in");
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(there.view(), wide.data()); }), "an array of f64 for points");
  EXPECT_PRED2(holds, said([&] { apps::transform_on_device(there.view(), {}, here.data()); }),
               "moved: the array is not");
  EXPECT_PRED2(holds, said([&] { apps::normals_on_device(cloud.view(), to.data(), {}, {{.device = Device::cpu()}}); }),
               "name the GPU");
  const auto bad = [](const auto& call) { return thrown_message<BadData>(call); };
  const std::string expected = bad([&] { apps::normals(cloud.view(), {.device = Device::cpu()}); });
  EXPECT_PRED2(holds, expected, "row 0, column 0");
  EXPECT_EQ(bad([&] { apps::normals_on_device(there.view(), to.data()); }), expected);
  EXPECT_EQ(bad([&] { apps::transform_on_device(there.view(), {}, to.data()); }), expected);
  EXPECT_EQ(bad([&] { apps::downsample_on_device(there.view(), {to.data()}, {{.voxel = 1.0}}); }), expected);
  EXPECT_EQ(bad([&] { apps::outliers_on_device(there.view(), {flags.data()}, {{.neighbors = 3}}); }), expected);
  EXPECT_PRED2(holds, bad([&] { apps::cloud_distance_on_device(there.view(), there.view()); }), "first: row 0");
  EXPECT_EQ(apps::normals_on_device(there.view().slice(0, 0), static_cast<float*>(nullptr)), 0u);
  EXPECT_EQ(apps::downsample_on_device(there.view().slice(0, 0), {}, {{.voxel = 1.0}}).points, 0u);
}

}  // namespace
}  // namespace kith::test
