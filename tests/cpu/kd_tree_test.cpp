// The k-d tree is the unique one of the contract, for every shape of data, leaf size and thread count.
#include "cpu/kd_tree/build.hpp"

#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

/// The contract's tree by sorting whole nodes: slow and obvious.
template <typename T>
struct SlowTree {
  PointView points;
  std::uint64_t n;
  bool cycles;
  std::uint32_t levels = 0;
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> split_dims;
  std::vector<T> split_values;

  SlowTree(PointView view, std::uint32_t leaf_size, bool cycle)
      : points(view), n(view.rows()), cycles(cycle), order(view.rows()) {
    while ((n + (std::uint64_t{1} << levels) - 1) / (std::uint64_t{1} << levels) > leaf_size) ++levels;
    std::iota(order.begin(), order.end(), 0u);
    split_dims.resize((std::uint64_t{1} << levels) - 1);
    split_values.resize(split_dims.size());
    if (n > 0) split(0, 0, std::vector<T>(view.dims()), std::vector<T>(view.dims()));
  }

  std::uint64_t first(std::uint32_t level, std::uint64_t j) const { return j * n / (std::uint64_t{1} << level); }

  T x(std::uint32_t i, std::uint32_t d) const { return points.row<T>(i)[d]; }

  bool comes_before(std::uint32_t a, std::uint32_t b, std::uint32_t d) const {
    for (std::uint32_t step = 0; step < points.dims(); ++step) {
      const std::uint32_t axis = (d + step) % points.dims();
      if (x(a, axis) != x(b, axis)) return x(a, axis) < x(b, axis);
    }
    return a < b;
  }

  void split(std::uint32_t level, std::uint64_t j, std::vector<T> lower, std::vector<T> upper) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first(level, j));
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(first(level, j + 1));
    if (level == levels) {
      std::sort(begin, end);
      return;
    }
    if (level % 6 == 0) {
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        lower[d] = std::numeric_limits<T>::infinity();
        upper[d] = -lower[d];
        for (auto i = begin; i != end; ++i) {
          lower[d] = std::min(lower[d], x(*i, d));
          upper[d] = std::max(upper[d], x(*i, d));
        }
      }
    }
    std::uint32_t widest = 0;
    for (std::uint32_t d = 1; d < points.dims(); ++d) {
      if (upper[d] - lower[d] > upper[widest] - lower[widest]) widest = d;
    }
    if (cycles) widest = level % points.dims();
    std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) { return comes_before(a, b, widest); });
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(first(level + 1, 2 * j + 1));
    const T value = middle == end ? upper[widest] : x(*middle, widest);
    const std::uint64_t node = (std::uint64_t{1} << level) - 1 + j;
    split_dims[node] = widest;
    split_values[node] = value;
    std::vector<T> left_upper = upper, right_lower = lower;
    left_upper[widest] = value;
    right_lower[widest] = value;
    split(level + 1, 2 * j, lower, left_upper);
    split(level + 1, 2 * j + 1, right_lower, upper);
  }
};

template <typename T>
void expect_contract_tree(PointView points, const cpu::KdBuildOptions& options) {
  const SlowTree<T> slow(points, options.leaf_size, options.cycles);
  const cpu::KdTree<T> tree = cpu::build_kd_tree(points.row<T>(0), points.rows(), points.dims(), options);
  ASSERT_EQ(tree.geometry.levels, slow.levels);
  for (std::size_t node = 0; node < slow.split_dims.size(); ++node) {
    ASSERT_EQ(tree.split_dims[node], slow.split_dims[node]) << "node " << node;
    ASSERT_EQ(tree.split_values[node], slow.split_values[node]) << "node " << node;
  }
  for (std::uint64_t leaf = 0; leaf < tree.geometry.leaves(); ++leaf) {
    const std::uint64_t begin = slow.first(slow.levels, leaf);
    const std::uint64_t size = slow.first(slow.levels, leaf + 1) - begin;
    ASSERT_EQ(tree.leaf_count(leaf), size);
    ASSERT_LE(size, options.leaf_size);
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_EQ(tree.block_indices(leaf)[i], slow.order[begin + i]) << "leaf " << leaf << ", place " << i;
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        ASSERT_EQ(tree.block(leaf)[d * tree.block_stride(leaf) + i], slow.x(slow.order[begin + i], d));
      }
    }
  }
  // Boxes are tight and smallest indices right, from the leaves up.
  for (std::uint32_t level = 0; level <= slow.levels; ++level) {
    for (std::uint64_t j = 0; j < (std::uint64_t{1} << level); ++j) {
      const std::uint64_t node = core::KdGeometry::node(level, j);
      std::uint32_t smallest = core::kNoPoint;
      for (std::uint64_t i = slow.first(level, j); i < slow.first(level, j + 1); ++i) {
        smallest = std::min(smallest, slow.order[i]);
      }
      ASSERT_EQ(tree.smallest[node], smallest);
      for (std::uint32_t d = 0; d < points.dims() && smallest != core::kNoPoint; ++d) {
        T low = std::numeric_limits<T>::infinity(), high = -low;
        for (std::uint64_t i = slow.first(level, j); i < slow.first(level, j + 1); ++i) {
          low = std::min(low, slow.x(slow.order[i], d));
          high = std::max(high, slow.x(slow.order[i], d));
        }
        ASSERT_EQ(tree.lower(node)[d], low);
        ASSERT_EQ(tree.upper(node)[d], high);
      }
    }
  }
}

constexpr std::array kBuilders = {Builder::histogram, Builder::presort, Builder::select, Builder::segsort};

TEST(KdTree, IsTheContractsTreeOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const auto dims = static_cast<std::uint32_t>(1 + random() % 11);
    const std::uint64_t rows = random() % 8 == 0 ? random() % 4000 : random() % 300;
    const auto leaf_size = static_cast<std::uint32_t>(random() % 4 == 0 ? 1 + random() % 3 : 1 + random() % 40);
    const int threads = static_cast<int>(1 + random() % 3);
    const cpu::KdBuildOptions options{.leaf_size = leaf_size,
                                      .cycles = random() % 4 == 0,
                                      .builder = kBuilders[random() % kBuilders.size()],
                                      .threads = threads};
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << rows << " x " << dims << ", leaves of " << leaf_size
                                    << ", shape " << static_cast<int>(shape) << ", builder "
                                    << name_of(options.builder));
    const PointSet points = nasty_points(shape, dtype, rows, dims, random);
    if (dtype == DType::f32) {
      expect_contract_tree<float>(points.view(), options);
    } else {
      expect_contract_tree<double>(points.view(), options);
    }
    if (HasFatalFailure()) return;
  }
}

/// Large enough for nodes that several threads split together.
template <typename T>
void expect_same_tree_on_threads(PointView points) {
  const auto build = [&](int threads) {
    return cpu::build_kd_tree(points.row<T>(0), points.rows(), points.dims(), {.threads = threads});
  };
  const auto same = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  const cpu::KdTree<T> alone = build(1);
  for (const int threads : {2, 5}) {
    const cpu::KdTree<T> together = build(threads);
    EXPECT_TRUE(same(alone.blocks, together.blocks)) << threads << " threads";
    EXPECT_TRUE(same(alone.split_dims, together.split_dims)) << threads << " threads";
    EXPECT_TRUE(same(alone.split_values, together.split_values)) << threads << " threads";
    EXPECT_TRUE(same(alone.boxes, together.boxes)) << threads << " threads";
    EXPECT_TRUE(same(alone.smallest, together.smallest)) << threads << " threads";
  }
}

TEST(KdTree, IsTheSameForEveryThreadCount) {
  std::mt19937_64 random(5);
  for (const NastyShape shape :
       {NastyShape::uniform, NastyShape::grid, NastyShape::two_values, NastyShape::all_equal, NastyShape::sorted}) {
    SCOPED_TRACE(static_cast<int>(shape));
    expect_same_tree_on_threads<float>(nasty_points(shape, DType::f32, 300000, 3, random).view());
    expect_same_tree_on_threads<double>(nasty_points(shape, DType::f64, 150000, 2, random).view());
  }
}

}  // namespace
}  // namespace kith::test
