// Balanced trees by the kernels of a GPU, run on the host: what apps::export_node_table makes on the CPU.
#include "cuda/emulation/emulated_device.hpp"
#include "cuda/ordered_tree/check_steps.cuh"
#include "cuda/ordered_tree/order_case.hpp"
#include "cuda/ordered_tree/order_steps.cuh"
#include "cuda/ordered_tree/usable_rows.cuh"

#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
apps::NodeTable emulated_table(const OrderCase& made, std::uint32_t gap, std::uint32_t most_points,
                               const std::vector<std::uint32_t>* numbers, std::vector<T>* in_order) {
  const std::uint32_t dims = made.points.dims(), stride = dims + gap;
  std::vector<T> rows(made.points.rows() * stride, T(7));
  for (std::uint64_t i = 0; i < made.points.rows(); ++i) {
    std::copy_n(made.points.view().row<T>(i), dims, rows.data() + i * stride);
  }
  const cuda::OrderTask<T> task{
      .rows = rows.data(),
      .row_stride = stride,
      .numbers = numbers == nullptr ? nullptr : numbers->data(),
      .count = static_cast<std::uint32_t>(numbers == nullptr ? made.points.rows() : numbers->size()),
      .dims = dims,
      .cycles = made.options.split == SplitRule::cycle,
      .takes_left = made.options.middle == apps::Middle::left};
  const cuda::OrderPlan plan = cuda::plan_order<T>(task.count, dims, cuda::emulation::shared_limit(), 1, most_points);
  const std::uint64_t bytes = cuda::lay_out_order_scratch<T>(task.count, dims, plan, nullptr).bytes;
  const auto memory = std::make_unique<std::byte[]>(bytes + 256);
  std::memset(memory.get(), 0xa5, bytes + 256);
  std::byte* aligned = memory.get() + (256 - reinterpret_cast<std::uintptr_t>(memory.get()) % 256) % 256;
  apps::NodeTable table;
  for (auto* values : {&table.point, &table.split_dim, &table.less, &table.greater}) values->assign(task.count, 12345);
  if (in_order != nullptr) in_order->resize(std::uint64_t{task.count} * dims);
  const cuda::OrderedNodes<T> nodes{table.point.data(), table.split_dim.data(), table.less.data(), table.greater.data(),
                                    in_order == nullptr ? nullptr : in_order->data()};
  cuda::EmulatedDevice device;
  cuda::OrderSteps<T, cuda::EmulatedDevice>(device, task, plan,
                                            cuda::lay_out_order_scratch<T>(task.count, dims, plan, aligned), nodes)
      .run();
  return table;
}

void expect_same_table(const apps::NodeTable& expected, const apps::NodeTable& found) {
  ASSERT_EQ(expected.split_dim, found.split_dim);
  ASSERT_EQ(expected.point, found.point);
  ASSERT_EQ(expected.less, found.less);
  ASSERT_EQ(expected.greater, found.greater);
}

template <typename T>
class EmulatedOrder : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedOrder, Types);

TYPED_TEST(EmulatedOrder, IsThatOfTheCpu) {
  using T = TypeParam;
  constexpr std::uint64_t kRows[] = {1, 2, 3, 31, 64, 65, 700, 1025, 2047};
  for (std::uint64_t seed = 0; seed < 72; ++seed) {
    const std::uint64_t rows = kRows[seed % 9];
    const auto dims = static_cast<std::uint32_t>(1 + seed % 7 + (seed % 20 == 19 ? 40 : 0));
    SCOPED_TRACE(testing::Message() << "order_case(" << seed << ", " << rows << ", " << dims << ")");
    const OrderCase made = order_case<T>(seed, rows, dims);
    const apps::NodeTable expected = apps::export_node_table(made.points.view(), made.options);
    std::vector<T> in_order;
    const std::uint32_t most = seed % 3 == 0 ? 2048 : 32;
    expect_same_table(expected, emulated_table<T>(made, seed % 3, most, nullptr, &in_order));
    const PointSet placed = apps::export_in_order(made.points.view(), made.options).points;
    EXPECT_EQ(std::memcmp(placed.view().data(), in_order.data(), in_order.size() * sizeof(T)), 0);
  }
}

TYPED_TEST(EmulatedOrder, OfRangesWithSeveralBlocks) {
  using T = TypeParam;
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal, NastyShape::wide_spread,
                                 NastyShape::signed_zeros}) {
    std::mt19937_64 random(3);
    OrderCase made;
    made.points = nasty_points(shape, dtype_of<T>, shape == NastyShape::uniform ? 40'001 : 9001, 3, random);
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
    const apps::NodeTable expected = apps::export_node_table(made.points.view(), made.options);
    for (const std::uint32_t most : {512u, cuda::kMostInBlock}) {
      expect_same_table(expected, emulated_table<T>(made, 0, most, nullptr, nullptr));
    }
  }
}

TYPED_TEST(EmulatedOrder, OfOneBlockThatIsFull) {
  using T = TypeParam;
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::clusters, NastyShape::grid}) {
    std::mt19937_64 random(8);
    OrderCase made;
    made.points = nasty_points(shape, dtype_of<T>, cuda::kMostInBlock, 2, random);
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
    expect_same_table(apps::export_node_table(made.points.view(), made.options),
                      emulated_table<T>(made, 0, cuda::kMostInBlock, nullptr, nullptr));
  }
}

/// Bins with hundreds of points: few values per axis, so wide that the width of a box overflows, and duplicates whose
/// numbers decide.
TYPED_TEST(EmulatedOrder, OfCrowdedBins) {
  using T = TypeParam;
  constexpr T kMost = std::numeric_limits<T>::max(), kLeast = std::numeric_limits<T>::denorm_min();
  constexpr T kAxes[][4] = {{-kMost, -0.0, 0, kMost}, {-kLeast, kLeast, T(1), T(2)}, {T(3), T(3), T(3), T(3)}};
  for (const SplitRule rule : {SplitRule::widest, SplitRule::cycle}) {
    for (std::uint32_t axes = 1; axes < 8; ++axes) {
      std::mt19937_64 random(axes);
      OrderCase made = order_case<T>(0, 3000, 4);
      made.options = {};
      made.options.split = rule;
      std::span<T> values = made.points.template values<T>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint64_t word = random();
        if (i % 4 == 3) {
          values[i] = T(word % 2);
        } else if ((axes >> i % 4 & 1) != 0) {
          values[i] = kAxes[i % 4][word % 4];
        } else {
          values[i] = static_cast<T>(word % 1000);
        }
      }
      SCOPED_TRACE(testing::Message() << "axes " << axes << ", rule " << static_cast<int>(rule));
      const apps::NodeTable expected = apps::export_node_table(made.points.view(), made.options);
      for (const std::uint32_t most : {256u, 4096u}) {
        expect_same_table(expected, emulated_table<T>(made, 0, most, nullptr, nullptr));
      }
    }
  }
}

TEST(OrderPlan, DividesFewPointsAmongProcessors) {
  constexpr std::uint32_t kLimit = 227 * 1024, kProcessors = 132;
  const auto most = [](std::uint32_t count) { return cuda::plan_order<float>(count, 3, kLimit, kProcessors).most; };
  EXPECT_EQ(most(1000), 1024u);
  EXPECT_EQ(most(100'000), 2048u);
  EXPECT_EQ(most(1'000'000), 8192u);
  EXPECT_EQ(most(1u << 24), 8192u);
}

TYPED_TEST(EmulatedOrder, OfSomeRows) {
  using T = TypeParam;
  OrderCase made = order_case<T>(9, 900, 3);
  made.options.unique = true;
  const apps::NodeTable expected = apps::export_node_table(made.points.view(), made.options);
  std::vector<std::uint32_t> kept = expected.point;
  std::ranges::sort(kept);
  expect_same_table(expected, emulated_table<T>(made, 0, 64, &kept, nullptr));
}

TYPED_TEST(EmulatedOrder, UsableRowsAreListedIfSomeAreNot) {
  using T = TypeParam;
  constexpr std::uint32_t kRows = 3000, kDims = 3, kStride = 4;
  std::vector<T> rows(kRows * kStride, std::numeric_limits<T>::quiet_NaN());  // between the rows, too
  for (std::uint32_t i = 0; i < kRows; ++i) std::fill_n(rows.data() + i * kStride, kDims, T(i));
  std::vector<std::uint32_t> flags(kRows + 1), sums(cuda::sum_tiles_of(kRows) + 1), numbers(kRows), expected;
  cuda::EmulatedDevice device;
  const auto list = [&] {
    return cuda::list_usable_rows(device, rows.data(), kStride, kDims, kRows, flags.data(), sums.data(),
                                  numbers.data());
  };
  EXPECT_EQ(list(), kRows);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    if (i % 700 == 5) {
      rows[i * kStride + i % kDims] = std::numeric_limits<T>::infinity();
    } else {
      expected.push_back(i);
    }
  }
  ASSERT_EQ(list(), expected.size());
  numbers.resize(expected.size());
  EXPECT_EQ(numbers, expected);
}

/// What the kernels say of a table, or of the tree in order if `in_order` is not null.
template <typename T>
bool emulated_verdict(const apps::NodeTable& table, const OrderCase& made, const std::vector<std::uint32_t>* numbers,
                      const std::vector<T>* in_order) {
  const std::vector<T> rows(made.points.view().template row<T>(0),
                            made.points.view().template row<T>(0) + made.points.rows() * made.points.dims());
  cuda::OrderCheck<T> check;
  check.task = {.rows = rows.data(),
                .row_stride = made.points.dims(),
                .numbers = numbers == nullptr ? nullptr : numbers->data(),
                .count = static_cast<std::uint32_t>(table.point.size()),
                .dims = made.points.dims(),
                .cycles = made.options.split == SplitRule::cycle,
                .takes_left = made.options.middle == apps::Middle::left};
  check.rows = made.points.rows();
  check.claimed = {.point = table.point.data(), .split_dim = table.split_dim.data(), .root = table.root};
  if (in_order != nullptr) {
    check.claimed.rows = in_order->data();
  } else {
    check.claimed.less = table.less.data();
    check.claimed.greater = table.greater.data();
  }
  const std::uint64_t bytes = cuda::lay_out_check(check, static_cast<std::byte*>(nullptr));
  const auto memory = std::make_unique<std::byte[]>(bytes + 256);
  std::memset(memory.get(), 0xa5, bytes + 256);
  cuda::lay_out_check(check, memory.get() + (256 - reinterpret_cast<std::uintptr_t>(memory.get()) % 256) % 256);
  cuda::EmulatedDevice device;
  return cuda::is_right_order(device, check);
}

TYPED_TEST(EmulatedOrder, IsCheckedAsOnTheCpu) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    const std::uint64_t rows = 1 + seed * 13 % 90;
    OrderCase made = order_case<T>(seed, rows, static_cast<std::uint32_t>(1 + seed % 5));
    made.options.unique = seed % 7 == 0;
    SCOPED_TRACE(testing::Message() << "order_case(" << seed << ", " << rows << ")");
    apps::NodeTable table = apps::export_node_table(made.points.view(), made.options);
    std::vector<std::uint32_t> kept = table.point;
    std::ranges::sort(kept);
    const std::vector<std::uint32_t>* const numbers = made.options.unique ? &kept : nullptr;
    ASSERT_TRUE(emulated_verdict<T>(table, made, numbers, nullptr));
    apps::InOrderTree tree = apps::export_in_order(made.points.view(), made.options);
    std::vector<T> placed(tree.points.template values<T>().begin(), tree.points.template values<T>().end());
    ASSERT_TRUE(emulated_verdict<T>(table, made, numbers, &placed));
    // One word of one array is changed, or two are exchanged; that may be right by chance.
    std::vector<std::uint32_t>* const arrays[] = {&table.point, &table.split_dim, &table.less, &table.greater};
    std::vector<std::uint32_t>& array = *arrays[seed % 4];
    const std::size_t a = random() % array.size();
    if (seed % 3 == 0) {
      std::swap(array[a], array[random() % array.size()]);
    } else {
      array[a] = seed % 3 == 1 ? static_cast<std::uint32_t>(random() % (rows + 2)) : apps::kNoNode;
    }
    const bool is_right = apps::verify_tree(table, made.points.view()).first_violation.empty();
    wrong += is_right ? 0 : 1;
    EXPECT_EQ(emulated_verdict<T>(table, made, numbers, nullptr), is_right);
    tree.index = table.point;
    tree.split_dim = table.split_dim;
    if (seed % 5 == 0) {
      const std::size_t at = random() % placed.size();
      placed[at] = -placed[at];
      tree.points.template values<T>()[at] = placed[at];
    }
    EXPECT_EQ(emulated_verdict<T>(table, made, numbers, &placed),
              apps::verify_tree(tree, made.points.view()).first_violation.empty());
  }
  EXPECT_GT(wrong, 150u);
}

}  // namespace
}  // namespace kith::test
