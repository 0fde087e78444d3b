// Arrays of a caller on a GPU, memory that runs out there, and several threads at once: through the public interface.
#include "cuda/on_device.hpp"

#include "engine/index_file/index_file_writer.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/sign_index.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <thread>

namespace kith::test {
namespace {

BuildOptions tree_on(Device device) { return {.engine = Engine::kd_tree, .device = device}; }

class DeviceArrays : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
  std::mt19937_64 random_{21};
};

template <typename T>
void expect_same_index_from_device(PointView points, std::uint32_t stride, BuildOptions options) {
  options.device = Device::cpu();
  const std::vector<std::byte> expected = Index::build(points, options).to_bytes();
  const RowsOnDevice<T> rows(points, stride);
  EXPECT_TRUE(Index::build(rows.view(), options).to_bytes() == expected) << "built on the CPU";
  options.device = Device::cuda();
  const Index index = Index::build(rows.view(), options);
  EXPECT_EQ(index.device(), Device::cuda());
  EXPECT_TRUE(index.to_bytes() == expected) << "built on the GPU";
  EXPECT_TRUE(Index::build(points, options).to_bytes() == expected) << "built on the GPU from the host's rows";
}

TEST_F(DeviceArrays, SmallPointsAreReadWhereTheyLie) {
  for (const std::uint32_t dims : {1u, 3u, 9u}) {
    for (const std::uint32_t gap : {0u, 2u}) {
      SCOPED_TRACE(testing::Message() << dims << " dims, gaps of " << gap);
      if (rounds(2) < 2 && (dims == 3) != (gap == 2)) continue;
      expect_same_index_from_device<float>(nasty_points(NastyShape::clusters, DType::f32, 5000, dims, random_).view(),
                                           dims + gap, tree_on(Device::cuda()));
      expect_same_index_from_device<double>(nasty_points(NastyShape::grid, DType::f64, 3000, dims, random_).view(),
                                            dims + gap, tree_on(Device::cuda()));
    }
  }
}

TEST_F(DeviceArrays, CosineAndPeriodsGoThroughTheHost) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 3000, 3, random_);
  BuildOptions options = tree_on(Device::cuda());
  options.metric = Metric::cosine();
  expect_same_index_from_device<float>(points.view(), 3, options);
  options.metric = Metric::l2();
  options.period = {1, 0, 2};
  expect_same_index_from_device<float>(points.view(), 4, options);
}

TEST_F(DeviceArrays, BadRowsAreNamedOrLeftOut) {
  PointSet points = nasty_points(NastyShape::uniform, DType::f32, 3000, 3, random_);
  points.values<float>()[300] = std::numeric_limits<float>::infinity();
  points.values<float>()[3001] = std::numeric_limits<float>::quiet_NaN();
  const std::string expected = thrown_message<BadData>([&] { Index::build(points.view(), tree_on(Device::cpu())); });
  EXPECT_PRED2(holds, expected, "row 100, column 0");
  const RowsOnDevice<float> rows(points.view(), 5);
  for (const PointView view : {rows.view(), points.view()}) {
    EXPECT_EQ(thrown_message<BadData>([&] { Index::build(view, tree_on(Device::cuda())); }), expected);
  }
  BuildOptions options = tree_on(Device::cuda());
  options.skip_nonfinite = true;
  expect_same_index_from_device<float>(points.view(), 5, options);
}

TEST_F(DeviceArrays, QueriesAreCopied) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 2000, 2, random_);
  const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 300, 2, random_);
  const RowsOnDevice<float> rows(queries.view(), 3);
  for (const Device device : {Device::cpu(), Device::cuda()}) {
    const Index index = Index::build(points.view(), tree_on(device));
    expect_same(index.knn(queries.view(), 5), index.knn(rows.view(), 5));
    expect_same(index.radius(queries.view(), 0.1), index.radius(rows.view(), 0.1));
    EXPECT_EQ(index.count(queries.view(), 0.1), index.count(rows.view(), 0.1));
    const PointView low = queries.view().slice(0, 150), high = queries.view().slice(150, 150);
    expect_same(index.box(low, high), index.box(rows.view().slice(0, 150), high));
    EXPECT_EQ(index.box_count(low, high), index.box_count(low, rows.view().slice(150, 150)));
  }
}

TEST_F(DeviceArrays, RowsMayLieBackwards) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f64, 50, 2, random_);
  const RowsOnDevice<double> rows(points.view(), 2);
  PointSet reversed(DType::f64, 50, 2);
  for (std::uint64_t i = 0; i < 50; ++i) {
    std::memcpy(reversed.values<double>().data() + 2 * i, points.view().row<double>(49 - i), 2 * sizeof(double));
  }
  const PointView backwards(rows.view().row<double>(49), DType::f64, 50, 2, -2, Device::cuda());
  EXPECT_TRUE(Index::build(backwards, tree_on(Device::cuda())).to_bytes() ==
              Index::build(reversed.view(), tree_on(Device::cpu())).to_bytes());
}

TEST_F(DeviceArrays, MemoryThatIsNotThereIsAUsageError) {
  const std::vector<float> values(30, 1.0f);
  const PointView claimed(values.data(), 10, 3, Device::cuda());
  EXPECT_THROW(Index::build(claimed, tree_on(Device::cuda())), UsageError);
  EXPECT_THROW(Index::build(claimed, tree_on(Device::cpu())), UsageError);
  const PointView elsewhere(values.data(), 10, 3, Device::cuda(99));
  EXPECT_THROW(Index::build(elsewhere, tree_on(Device::cuda())), DeviceError);
}

TEST_F(DeviceArrays, TooLittleMemoryIsSaidBeforeTheBuild) {
  const PointSet few = nasty_points(NastyShape::uniform, DType::f32, 1000, 3, random_);
  const RowsOnDevice<float> rows(few.view(), 3);
  // More rows than there are: they must not be looked at.
  const PointView huge(rows.data(), DType::f32, 4000000000u, 64, 64, Device::cuda());
  const BuildPlan plan = Index::plan(huge.rows(), huge.dims(), huge.dtype(), tree_on(Device::cuda()));
  EXPECT_EQ(plan.device, Device::cuda());
  EXPECT_GT(plan.peak_bytes, available_devices()[1].memory_bytes);
  for (int again = 0; again < 2; ++again) {
    const std::string text = thrown_message<OutOfMemory>([&] { Index::build(huge, tree_on(Device::cuda())); });
    EXPECT_PRED2(holds, text, "not enough GPU memory");
    EXPECT_PRED2(holds, text, "are free");
    EXPECT_EQ(Index::build(rows.view(), tree_on(Device::cuda())).size(), few.rows());
  }
  BuildOptions automatic = tree_on(Device::automatic());
  EXPECT_EQ(Index::plan(huge.rows(), huge.dims(), huge.dtype(), automatic).device, Device::cpu());
}

TEST_F(DeviceArrays, AutomaticIsTheGpuForManyPoints) {
  const BuildOptions options = tree_on(Device::automatic());
  EXPECT_EQ(Index::plan(1500000, 3, DType::f32, options).device, Device::cuda());
  const BuildOptions brute{.engine = Engine::brute_force, .device = Device::automatic()};
  EXPECT_EQ(Index::plan(1500000, 3, DType::f32, brute).device, Device::cuda());
  EXPECT_EQ(Index::plan(1000, 3, DType::f32, brute).device, Device::cpu());
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 1200000, 2, random_);
  const Index index = Index::build(points.view(), options);
  EXPECT_EQ(index.device(), Device::cuda()) << index.explain();
  EXPECT_TRUE(index.to_bytes() == Index::build(points.view(), tree_on(Device::cpu())).to_bytes());
}

TEST_F(DeviceArrays, SeveralThreadsBuildAndSearch) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 20000, 3, random_);
  const Neighbors expected = Index::build(points.view(), tree_on(Device::cpu())).knn_self(4);
  const Index shared = Index::build(points.view(), tree_on(Device::cuda()));
  std::vector<int> right(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const Index own = Index::build(points.view(), tree_on(Device::cuda()));
      right[t] = own.knn_self(4, {.threads = 1}) == expected && shared.knn_self(4, {.threads = 1}) == expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(right.size(), 1));
}

TEST_F(DeviceArrays, TheCopyOnTheHostIsMadeOnFirstNeed) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 20000, 3, random_);
  const Index index = Index::build(points.view(), tree_on(Device::cuda()));
  const std::uint64_t on_device = index.memory_bytes();
  index.knn_self(1);
  index.knn_self(1, {.eps = 0.5, .max_leaves = 2});
  EXPECT_EQ(index.memory_bytes(), on_device);
  index.to_bytes();
  EXPECT_EQ(index.memory_bytes(), on_device + Index::build(points.view(), tree_on(Device::cpu())).memory_bytes());
  EXPECT_PRED2(holds, index.explain(), "built on the GPU, searches run there");
}

TEST_F(DeviceArrays, AFileIsCheckedOnTheGpu) {
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 5000, 3, random_);
  const Index built = Index::build(points.view(), tree_on(Device::cpu()));
  std::vector<std::byte> bytes = built.to_bytes();
  const Index loaded = Index::from_bytes(bytes, {.device = Device::cuda()});
  EXPECT_EQ(loaded.device(), Device::cuda());
  EXPECT_TRUE(loaded.to_bytes() == bytes);
  expect_same(built.knn_self(3), loaded.knn_self(3));
  // The smallest number of the root, signed as if it were genuine.
  engine::HeaderRecord header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const engine::FrontMatter front =
      engine::decode_front(std::span(bytes).first(header.front_bytes), bytes.size(), "sample");
  ASSERT_EQ(front.sections.back().id, static_cast<std::uint32_t>(engine::SectionId::smallest));
  bytes[front.sections.back().offset] ^= std::byte{1};
  sign_index(bytes);
  const std::string expected = thrown_message<CorruptFile>([&] { Index::from_bytes(bytes); });
  EXPECT_EQ(thrown_message<CorruptFile>([&] { Index::from_bytes(bytes, {.device = Device::cuda()}); }), expected);
}

}  // namespace
}  // namespace kith::test
