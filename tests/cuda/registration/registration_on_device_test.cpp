// Registration on a GPU, of arrays there and of clouds of the host: the bytes of the CPU's result.
#include "cuda/on_device.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/generate.hpp>
#include <kith/apps/registration.hpp>
#include <kith/error.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
PointSet moved_cloud(const PointSet& of, std::uint64_t seed, double noise) {
  std::mt19937_64 random(seed);
  const double angle = 0.002 * static_cast<double>(random() % 100);
  PointSet moved(dtype_of<T>, of.rows(), of.dims());
  for (std::uint64_t i = 0; i < of.rows(); ++i) {
    const T* from = of.values<T>().data() + i * of.dims();
    T* to = moved.values<T>().data() + i * of.dims();
    std::copy_n(from, of.dims(), to);
    const double x = static_cast<double>(from[0]), y = static_cast<double>(from[1]);
    to[0] = static_cast<T>(x - angle * y + 0.02 + noise * static_cast<double>(random() % 1000) / 1000);
    to[1] = static_cast<T>(y + angle * x - 0.01 + noise * static_cast<double>(random() % 1000) / 1000);
  }
  return moved;
}

/// A wavy surface, a grid (whose distances tie) or copies of few points.
template <typename T>
PointSet made_up_cloud(std::uint64_t rows, std::uint32_t dims, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PointSet points(dtype_of<T>, rows, dims);
  const std::uint64_t shape = random() % 4;
  for (std::uint64_t i = 0; i < rows; ++i) {
    T* row = points.values<T>().data() + i * dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const double draw = static_cast<double>(random() % 1000003) / 1000003;
      row[d] = static_cast<T>(shape == 1 ? std::floor(draw * 16) / 16 : shape == 2 ? std::floor(draw * 4) / 4 : draw);
    }
    if (shape == 0 && dims == 3) row[2] = row[0] * row[1] + row[0] * row[0] / T(3);
  }
  return points;
}

void expect_same(const apps::Registration& found, const apps::Registration& expected) {
  EXPECT_EQ(std::memcmp(&found.transformation, &expected.transformation, sizeof(apps::Pose)), 0);
  EXPECT_EQ(found.end, expected.end);
  EXPECT_EQ(found.inliers, expected.inliers);
  EXPECT_EQ(found.fitness, expected.fitness);
  EXPECT_EQ(found.inlier_rmse, expected.inlier_rmse);
  EXPECT_EQ(found.information, expected.information);
  EXPECT_EQ(found.pairs, expected.pairs);
  EXPECT_EQ(found.weak.size(), expected.weak.size());
  ASSERT_EQ(found.iterations.size(), expected.iterations.size());
  for (std::size_t i = 0; i < found.iterations.size(); ++i) {
    EXPECT_EQ(found.iterations[i].error, expected.iterations[i].error) << "iteration " << i;
    EXPECT_EQ(found.iterations[i].shifted, expected.iterations[i].shifted) << "iteration " << i;
  }
}

template <typename T>
void expect_like_cpu(const PointSet& source, const PointSet& target, apps::RegistrationOptions options) {
  options.want_pairs = true;
  options.device = Device::cpu();
  const apps::Registration expected = apps::register_clouds(source.view(), target.view(), options);
  const RowsOnDevice<T> source_there(source.view(), source.dims() + 1), target_there(target.view(), target.dims());
  cudaStream_t stream = nullptr;
  require_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  apps::DeviceRegistrationOptions there{options};
  there.stream = stream;
  expect_same(apps::register_on_device(source_there.view(), target_there.view(), there), expected);
  require_success(cudaStreamDestroy(stream));
  options.device = Device::cuda();
  expect_same(apps::register_clouds(source.view(), target.view(), options), expected);
}

template <typename T>
class SmallRegistrationOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallRegistrationOnDevice, Types);

/// Any cloud, moved, by any options that the kernels have.
template <typename T>
void expect_random_case_like_cpu(std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto dims = static_cast<std::uint32_t>(2 + random() % 2);
  const std::uint64_t rows = 1 + random() % (seed % 4 == 0 ? 12000 : 900);
  const PointSet target = made_up_cloud<T>(rows, dims, random());
  const PointSet source = moved_cloud<T>(target, random(), seed % 3 == 0 ? 0 : 0.003);
  apps::RegistrationOptions options;
  options.method = static_cast<apps::RegistrationMethod>(random() % 4);
  options.kernel = static_cast<apps::RobustKernel>(random() % 5);
  options.kernel_scale = 0.05;
  options.max_distance = random() % 2 == 0 ? 0 : 0.1;
  options.degrees_of_freedom = random() % 3 == 0 ? 4 : 6;
  options.scale = random() % 4 == 0;
  options.initial = static_cast<apps::InitialPose>(random() % 2);
  options.max_iterations = static_cast<std::uint32_t>(random() % 30);
  expect_like_cpu<T>(source, target, options);
}

TYPED_TEST(SmallRegistrationOnDevice, HasTheBytesOfTheCpu) {
  for (std::uint64_t seed = 0; seed < rounds(60); ++seed) {
    expect_random_case_like_cpu<TypeParam>(seed);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(SmallRegistrationOnDevice, TakesWhatTheKernelsLackFromTheCpu) {
  const PointSet target = made_up_cloud<TypeParam>(500, 3, 8);
  PointSet source = moved_cloud<TypeParam>(target, 3, 0.001);
  expect_like_cpu<TypeParam>(source, target, {.keep = 0.7});
  expect_like_cpu<TypeParam>(source, target, {.reciprocal = true});
  source.values<TypeParam>()[4] = std::numeric_limits<TypeParam>::quiet_NaN();
  expect_like_cpu<TypeParam>(source, target, {.skip_nonfinite = true});
  EXPECT_THROW(apps::register_clouds(source.view(), target.view(), {.device = Device::cuda()}), BadData);
  expect_like_cpu<TypeParam>(PointSet(dtype_of<TypeParam>, 0, 3), target, {});
}

/// Many pairs in one call, of arrays there and of the host: what the CPU finds for each.
template <typename T>
void expect_pairs_like_cpu(const std::vector<PointSet>& sources, const std::vector<PointSet>& targets,
                           apps::DeviceRegistrationOptions options) {
  options.want_pairs = true;
  std::deque<RowsOnDevice<T>> there;
  std::vector<apps::CloudPair> on_host, on_device;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const PointSet& target = targets[i % targets.size()];
    there.emplace_back(sources[i].view(), sources[i].dims() + static_cast<std::uint32_t>(i % 2));
    there.emplace_back(target.view(), target.dims());
    on_host.push_back({sources[i].view(), target.view(), {}});
    on_device.push_back({there[i * 2].view(), there[i * 2 + 1].view(), {}});
    if (i % 3 == 0) {
      apps::Pose start;
      start.matrix[3] = 0.01;
      on_host.back().initial_pose = on_device.back().initial_pose = start;
    }
  }
  options.device = Device::cuda();
  const std::vector<apps::Registration> found = apps::register_pairs(on_device, options);
  const std::vector<apps::Registration> copied = apps::register_pairs(on_host, options);
  ASSERT_EQ(found.size(), on_host.size());
  ASSERT_EQ(copied.size(), on_host.size());
  for (std::size_t i = 0; i < on_host.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "pair " << i);
    apps::RegistrationOptions on_cpu = options;
    on_cpu.device = Device::cpu();
    if (on_host[i].initial_pose) on_cpu.initial_pose = on_host[i].initial_pose;
    const apps::Registration expected = apps::register_clouds(on_host[i].source, on_host[i].target, on_cpu);
    expect_same(found[i], expected);
    expect_same(copied[i], expected);
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(SmallRegistrationOnDevice, PairsHaveTheBytesOfTheCpu) {
  // Some pairs that no block holds are among them.
  for (std::uint64_t seed = 0; seed < rounds(24); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto dims = static_cast<std::uint32_t>(2 + random() % 2);
    std::vector<PointSet> sources, targets;
    for (int i = 0; i < 7; ++i) {
      const bool is_thorough = rounds(2) == 2;  // else a tool makes each access slow
      const std::uint64_t most = !is_thorough ? 100 : i == 3 ? 6000 : i == 4 ? 4096 : i % 2 == 0 ? 40 : 900;
      targets.push_back(made_up_cloud<TypeParam>(i == 4 ? most : 1 + random() % most, dims, random()));
      sources.push_back(moved_cloud<TypeParam>(targets.back(), random(), 0.003));
    }
    if (seed % 4 == 1) targets.resize(1);  // one model, many scans
    apps::DeviceRegistrationOptions options;
    options.method = static_cast<apps::RegistrationMethod>(random() % 4);
    options.kernel = static_cast<apps::RobustKernel>(random() % 5);
    options.kernel_scale = 0.05;
    options.max_distance = random() % 2 == 0 ? 0 : 0.1;
    options.scale = random() % 4 == 0;
    options.neighbors = random() % 3 == 0 ? 20 : 12;
    options.max_iterations = static_cast<std::uint32_t>(random() % 30);
    if (seed % 8 == 3) options.keep = 0.8;
    if (seed % 8 == 5) {
      sources[2].template values<TypeParam>()[0] = std::numeric_limits<TypeParam>::quiet_NaN();
      options.skip_nonfinite = true;
    }
    expect_pairs_like_cpu<TypeParam>(sources, targets, options);
    if (this->HasFailure()) return;
  }
}

/// Every kernel of many pairs on clouds of which a sanitizer watches every access.
TYPED_TEST(SmallRegistrationOnDevice, FewTinyPairsRunEveryKernel) {
  for (const std::uint32_t dims : {2u, 3u}) {
    for (const std::uint32_t neighbors : {12u, 20u}) {
      for (const bool scale : {false, true}) {
        SCOPED_TRACE(testing::Message() << dims << " dims, " << neighbors << " neighbours, scale " << scale);
        std::vector<PointSet> sources, targets;
        for (const std::uint64_t rows : {40u, 65u, 120u}) {
          targets.push_back(made_up_cloud<TypeParam>(rows, dims, rows));
          sources.push_back(moved_cloud<TypeParam>(targets.back(), rows + dims, 0.003));
        }
        apps::DeviceRegistrationOptions options;
        options.method = scale             ? apps::RegistrationMethod::point
                         : neighbors == 12 ? apps::RegistrationMethod::gicp
                                           : apps::RegistrationMethod::plane;
        options.scale = scale;
        options.neighbors = neighbors;
        options.max_iterations = 4;
        expect_pairs_like_cpu<TypeParam>(sources, targets, options);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// A grid with two points in each place, `cells` off.
template <typename T>
PointSet grid_of_twins(std::uint32_t dims, double cells) {
  const std::uint64_t side = dims == 2 ? 8 : 4;
  PointSet points(dtype_of<T>, 2 * side * side * (dims == 3 ? side : 1), dims);
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    std::uint64_t place = i / 2;
    for (std::uint32_t d = 0; d < dims; ++d, place /= side) {
      points.values<T>()[i * dims + d] = static_cast<T>((static_cast<double>(place % side) + cells) / 4);
    }
  }
  return points;
}

/// Half a cell off, each point of a grid has several nearest ones: neither bounds nor lists can tell the least number,
/// and short keys cannot tell neighbours apart.
TYPED_TEST(SmallRegistrationOnDevice, TiesOfFewPointsHaveTheBytesOfTheCpu) {
  for (const std::uint32_t dims : {2u, 3u}) {
    std::vector<PointSet> sources, targets;
    targets.push_back(grid_of_twins<TypeParam>(dims, 0));
    for (int i = 0; i < 2; ++i) sources.push_back(grid_of_twins<TypeParam>(dims, 0.5));
    for (const auto method :
         {apps::RegistrationMethod::point, apps::RegistrationMethod::plane, apps::RegistrationMethod::gicp}) {
      SCOPED_TRACE(testing::Message() << dims << " dims, " << apps::name_of(method));
      apps::RegistrationOptions options;
      options.method = method;
      options.neighbors = 12;
      options.max_iterations = 3;
      options.initial = apps::InitialPose::identity;
      options.max_distance = 0.5;
      expect_like_cpu<TypeParam>(sources[0], targets[0], options);
      expect_pairs_like_cpu<TypeParam>(sources, targets, {options});
      if (this->HasFailure()) return;
    }
  }
}

/// Clouds said to be on the GPU, one alone or among others that lie one after the other.
TYPED_TEST(SmallRegistrationOnDevice, CloudsThatAreNotThereAreNamed) {
  const PointSet host = made_up_cloud<TypeParam>(120, 3, 2);
  const RowsOnDevice<TypeParam> rows(host.view(), 3);
  const PointView wrong(host.values<TypeParam>().data(), 120, 3, Device::cuda());
  const auto message = [](PointView source, PointView target) {
    return thrown_message<UsageError>([&] {
      apps::register_pairs(std::vector<apps::CloudPair>{{source.slice(0, 40), target.slice(0, 40), {}},
                                                        {source.slice(40, 40), target.slice(40, 40), {}},
                                                        {source.slice(80, 40), target.slice(80, 40), {}}},
                           {{.device = Device::cuda()}});
    });
  };
  const std::string expected = "the array is said to be on cuda:0, but its memory is not there";
  EXPECT_EQ(message(wrong, rows.view()), expected);
  EXPECT_EQ(message(rows.view(), wrong), expected);
  EXPECT_EQ(message(wrong, wrong), expected);
}

/// A point alone in the last leaf, whose list of neighbours stays open while slots behind that leaf are looked at.
TYPED_TEST(SmallRegistrationOnDevice, PairsWithAFarPointHaveTheBytesOfTheCpu) {
  std::vector<PointSet> sources, targets;
  for (const std::uint64_t rows : {33u, 65u}) {
    PointSet cloud = made_up_cloud<TypeParam>(rows, 3, rows);
    for (TypeParam& value : cloud.template values<TypeParam>()) value = value / 10 - 1;
    for (int d = 0; d < 3; ++d) cloud.template values<TypeParam>()[(rows - 1) * 3 + d] = TypeParam(0.001);
    sources.push_back(moved_cloud<TypeParam>(cloud, rows, 0.0003));
    targets.push_back(std::move(cloud));
  }
  expect_pairs_like_cpu<TypeParam>(sources, targets, {{.max_iterations = 5}});
}

TEST(RegistrationOnDevice, PairsOfManyIterationsGoInSeveralChunks) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::vector<PointSet> sources, targets;
  targets.push_back(made_up_cloud<float>(60, 3, 4));
  for (std::uint64_t i = 0; i < 300; ++i) sources.push_back(moved_cloud<float>(targets.front(), i, 0.003));
  expect_pairs_like_cpu<float>(sources, targets, {{.max_iterations = 65536}});
}

TEST(RegistrationOnDevice, HasTheBytesOfTheCpuInManyRandomCases) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 60; seed < 150; ++seed) {
    expect_random_case_like_cpu<float>(seed);
    expect_random_case_like_cpu<double>(seed);
    if (HasFailure()) return;
  }
}

/// The finite points of a scan, all or every second one.
PointSet scan_of(const std::string& name, DType dtype, std::uint64_t first = 0, std::uint64_t step = 1) {
  const io::PointFile file = io::read_points(std::string(KITH_TEST_DATA) + "/" + name);
  const PointView all = file.view();
  std::vector<double> rows;
  for (std::uint64_t i = first; i < all.rows(); i += step) {
    double row[3];
    for (std::uint32_t d = 0; d < 3; ++d) {
      row[d] = all.dtype() == DType::f32 ? static_cast<double>(all.row<float>(i)[d]) : all.row<double>(i)[d];
    }
    if (std::isfinite(row[0]) && std::isfinite(row[1]) && std::isfinite(row[2])) rows.insert(rows.end(), row, row + 3);
  }
  PointSet points(dtype, rows.size() / 3, 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (dtype == DType::f32) {
      points.values<float>()[i] = static_cast<float>(rows[i]);
    } else {
      points.values<double>()[i] = rows[i];
    }
  }
  return points;
}

template <typename T>
void expect_scans_like_cpu(const std::vector<std::pair<PointSet, PointSet>>& pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const auto method :
         {apps::RegistrationMethod::point, apps::RegistrationMethod::plane, apps::RegistrationMethod::gicp}) {
      SCOPED_TRACE(testing::Message() << "pair " << i << ", " << apps::name_of(method));
      expect_like_cpu<T>(pairs[i].first, pairs[i].second, {.method = method});
    }
  }
}

TEST(RegistrationOnDevice, HasTheBytesOfTheCpuForRealScans) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  if (!std::filesystem::exists(KITH_TEST_DATA)) GTEST_SKIP() << "the scans are not there";
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::vector<std::pair<PointSet, PointSet>> pairs;
    const auto add = [&](const std::string& source, const std::string& target) {
      pairs.emplace_back(scan_of(source, dtype), scan_of(target, dtype));
    };
    add("stanford_bunny/bun045.ply", "stanford_bunny/bun000.ply");
    add("stanford_bunny/bun090.ply", "stanford_bunny/bun045.ply");
    add("stanford_bunny/bun000.ply", "stanford_bunny/bun_zipper.ply");
    add("libpointmatcher/car_cloud401.csv", "libpointmatcher/car_cloud400.csv");
    for (const std::string name : {"pcl/office1.pcd", "pcl/table_scene_mug_stereo_textured.pcd"}) {
      pairs.emplace_back(scan_of(name, dtype, 1, 2), scan_of(name, dtype, 0, 2));
    }
    dtype == DType::f32 ? expect_scans_like_cpu<float>(pairs) : expect_scans_like_cpu<double>(pairs);
    const apps::RegistrationOptions far{.initial = apps::InitialPose::global};
    dtype == DType::f32 ? expect_like_cpu<float>(pairs[1].first, pairs[1].second, far)
                        : expect_like_cpu<double>(pairs[1].first, pairs[1].second, far);
  }
}

TEST(RegistrationOnDevice, HasTheBytesOfTheCpuForLargeClouds) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const PointSet target = made_up_cloud<float>(300000, 3, 4);
  const PointSet source = moved_cloud<float>(target, 5, 0.001);
  for (const auto method :
       {apps::RegistrationMethod::point, apps::RegistrationMethod::plane, apps::RegistrationMethod::gicp}) {
    expect_like_cpu<float>(source, target, {.method = method});
  }
}

}  // namespace
}  // namespace kith::test
