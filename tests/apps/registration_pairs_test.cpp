// Many pairs registered in one call: what register_clouds finds for each.
#include <kith/apps/registration.hpp>

#include "support/sanitized.hpp"

#include <kith/error.hpp>
#include <kith/memory_limit.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

PointSet wavy(std::uint64_t rows, std::uint64_t seed, float shift) {
  std::mt19937_64 random(seed);
  PointSet points(DType::f32, rows, 3);
  for (std::uint64_t i = 0; i < rows; ++i) {
    float* row = points.values<float>().data() + i * 3;
    for (int d = 0; d < 2; ++d) row[d] = static_cast<float>(random() % 1000003) / 1000003;
    row[2] = row[0] * row[1] + shift;
  }
  return points;
}

void expect_like_single_calls(const std::vector<apps::CloudPair>& pairs,
                              const apps::DeviceRegistrationOptions& options) {
  const std::vector<apps::Registration> found = apps::register_pairs(pairs, options);
  ASSERT_EQ(found.size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    apps::RegistrationOptions its = options;
    if (pairs[i].initial_pose) its.initial_pose = pairs[i].initial_pose;
    const apps::Registration expected = apps::register_clouds(pairs[i].source, pairs[i].target, its);
    EXPECT_EQ(std::memcmp(&found[i].transformation, &expected.transformation, sizeof(apps::Pose)), 0) << i;
    EXPECT_EQ(found[i].information, expected.information) << i;
    EXPECT_EQ(found[i].iterations.size(), expected.iterations.size()) << i;
    EXPECT_EQ(found[i].pairs, expected.pairs) << i;
  }
}

TEST(RegisterPairs, FindWhatSingleCallsFind) {
  std::vector<PointSet> clouds;
  std::vector<apps::CloudPair> pairs;
  for (std::uint64_t i = 0; i < 12; ++i) clouds.push_back(wavy(20 + i * 37, i, i % 2 == 0 ? 0.01f : 0));
  for (std::uint64_t i = 0; i + 1 < 12; ++i) pairs.push_back({clouds[i].view(), clouds[i + 1].view(), {}});
  pairs[3].initial_pose.emplace();
  pairs[3].initial_pose->matrix[3] = 0.02;
  for (const int threads : {1, 3}) {
    expect_like_single_calls(pairs, {{.want_pairs = true, .device = Device::cpu(), .threads = threads}});
  }
  expect_like_single_calls({pairs[2]}, {{.device = Device::cpu()}});
  EXPECT_TRUE(apps::register_pairs({}, {}).empty());
}

TEST(RegisterPairs, ShareTargetsAndHaveCloudsOfAllSizes) {
  const PointSet small = wavy(400, 1, 0), large = wavy(40000, 2, 0), scan = wavy(300, 3, 0.01f);
  const PointSet long_scan = wavy(35000, 4, 0.01f), nothing(DType::f32, 0, 3);
  std::vector<apps::CloudPair> pairs = {{scan.view(), small.view(), {}},      {scan.view(), large.view(), {}},
                                        {long_scan.view(), large.view(), {}}, {long_scan.view(), small.view(), {}},
                                        {small.view(), large.view(), {}},     {scan.view(), large.view(), {}},
                                        {scan.view(), nothing.view(), {}},    {nothing.view(), small.view(), {}},
                                        {small.view(), nothing.view(), {}},   {small.view(), scan.view(), {}}};
  pairs[4].initial_pose.emplace();
  pairs[4].initial_pose->matrix[7] = 0.01;
  for (const int threads : {1, 4}) {
    if (KITH_TEST_SLOW && threads == 1) continue;
    expect_like_single_calls(pairs, {{.want_pairs = true, .device = Device::cpu(), .threads = threads}});
  }
  const MemoryLimit limit(std::uint64_t{1} << 30);
  expect_like_single_calls(pairs, {{.device = Device::cpu()}});
}

TEST(RegisterPairs, ObeyLimitsOfMemoryOnEveryThread) {
  const PointSet target = wavy(3000, 1, 0), source = wavy(3000, 2, 0.01f);
  const std::vector<apps::CloudPair> pairs(5, {source.view(), target.view(), {}});
  const MemoryLimit limit(1000);
  EXPECT_THROW(apps::register_pairs(pairs, {{.device = Device::cpu(), .threads = 3}}), OutOfMemory);
}

TEST(RegisterPairs, NameThePairWhoseStartIsNoPose) {
  const PointSet cloud = wavy(100, 1, 0);
  std::vector<apps::CloudPair> pairs(3, {cloud.view(), cloud.view(), {}});
  pairs[2].initial_pose.emplace();
  pairs[2].initial_pose->matrix[0] = std::numeric_limits<double>::quiet_NaN();
  try {
    apps::register_pairs(pairs, {{.device = Device::cpu()}});
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find("pair 2 "), 0u) << error.what();
  }
}

TEST(RegisterPairs, AreTakenFromArraysThatLieOneAfterTheOther) {
  const PointSet sources = wavy(300, 1, 0.01f), targets = wavy(500, 2, 0);
  const std::vector<std::uint64_t> from = {0, 100, 100, 300}, to = {10, 200, 350, 500};
  const std::vector<apps::CloudPair> pairs = apps::pairs_of(sources.view(), from, targets.view(), to);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[1].source.rows(), 0u);
  EXPECT_EQ(pairs[2].target.rows(), 150u);
  EXPECT_EQ(pairs[2].target.data(), targets.values<float>().data() + 350 * 3);
  expect_like_single_calls(pairs, {{.device = Device::cpu()}});
  const std::vector<std::uint64_t> down = {0, 100, 90, 300}, beyond = {0, 100, 200, 301}, few = {0, 300};
  EXPECT_THROW(apps::pairs_of(sources.view(), down, targets.view(), to), UsageError);
  EXPECT_THROW(apps::pairs_of(sources.view(), beyond, targets.view(), to), UsageError);
  EXPECT_THROW(apps::pairs_of(sources.view(), few, targets.view(), to), UsageError);
}

TEST(RegisterPairs, NameThePairThatFails) {
  PointSet good = wavy(100, 1, 0), bad = wavy(100, 2, 0);
  bad.values<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<apps::CloudPair> pairs = {
      {good.view(), good.view(), {}}, {good.view(), bad.view(), {}}, {bad.view(), good.view(), {}}};
  try {
    apps::register_pairs(pairs, {{.device = Device::cpu()}});
    FAIL() << "no error";
  } catch (const BadData& error) {
    EXPECT_EQ(std::string(error.what()).find("pair 1 "), 0u) << error.what();
  }
  expect_like_single_calls(pairs, {{.skip_nonfinite = true, .device = Device::cpu()}});
}

}  // namespace
}  // namespace kith::test
