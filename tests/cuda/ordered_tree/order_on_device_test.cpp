// Exported trees on a GPU, of arrays there and of points of the host: those of the CPU, and checked like there.
#include "cuda/on_device.hpp"
#include "cuda/ordered_tree/order_case.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/tree_export_on_device.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

void expect_same_table(const apps::NodeTable& expected, const apps::NodeTable& found) {
  ASSERT_EQ(expected.facts, found.facts);
  ASSERT_EQ(expected.root, found.root);
  ASSERT_EQ(expected.point, found.point);
  ASSERT_EQ(expected.split_dim, found.split_dim);
  ASSERT_EQ(expected.less, found.less);
  ASSERT_EQ(expected.greater, found.greater);
}

template <typename T>
void expect_tree_of_cpu(const OrderCase& made, std::uint32_t gap) {
  const PointView points = made.points.view();
  const std::uint64_t rows = points.rows();
  const std::uint32_t dims = points.dims();
  const apps::NodeTable expected = apps::export_node_table(points, made.options);
  const apps::InOrderTree expected_order = apps::export_in_order(points, made.options);

  const RowsOnDevice<T> there(points, dims + gap);
  const std::vector<std::uint32_t> none(rows, 7);
  const DeviceArray<std::uint32_t> point(none), split_dim(none), less(none), greater(none);
  const DeviceArray<T> placed(std::vector<T>(rows * dims, T(7)));
  cudaStream_t stream = nullptr;
  require_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  apps::DeviceTreeOptions options{made.options};
  options.stream = stream;
  const apps::TreeOnDevice found = apps::export_tree_on_device(
      there.view(), {point.data(), split_dim.data(), less.data(), greater.data(), placed.data()}, options);
  require_success(cudaStreamDestroy(stream));
  const auto first = [&](auto values, std::uint64_t count) {
    values.resize(count);
    return values;
  };
  apps::NodeTable table;
  table.facts = expected.facts;
  table.root = found.root;
  table.point = first(point.values(), found.nodes);
  table.split_dim = first(split_dim.values(), found.nodes);
  table.less = first(less.values(), found.nodes);
  table.greater = first(greater.values(), found.nodes);
  expect_same_table(expected, table);
  const std::vector<T> placed_there = first(placed.values(), found.nodes * dims);
  ASSERT_TRUE(std::equal(placed_there.begin(), placed_there.end(), expected_order.points.template values<T>().begin(),
                         [](T a, T b) { return a == b && std::signbit(a) == std::signbit(b); }));

  apps::TreeExportOptions from_host = made.options;
  from_host.device = Device::cuda();
  expect_same_table(expected, apps::export_node_table(points, from_host));
  const apps::InOrderTree order = apps::export_in_order(points, from_host);
  ASSERT_EQ(order.index, expected_order.index);
  ASSERT_EQ(order.split_dim, expected_order.split_dim);

  const apps::VerifyTreeOptions by_gpu{.device = Device::cuda()};
  ASSERT_EQ(apps::verify_tree(table, points, by_gpu).first_violation, "");
  ASSERT_EQ(apps::verify_tree(order, points, by_gpu).first_violation, "");
}

TEST(SmallTreeExportOnDevice, IsThatOfTheCpu) {
  for (std::uint64_t seed = 0; seed < rounds(48); ++seed) {
    constexpr std::uint64_t kRows[] = {1, 2, 33, 700, 2049, 8192, 8193, 20'001};
    const std::uint64_t rows = kRows[seed % 8];
    const auto dims = static_cast<std::uint32_t>(1 + seed % 7 + (seed % 20 == 19 ? 40 : 0));
    SCOPED_TRACE(testing::Message() << "order_case(" << seed << ", " << rows << ", " << dims << ")");
    OrderCase f32 = order_case<float>(seed, rows, dims), f64 = order_case<double>(seed, rows, dims);
    f32.options.unique = f64.options.unique = seed % 5 == 0;
    expect_tree_of_cpu<float>(f32, seed % 3);
    expect_tree_of_cpu<double>(f64, seed % 3);
  }
}

TEST(SmallTreeExportOnDevice, LeavesOutWhatIsNotFinite) {
  OrderCase made = order_case<float>(0, 3000, 3);
  for (std::uint64_t i = 5; i < 9000; i += 701) {
    made.points.values<float>()[i] =
        i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  apps::TreeExportOptions by_gpu = made.options;
  by_gpu.device = Device::cuda();
  const auto message = [&](const apps::TreeExportOptions& options) {
    return thrown_message<BadData>([&] { apps::export_node_table(made.points.view(), options); });
  };
  EXPECT_EQ(message(by_gpu), message(made.options));
  made.options.skip_nonfinite = true;
  for (const bool unique : {false, true}) {
    made.options.unique = unique;
    expect_tree_of_cpu<float>(made, 1);
  }
}

TEST(TreeExportOnDevice, OfManyPoints) {
  std::uint64_t seed = 0;
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal, NastyShape::wide_spread,
                                 NastyShape::clusters, NastyShape::huge_values}) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
    std::mt19937_64 random(++seed);
    OrderCase made;
    made.options.split = seed % 3 == 0 ? SplitRule::cycle : SplitRule::widest;
    made.points = nasty_points(shape, DType::f32, 300'000, seed % 2 == 0 ? 3 : 8, random);
    expect_tree_of_cpu<float>(made, 0);
    made.points = nasty_points(shape, DType::f64, 100'000, 4, random);
    expect_tree_of_cpu<double>(made, 0);
  }
}

TEST(TreeExportOnDevice, OfSoManyDimsThatTheHostDoesIt) {
  std::mt19937_64 random(4);
  OrderCase made;
  made.points = nasty_points(NastyShape::uniform, DType::f64, 40, 9000, random);
  expect_tree_of_cpu<double>(made, 0);
}

TEST(TreeExportOnDevice, WhatIsWrongIsFoundAndNamed) {
  const OrderCase made = order_case<float>(0, 5000, 3);
  const apps::VerifyTreeOptions by_gpu{.device = Device::cuda()};
  std::mt19937_64 random(6);
  for (int round = 0; round < 40; ++round) {
    apps::NodeTable table = apps::export_node_table(made.points.view(), made.options);
    std::vector<std::uint32_t>* const arrays[] = {&table.point, &table.split_dim, &table.less, &table.greater};
    std::vector<std::uint32_t>& array = *arrays[round % 4];
    std::swap(array[random() % array.size()], array[random() % array.size()]);
    if (round % 8 == 7) array[random() % array.size()] = apps::kNoNode;
    EXPECT_EQ(apps::verify_tree(table, made.points.view(), by_gpu).first_violation,
              apps::verify_tree(table, made.points.view()).first_violation);
  }
}

}  // namespace
}  // namespace kith::test
