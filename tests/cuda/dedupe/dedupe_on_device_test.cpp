// Deduplication on a GPU, of arrays there and of points of the host: what the CPU keeps.
#include "cuda/dedupe/dedupe_case.hpp"
#include "cuda/on_device.hpp"
#include "engine/backend.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/dedupe_on_device.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

template <typename T>
void expect_kept_as_on_cpu(const DedupeCase& made, std::optional<double> tolerance, std::uint32_t gap,
                           std::uint64_t hash_mask) {
  apps::DedupeOptions options = made.options();
  options.tolerance = tolerance;
  const apps::Deduped expected = apps::dedupe(made.points.view(), options);

  const std::uint64_t count = made.points.rows();
  const RowsOnDevice<T> points(made.points.view(), made.points.dims() + gap);
  const DeviceArray<double> scores(made.scores);
  const DeviceArray<std::uint32_t> kept(std::vector<std::uint32_t>(count, 7)),
      map(std::vector<std::uint32_t>(count, 7));
  cudaStream_t stream = nullptr;
  require_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  apps::DeviceDedupeOptions there{options};
  if (!made.scores.empty()) there.scores = {scores.data(), made.scores.size()};
  there.stream = stream;
  for (const bool wants_map : {true, false}) {
    const apps::DedupedOnDevice found = engine::cuda_backend()->dedupe({.points = points.view(),
                                                                        .kept = kept.data(),
                                                                        .map = wants_map ? map.data() : nullptr,
                                                                        .options = there,
                                                                        .device = Device::cuda(),
                                                                        .hash_mask = hash_mask});
    std::vector<std::uint32_t> numbers = kept.values();
    numbers.resize(found.kept);
    ASSERT_EQ(numbers, expected.kept);
    ASSERT_EQ(map.values(), expected.map);
    ASSERT_EQ(found.skipped, expected.skipped);
  }
  require_success(cudaStreamDestroy(stream));

  options.device = Device::cuda();
  const apps::Deduped from_host = apps::dedupe(made.points.view(), options);
  ASSERT_EQ(from_host.kept, expected.kept);
  ASSERT_EQ(from_host.map, expected.map);
  ASSERT_EQ(from_host.skipped, expected.skipped);
}

template <typename T>
class SmallDedupeOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallDedupeOnDevice, Types);

TYPED_TEST(SmallDedupeOnDevice, KeepsWhatTheCpuKeeps) {
  for (std::uint64_t seed = 0; seed < rounds(40); ++seed) {
    const std::uint64_t rows = seed % 10 == 0 ? 1 : 1 + seed * 137 % 3000;
    const auto dims = static_cast<std::uint32_t>(1 + seed % 20);
    SCOPED_TRACE(testing::Message() << "dedupe_case(" << seed << ", " << rows << ", " << dims << ")");
    const DedupeCase made = dedupe_case<TypeParam>(seed, rows, dims);
    for (const std::uint64_t mask : {kAllBits, std::uint64_t{0x1f} << 59, std::uint64_t{0}}) {
      expect_kept_as_on_cpu<TypeParam>(made, {}, static_cast<std::uint32_t>(seed % 3), mask);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(SmallDedupeOnDevice, WithinATolerance) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_kept_as_on_cpu<TypeParam>(dedupe_case<TypeParam>(seed, 700, 3), 0.25, static_cast<std::uint32_t>(seed % 2),
                                     kAllBits);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SmallDedupeOnDevice, PointsOfTheHostMayLieApartOrBackwards) {
  using T = TypeParam;
  const DedupeCase made = dedupe_case<T>(1, 500, 4);
  const PointView view = made.points.view();
  for (const PointView points : {PointView(view.data(), view.dtype(), 500, 2, 4),
                                 PointView(view.template row<T>(499), view.dtype(), 500, 4, -4)}) {
    const apps::Deduped expected = apps::dedupe(points), found = apps::dedupe(points, {.device = Device::cuda()});
    EXPECT_EQ(found.kept, expected.kept);
    EXPECT_EQ(found.map, expected.map);
  }
}

template <typename T>
class LargeDedupeOnDevice : public SmallDedupeOnDevice<T> {};
TYPED_TEST_SUITE(LargeDedupeOnDevice, Types);

TYPED_TEST(LargeDedupeOnDevice, KeepsWhatTheCpuKeeps) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::uint32_t dims = seed == 9 ? 300 : static_cast<std::uint32_t>(1 + seed % 5);
    const DedupeCase made = dedupe_case<TypeParam>(seed, seed == 9 ? 20000 : 1'000'003, dims);
    expect_kept_as_on_cpu<TypeParam>(made, {}, static_cast<std::uint32_t>(seed % 2), kAllBits);
    if (seed % 5 == 3) expect_kept_as_on_cpu<TypeParam>(made, {}, 0, std::uint64_t{0xffff} << 48);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(LargeDedupeOnDevice, WithinATolerance) {
  std::mt19937_64 random(5);
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::clusters}) {
    DedupeCase made;
    made.points = nasty_points(shape, dtype_of<TypeParam>, 200'000, 3, random);
    for (const double tolerance : {1e-3, 0.3}) {
      expect_kept_as_on_cpu<TypeParam>(made, tolerance, 0, kAllBits);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(DedupeOnDeviceErrors, SmallMistakesAreNamed) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  DedupeCase made = dedupe_case<float>(1, 100, 3);
  made.points.values<float>()[3 * 40 + 2] = std::numeric_limits<float>::quiet_NaN();
  made.points.values<float>()[3 * 70] = std::numeric_limits<float>::infinity();
  made.scores.assign(100, 1.0);
  const RowsOnDevice<float> points(made.points.view(), 3);
  const DeviceArray<double> scores(made.scores);
  const DeviceArray<std::uint32_t> kept(std::vector<std::uint32_t>(100, 7));
  std::vector<std::uint32_t> on_host(100);
  const auto dedupe = [&](std::uint32_t* into, const double* of_points) {
    apps::DeviceDedupeOptions options;
    options.scores = {of_points, 100};
    apps::dedupe_on_device(points.view(), into, nullptr, options);
  };
  const auto said = [](const auto& call) { return thrown_message<UsageError>(call); };
  EXPECT_PRED2(holds, said([&] { dedupe(on_host.data(), scores.data()); }), "kept: the array is not in the memory of");
  EXPECT_PRED2(holds, said([&] { dedupe(kept.data(), made.scores.data()); }), "scores: the array is not in the memory");
  const std::string expected = thrown_message<BadData>([&] { apps::dedupe(made.points.view()); });
  EXPECT_PRED2(holds, expected, "row 40, column 2");
  EXPECT_EQ(thrown_message<BadData>([&] { dedupe(kept.data(), scores.data()); }), expected);
  EXPECT_EQ(thrown_message<BadData>([&] { apps::dedupe(made.points.view(), {.device = Device::cuda()}); }), expected);
  EXPECT_EQ(apps::dedupe_on_device(points.view().slice(0, 0), nullptr, nullptr).kept, 0u);
}

}  // namespace
}  // namespace kith::test
