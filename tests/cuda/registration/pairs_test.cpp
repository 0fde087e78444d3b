// Registration of many small pairs on a GPU, its kernels run on the host: the bytes of the CPU's facts, normals, poses
// and pairs.
#include "apps/normals/fit_planes.hpp"
#include "apps/register/extent.hpp"
#include "apps/register/refine.hpp"
#include "cuda/emulation/grid.hpp"
#include "cuda/registration/prepare_clouds.cuh"
#include "cuda/registration/refine_pairs.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::emulation::Residence;

/// Blobs, grids (whose distances tie), duplicates or a line, around a place.
template <typename T>
PointSet small_cloud(std::uint64_t rows, std::uint32_t dims, std::uint64_t seed, int shape) {
  std::mt19937_64 random(seed);
  PointSet points(dtype_of<T>, rows, dims);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      const auto draw = static_cast<double>(random() % 100000) / 100000;
      const double value = shape == 1   ? std::floor(draw * 6) / 4
                           : shape == 2 ? std::floor(draw * 3)
                           : shape == 3 ? (d == 0 ? draw : 0.25)
                                        : draw * draw;
      points.values<T>()[i * dims + d] = static_cast<T>(value);
    }
  }
  return points;
}

/// A cloud as the kernel leaves it.
template <typename T, std::uint32_t kDims>
struct PreparedCloud {
  std::vector<std::uint64_t> tree;
  std::vector<T> normals;
  cuda::CloudFacts<T> facts = {};
};

/// What is made of a cloud besides its tree.
struct Wanted {
  bool spacing = true;
  bool normals = true;
};

template <typename T, std::uint32_t kDims, std::uint32_t kList>
PreparedCloud<T, kDims> prepared(const PointSet& points, std::uint32_t neighbors, Wanted wanted = {}) {
  PreparedCloud<T, kDims> cloud;
  const auto count = static_cast<std::uint32_t>(points.rows());
  cloud.tree.resize(cuda::SmallTree<T, kDims>::bytes(count) / sizeof(std::uint64_t));
  cloud.normals.assign(points.rows() * kDims, T(-7));
  const cuda::CloudTask<T> task{.rows = points.values<T>().data(),
                                .row_stride = kDims,
                                .points = count,
                                .neighbors = neighbors,
                                .wants_spacing = wanted.spacing,
                                .tree = reinterpret_cast<std::byte*>(cloud.tree.data()),
                                .normals = wanted.normals ? cloud.normals.data() : nullptr};
  cuda::emulation::run_grid(1, core::kSumBlock, cuda::PrepareShared<T, kDims>::bytes(count), Residence::one_by_one,
                            [&] { cuda::prepare_clouds<T, kDims, kList>(&task, &cloud.facts); });
  return cloud;
}

template <typename T>
apps::Surface surface_of(const Index& index, const PointSet& points, std::uint32_t neighbors) {
  apps::Surface surface{PointSet(dtype_of<T>, points.rows(), points.dims()), {}};
  apps::fit_planes<T>(index, points.values<T>(), {neighbors, {}, 1, nullptr}, surface.normals.values<T>(), {},
                      &surface.neighbors);
  return surface;
}

template <typename T, std::uint32_t kDims, std::uint32_t kList>
void expect_prepared_like_cpu(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const int shape = static_cast<int>(random() % 4);
  const std::uint64_t rows = seed % 3 == 0 ? 1 + random() % 20 : 1 + random() % 1500;
  const PointSet points = small_cloud<T>(rows, kDims, random(), shape);
  const auto neighbors = static_cast<std::uint32_t>(kDims + random() % (kList - kDims + 1));
  const PreparedCloud<T, kDims> found = prepared<T, kDims, kList>(points, neighbors);
  ASSERT_TRUE(found.facts.is_finite);
  const Index index = Index::build(points.view(), {.device = Device::cpu(), .threads = 1});
  const PointSet normals = surface_of<T>(index, points, neighbors).normals;
  ASSERT_EQ(std::memcmp(found.normals.data(), normals.values<T>().data(), found.normals.size() * sizeof(T)), 0);

  double lower[3], upper[3];
  for (std::uint32_t d = 0; d < kDims; ++d) {
    lower[d] = static_cast<double>(found.facts.lower[d]);
    upper[d] = static_cast<double>(found.facts.upper[d]);
  }
  core::CloudExtent extent = core::extent_of_box(lower, upper, kDims);
  core::add_sums(extent, found.facts.sums, rows);
  const core::CloudExtent expected = apps::extent_of<T>(points, 1);
  ASSERT_EQ(std::memcmp(&extent, &expected, sizeof extent), 0);

  if (rows < 2) return;
  const Neighbors near = index.knn(points.view(), 2, {.threads = 1});
  const auto spacing = apps::ordered_total<1>(
      rows, {.threads = 1}, [&](std::uint64_t i, core::Terms<1>& terms) { terms[0] = near.distance(i, 1); });
  ASSERT_EQ(std::memcmp(&found.facts.spacing, spacing.data(), sizeof(double)), 0);
}

TEST(EmulatedPairs, CloudsArePreparedWithTheBytesOfTheCpu) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_prepared_like_cpu<float, 3, 16>(seed);
    expect_prepared_like_cpu<float, 2, 16>(seed);
    expect_prepared_like_cpu<double, 3, 32>(seed);
    if (HasFatalFailure()) return;
  }
}

/// The last point is alone in its leaf and far from the others; behind its leaf the tree has slots without any.
template <typename T>
PointSet cloud_with_a_far_point(std::uint64_t rows, std::uint64_t seed) {
  PointSet points = small_cloud<T>(rows, 3, seed, 0);
  for (std::uint64_t i = 0; i < rows * 3; ++i) points.values<T>()[i] = points.values<T>()[i] / T(10) - T(1);
  for (std::uint64_t d = 0; d < 3; ++d) points.values<T>()[(rows - 1) * 3 + d] = T(0.001);
  return points;
}

TEST(EmulatedPairs, ListsThatAreNotFullVisitNoLeafBehindTheLast) {
  for (const std::uint64_t rows : {9u, 17u, 33u, 65u, 129u, 257u}) {
    SCOPED_TRACE(testing::Message() << rows << " points");
    const PointSet points = cloud_with_a_far_point<float>(rows, rows);
    const PreparedCloud<float, 3> found = prepared<float, 3, 16>(points, 16);
    const Index index = Index::build(points.view(), {.device = Device::cpu(), .threads = 1});
    const PointSet normals = surface_of<float>(index, points, 16).normals;
    EXPECT_EQ(std::memcmp(found.normals.data(), normals.values<float>().data(), found.normals.size() * sizeof(float)),
              0);
  }
}

TEST(EmulatedPairs, CloudsThatAreNotFiniteAreFound) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    PointSet points = small_cloud<float>(300, 3, 4, 0);
    points.values<float>()[299 * 3 + 1] = bad;
    EXPECT_FALSE((prepared<float, 3, 16>(points, 8).facts.is_finite));
  }
}

TEST(EmulatedPairs, WhatIsNotWantedOfACloudIsLeftOut) {
  for (const std::uint64_t rows : {1u, 2u, 40u, 700u}) {
    for (const int shape : {0, 1}) {
      SCOPED_TRACE(testing::Message() << rows << " points, shape " << shape);
      const PointSet points = small_cloud<float>(rows, 3, rows, shape);
      const PreparedCloud<float, 3> all = prepared<float, 3, 16>(points, 8);
      const PreparedCloud<float, 3> with_spacing = prepared<float, 3, 16>(points, 8, {.normals = false});
      const PreparedCloud<float, 3> of_short_lists = prepared<float, 3, 2>(points, 2, {.normals = false});
      const PreparedCloud<float, 3> with_normals = prepared<float, 3, 16>(points, 8, {.spacing = false});
      const PreparedCloud<float, 3> with_neither =
          prepared<float, 3, 16>(points, 8, {.spacing = false, .normals = false});
      EXPECT_EQ(with_spacing.facts.spacing, all.facts.spacing);
      EXPECT_EQ(of_short_lists.facts.spacing, all.facts.spacing);
      EXPECT_EQ(with_normals.normals, all.normals);
      for (const auto* cloud : {&with_spacing, &of_short_lists, &with_normals, &with_neither}) {
        EXPECT_EQ(cloud->tree, all.tree);
        EXPECT_EQ(std::memcmp(&cloud->facts.sums, &all.facts.sums, sizeof all.facts.sums), 0);
        EXPECT_TRUE(cloud == &with_normals || cloud->normals == std::vector<float>(rows * 3, -7));
      }
      EXPECT_EQ(with_neither.facts.spacing, 0);
    }
  }
}

template <typename T, std::uint32_t kDims, int Unknowns>
void expect_pair_like_cpu(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const int shape = static_cast<int>(random() % 4);
  apps::Stage<T> stage;
  stage.target = std::make_shared<PointSet>(
      small_cloud<T>(seed % 4 == 0 ? 1 + random() % 30 : 8 + random() % 900, kDims, random(), shape));
  stage.source = small_cloud<T>(1 + random() % 700, kDims, random(), shape);
  const std::uint64_t sources = stage.source.rows();
  stage.target_index = Index::build(stage.target->view(), {.device = Device::cpu(), .threads = 1});
  core::StepRule rule;
  rule.pair = {static_cast<core::PairError>(random() % 3), static_cast<core::PairWeight>(random() % 5), 0.1};
  rule.free_mask = kDims == 2 ? 0b0011100 : 0b0111111;
  if (Unknowns == 7) rule.free_mask |= 0b1000000;
  rule.points = sources;
  rule.max_iterations = static_cast<std::uint32_t>(random() % 14);
  rule.rotation_tolerance = rule.translation_tolerance = 1e-7;
  rule.adapts_distance = random() % 2 == 0;
  rule.least_distance = 0.05;
  const PreparedCloud<T, kDims> target = prepared<T, kDims, 16>(*stage.target, 8);
  const PreparedCloud<T, kDims> source = prepared<T, kDims, 16>(stage.source, 8);
  if (rule.pair.error != core::PairError::point) {
    stage.target_surface = std::make_shared<apps::Surface>(surface_of<T>(*stage.target_index, *stage.target, 8));
  }
  if (rule.pair.error == core::PairError::gicp) {
    const Index index = Index::build(stage.source.view(), {.device = Device::cpu(), .threads = 1});
    stage.source_normals = surface_of<T>(index, stage.source, 8).normals;
  }
  cuda::PairTask<T> task;
  for (std::uint32_t d = 0; d < kDims; ++d) task.frame.source[d] = task.frame.target[d] = 0.5;
  task.start.max_distance = random() % 4 == 0 ? 0.02 : 0.6;
  task.start.end = rule.max_iterations == 0 ? core::StageEnd::iterations : core::StageEnd::none;
  core::apply_step({{0, 0, 0.1}, {0.05, -0.02, 0}, 0}, task.start.motion);
  const apps::Refined expected =
      apps::refine<T>(stage, task.frame, rule, {.want_pairs = true}, Unknowns, task.start, {}, 1, ProgressCallback{});

  std::vector<std::uint64_t> known(cuda::KnownMatches<T, kDims>::bytes(static_cast<std::uint32_t>(sources)) /
                                   sizeof(std::uint64_t));
  std::vector<core::StepRecord> records(rule.max_iterations + 1);
  std::vector<std::uint32_t> matches(sources, 12345);
  cuda::PairResult result = {};
  task.source = stage.source.template values<T>().data();
  task.row_stride = kDims;
  task.source_tree = reinterpret_cast<const std::byte*>(source.tree.data());
  task.source_normals = source.normals.data();
  task.points = static_cast<std::uint32_t>(sources);
  task.targets = static_cast<std::uint32_t>(stage.target->rows());
  task.target_tree = reinterpret_cast<const std::byte*>(target.tree.data());
  task.target_normals = target.normals.data();
  task.rule = rule;
  task.known = reinterpret_cast<std::byte*>(known.data());
  task.records = records.data();
  task.matches = matches.data();
  task.result = &result;
  cuda::emulation::run_grid(1, core::kSumBlock,
                            cuda::PairShared<Unknowns>::template bytes<T, kDims>(task.points, task.targets),
                            Residence::one_by_one, [&] { cuda::refine_pairs<T, kDims, Unknowns>(&task); });

  ASSERT_EQ(std::memcmp(&result.state.motion, &expected.state.motion, sizeof(core::Motion)), 0);
  ASSERT_EQ(result.state.end, expected.state.end);
  ASSERT_EQ(result.state.iteration, expected.state.iteration);
  ASSERT_EQ(std::memcmp(result.total, expected.sums.data(), expected.sums.size() * sizeof(double)), 0);
  ASSERT_EQ(std::memcmp(result.surfaces, expected.surfaces.data(), expected.surfaces.size() * sizeof(double)), 0);
  for (std::size_t i = 0; i < expected.records.size(); ++i) {
    ASSERT_EQ(std::memcmp(&records[i], &expected.records[i], sizeof(core::StepRecord)), 0) << "iteration " << i;
  }
  std::vector<apps::RegisteredPair> pairs;
  for (std::uint32_t i = 0; i < sources; ++i) {
    if (matches[i] != core::kNoPoint) pairs.push_back({i, matches[i]});
  }
  ASSERT_EQ(pairs, expected.pairs);
}

TEST(EmulatedPairs, HaveTheBytesOfTheCpu) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_pair_like_cpu<float, 3, 6>(seed);
    expect_pair_like_cpu<float, 2, 6>(seed);
    expect_pair_like_cpu<double, 3, 7>(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kith::test
