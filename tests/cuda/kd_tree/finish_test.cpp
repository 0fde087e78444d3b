// The kernel that finishes subtrees, on emulated threads, writes the bytes that the CPU builder writes.
#include "cuda/kd_tree/build/finish/finish.cuh"

#include "cpu/kd_tree/build.hpp"
#include "cuda/emulation/grid.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace kith::cuda {
namespace {

using test::NastyShape;

struct FinishCase {
  std::uint32_t dims = 3;
  std::uint32_t leaf_size = 16;
  std::uint32_t capacity = 256;
  bool is_staged = true;
  bool cycles = false;
  bool is_tied = false;  ///< as groups of levels say of points that share coordinates; then threads have many rows
};

/// Room that the kernel writes, full of garbage.
template <typename V>
std::vector<V> garbage(std::size_t count) {
  std::vector<V> values(count);
  if (count > 0) std::memset(static_cast<void*>(values.data()), 0xa5, count * sizeof(V));
  return values;
}

template <typename V, typename W>
void expect_same_bytes(const char* what, const V& expected, const W& found) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(0, std::memcmp(&expected[i], &found[i], sizeof(expected[i]))) << what << " " << i;
  }
}

/// The box of a node as the split sees it: the last tight one above it, cut at the splits between.
template <typename T>
std::vector<T> cut_box(const cpu::KdTree<T>& tree, std::uint32_t level, std::uint64_t j) {
  const std::uint32_t above = level % core::kTightBoxEvery, dims = tree.dims;
  const T* tight = tree.lower(core::KdGeometry::node(level - above, j >> above));
  std::vector<T> box(tight, tight + 2 * dims);
  for (std::uint32_t up = above; up > 0; --up) {
    const std::uint64_t node = core::KdGeometry::node(level - up, j >> up);
    const bool is_right = ((j >> (up - 1)) & 1) != 0;
    box[(is_right ? 0 : dims) + tree.split_dims[node]] = tree.split_values[node];
  }
  return box;
}

template <typename T, bool kStaged>
void finish(const FinishParameters<T>& given, std::uint32_t rows) {
  switch (rows) {
    case kFewRows:
      return finish_subtrees<T, kStaged, kFewRows>(given);
    case 10:
      return finish_subtrees<T, kStaged, 10, 0>(given);
    case 12:
      return finish_subtrees<T, kStaged, 12, 0>(given);
    case 14:
      return finish_subtrees<T, kStaged, 14, 0>(given);
    default:
      return finish_subtrees<T, kStaged, kManyRows, 0>(given);
  }
}

/// What all blocks do, with `rows` points per thread at most.
template <typename T>
void finish_all(const FinishParameters<T>& given, std::uint32_t rows) {
  const std::uint32_t threads = given.capacity / rows;
  emulation::run_grid(1u << given.top_level, threads,
                      FinishLayout<T>(given.capacity, threads, given.shape.dims, given.is_staged).bytes,
                      emulation::Residence::one_by_one, [&] {
                        if (given.is_staged) {
                          finish<T, true>(given, rows);
                        } else {
                          finish<T, false>(given, rows);
                        }
                      });
}

/// Finishes the subtrees that hold at most `capacity` points, which earlier steps would leave in any order inside a
/// subtree, and compares everything with the tree of the CPU.
template <typename T>
void expect_same_tree(const std::vector<T>& rows, const FinishCase& c, std::mt19937_64& random) {
  const std::uint64_t n = rows.size() / c.dims;
  const cpu::KdTree<T> tree =
      cpu::build_kd_tree(rows.data(), n, c.dims, {.leaf_size = c.leaf_size, .cycles = c.cycles, .threads = 1});
  const core::KdGeometry& geometry = tree.geometry;
  std::uint32_t top = 0;
  while (core::KdGeometry{n, top}.most_per_leaf() > c.capacity) ++top;
  ASSERT_LE(top, geometry.levels);

  std::vector<std::uint32_t> order;
  for (std::uint64_t leaf = 0; leaf < geometry.leaves(); ++leaf) {
    order.insert(order.end(), tree.block_indices(leaf), tree.block_indices(leaf) + tree.leaf_count(leaf));
  }
  std::vector<T> cut_boxes;
  for (std::uint64_t j = 0; j < std::uint64_t{1} << top; ++j) {
    std::shuffle(order.begin() + static_cast<std::ptrdiff_t>(geometry.first(top, j)),
                 order.begin() + static_cast<std::ptrdiff_t>(geometry.first(top, j + 1)), random);
    const std::vector<T> box = cut_box(tree, top, j);
    cut_boxes.insert(cut_boxes.end(), box.begin(), box.end());
  }
  std::vector<T> columns(rows.size());
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint32_t d = 0; d < c.dims; ++d) columns[d * n + i] = rows[std::uint64_t{order[i]} * c.dims + d];
  }

  auto blocks = garbage<T>(tree.blocks.size() / sizeof(T));
  auto split_dims = garbage<std::uint16_t>(tree.split_dims.size());
  auto split_values = garbage<T>(tree.split_values.size());
  auto boxes = garbage<T>(tree.boxes.size());
  auto smallest = garbage<std::uint32_t>(tree.smallest.size());
  const std::size_t splits_above = (std::size_t{1} << top) - 1;
  std::copy_n(tree.split_dims.begin(), splits_above, split_dims.begin());
  std::copy_n(tree.split_values.begin(), splits_above, split_values.begin());
  std::vector<std::uint32_t> arrivals(std::size_t{1} << top);
  std::uint32_t refused = 0;

  FinishParameters<T> given;
  given.shape = {geometry, c.dims, tree.point_bytes, c.cycles};
  given.top_level = top;
  given.is_staged = c.is_staged;
  given.source = {columns.data(), 1, n, order.data()};
  if (top == 0 && random() % 2 == 0) given.source = {rows.data(), c.dims, 1, nullptr};
  given.cut_boxes = cut_boxes.data();
  given.tree = {reinterpret_cast<std::byte*>(blocks.data()), split_dims.data(), split_values.data(), boxes.data(),
                smallest.data()};
  given.arrivals = arrivals.data();
  given.refused = &refused;
  given.looks_for_bad = random() % 2 == 0 && top == 0;
  const bool has_many = c.capacity >= kManyRows * kWarp && (c.is_tied || random() % 2 == 0);
  const std::uint32_t threads = c.capacity / (has_many ? kManyRows : kFewRows);
  std::uint32_t used = kFewRows;
  while (std::uint64_t{used} * threads < core::KdGeometry{n, top}.most_per_leaf()) used += 2;
  given.capacity = used * threads;
  if (used > kFewRows) {  // after groups of levels, which also look for bad points
    given.source = {columns.data(), 1, n, order.data()};
    given.looks_for_bad = false;
  }
  const std::vector<std::uint32_t> tied((std::size_t{1} << top) / 2 + 1, c.is_tied ? 1 : 0);
  given.tied = tied.data();
  given.tied_levels = 1;
  finish_all(given, used);

  EXPECT_EQ(refused, 0u);
  expect_same_bytes("split dims", tree.split_dims, split_dims);
  expect_same_bytes("split values", tree.split_values, split_values);
  const std::vector<T> expected(reinterpret_cast<const T*>(tree.blocks.data()),
                                reinterpret_cast<const T*>(tree.blocks.data()) + blocks.size());
  expect_same_bytes("blocks", expected, blocks);
  expect_same_bytes("boxes", tree.boxes, boxes);
  expect_same_bytes("smallest", tree.smallest, smallest);
}

template <typename T>
std::vector<T> nasty_rows(NastyShape shape, std::uint64_t n, std::uint32_t dims, std::mt19937_64& random) {
  const PointSet points = test::nasty_points(shape, sizeof(T) == 4 ? DType::f32 : DType::f64, n, dims, random);
  const auto values = points.values<T>();
  return {values.begin(), values.end()};
}

/// A regular grid in random order.
template <typename T>
std::vector<T> lattice_rows(std::uint64_t n, std::uint32_t dims, std::mt19937_64& random) {
  const auto side = static_cast<std::uint64_t>(std::ceil(std::pow(static_cast<double>(n), 1.0 / dims)));
  std::vector<std::uint64_t> cells(n);
  std::iota(cells.begin(), cells.end(), std::uint64_t{0});
  std::shuffle(cells.begin(), cells.end(), random);
  std::vector<T> rows;
  for (std::uint64_t cell : cells) {
    for (std::uint32_t d = 0; d < dims; ++d, cell /= std::max<std::uint64_t>(side, 1)) {
      rows.push_back(static_cast<T>(cell % std::max<std::uint64_t>(side, 1)));
    }
  }
  return rows;
}

constexpr auto kShapes = static_cast<std::uint32_t>(NastyShape::count_of_shapes);

/// Shape `kShapes` is the lattice.
template <typename T>
std::vector<T> rows_of(std::uint32_t shape, std::uint64_t n, std::uint32_t dims, std::mt19937_64& random) {
  return shape == kShapes ? lattice_rows<T>(n, dims, random)
                          : nasty_rows<T>(static_cast<NastyShape>(shape), n, dims, random);
}

template <typename T>
class FinishTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FinishTest, Types);

constexpr std::uint32_t kDims[] = {1, 2, 3, 4, 8, 9, 33};
constexpr std::uint32_t kLeafSizes[] = {1, 2, 3, 7, 8, 16, 24, 64, 128, 1024};

TYPED_TEST(FinishTest, SmallTreesOfEveryShape) {
  std::uint64_t seed = 0;
  for (std::uint32_t shape = 0; shape <= kShapes; ++shape) {
    for (const std::uint32_t dims : kDims) {
      for (std::uint32_t repeat = 0; repeat < 6; ++repeat) {
        std::mt19937_64 random(++seed);
        FinishCase c{.dims = dims, .leaf_size = kLeafSizes[random() % std::size(kLeafSizes)], .cycles = repeat == 5};
        c.capacity = 256u << random() % 2;
        while (c.capacity < c.leaf_size) c.capacity *= 2;
        c.is_staged = dims * sizeof(TypeParam) <= 64 && random() % 4 != 0;
        std::uint64_t n = std::uint64_t{1} << random() % 11;
        n += random() % 3;
        n -= 1;
        if (random() % 2 == 0) n += random() % 500;
        SCOPED_TRACE(testing::Message() << "seed " << seed << " shape " << shape << " n " << n << " dims " << dims
                                        << " leaf " << c.leaf_size << " capacity " << c.capacity << " staged "
                                        << c.is_staged << " cycles " << c.cycles);
        expect_same_tree(rows_of<TypeParam>(shape, n, dims, random), c, random);
        if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(FinishTest, FewPointsInEveryLeafSize) {
  std::mt19937_64 random(1);
  for (std::uint64_t n = 0; n < 12; ++n) {
    for (const std::uint32_t leaf_size : kLeafSizes) {
      for (const std::uint32_t shape : {0u, 2u, 4u, 11u}) {
        SCOPED_TRACE(testing::Message() << "n " << n << " leaf " << leaf_size << " shape " << shape);
        const FinishCase c{.dims = 2, .leaf_size = leaf_size, .capacity = leaf_size > 256 ? 1024u : 256u};
        expect_same_tree(rows_of<TypeParam>(shape, n, c.dims, random), c, random);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(FinishTest, FullBlocks) {
  std::uint64_t seed = 0;
  for (const std::uint32_t capacity : {1024u, 2048u, 4096u}) {
    for (const std::uint32_t shape : {0u, 1u, 2u, 4u, 9u, kShapes}) {
      std::mt19937_64 random(++seed);
      const std::uint64_t n = shape == 0 ? 2 * capacity : capacity - random() % (capacity / 2);
      SCOPED_TRACE(testing::Message() << "seed " << seed << " shape " << shape << " n " << n << " capacity "
                                      << capacity);
      const FinishCase c{.dims = 2 + shape % 2, .leaf_size = shape == 1 ? 8u : 16u, .capacity = capacity};
      expect_same_tree(rows_of<TypeParam>(shape, n, c.dims, random), c, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Each dimension has its own number of distinct values, from one to as many as there are points; zeros of both signs.
template <typename T>
std::vector<T> rows_with_ties(std::uint64_t n, std::uint32_t dims, std::mt19937_64& random) {
  constexpr std::uint64_t kDistinct[] = {1, 2, 3, 8, 32, 1000, 1u << 24};
  std::vector<T> rows(n * dims);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const std::uint64_t distinct = kDistinct[random() % std::size(kDistinct)];
    const auto offset = static_cast<T>(random() % 2 == 0 ? 0 : distinct / 2);
    for (std::uint64_t i = 0; i < n; ++i) {
      const T value = static_cast<T>(random() % distinct) - offset;
      rows[i * dims + d] = value == T(0) && random() % 2 == 0 ? -value : value;
    }
  }
  return rows;
}

TYPED_TEST(FinishTest, TiesInSomeDimensions) {
  for (std::uint64_t seed = 1; seed <= 84; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint32_t dims = 2 + seed % 7;
    FinishCase c{.dims = dims, .leaf_size = kLeafSizes[random() % std::size(kLeafSizes)], .cycles = random() % 5 == 0};
    c.capacity = 256u << random() % 4;
    while (c.capacity < c.leaf_size) c.capacity *= 2;
    c.is_staged = dims * sizeof(TypeParam) <= 64 && random() % 8 != 0;
    std::uint64_t n = c.capacity + random() % 3 - 1;
    if (random() % 2 == 0) n -= random() % (c.capacity / 2);
    SCOPED_TRACE(testing::Message() << "seed " << seed << " n " << n << " dims " << dims << " leaf " << c.leaf_size
                                    << " capacity " << c.capacity << " staged " << c.is_staged << " cycles "
                                    << c.cycles);
    expect_same_tree(rows_with_ties<TypeParam>(n, dims, random), c, random);
    if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
  }
}

TYPED_TEST(FinishTest, FullBlocksOfTies) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::mt19937_64 random(seed);
    std::uint64_t n = 4097 - random() % 3;
    if (random() % 2 == 0) n -= random() % 1000;
    const FinishCase c{.dims = 2 + static_cast<std::uint32_t>(seed % 3), .capacity = 4096};
    SCOPED_TRACE(testing::Message() << "seed " << seed << " n " << n << " dims " << c.dims);
    expect_same_tree(rows_with_ties<TypeParam>(n, c.dims, random), c, random);
    if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
  }
}

/// Then codes stand for coordinates, unless values are many, irregular, or zeros of both signs.
TYPED_TEST(FinishTest, BlocksOfFewValues) {
  struct Case {
    const char* name;
    std::uint64_t values;
    double step, power, zeros;
  };
  for (const Case& each : {Case{"two values", 2, 1, 1, 0},
                           {"three values", 3, -0.1, 1, 0},
                           {"a grid", 7, 1e-3, 1, 0},
                           {"as many as there are parts", 32, 1, 1, 0},
                           {"too many", 33, 1, 1, 0},
                           {"both zeros", 3, 1, 1, 0.5},
                           {"negative zeros", 3, 1, 1, 2},
                           {"mostly one", 9, 2, 8, 0},
                           {"huge", 3, std::numeric_limits<TypeParam>::max() / 4, 1, 0},
                           {"denormal", 5, std::numeric_limits<TypeParam>::denorm_min(), 1, 0}}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      std::mt19937_64 random(seed);
      const auto unit = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
      const auto dims = static_cast<std::uint32_t>(1 + seed % 5);
      const FinishCase c{.dims = dims,
                         .leaf_size = seed == 4 ? 3u : 16u,
                         .capacity = seed == 1 ? 4096u : 512u,
                         .cycles = seed == 2,
                         .is_tied = true};
      const std::uint64_t n = c.capacity * (seed == 3 ? 16 : 2) - random() % (c.capacity / 2);
      std::vector<TypeParam> rows(n * dims);
      for (TypeParam& x : rows) {
        const double value = std::floor(std::pow(unit(), each.power) * static_cast<double>(each.values)) - 1;
        x = static_cast<TypeParam>(value * each.step);
        if (x == TypeParam(0)) x = unit() < each.zeros ? TypeParam(-0.0) : TypeParam(0);
      }
      SCOPED_TRACE(testing::Message() << each.name << ", seed " << seed << ", " << dims << " dims, n " << n);
      expect_same_tree(rows, c, random);
      if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
    }
  }
}

TYPED_TEST(FinishTest, StopsAtBadPoints) {
  for (const bool is_staged : {true, false}) {
    for (const bool was_refused : {true, false}) {
      std::vector<TypeParam> rows(300, TypeParam(1));
      rows[171] = was_refused ? TypeParam(2) : -std::numeric_limits<TypeParam>::infinity();
      auto blocks = garbage<std::uint64_t>(1000);
      const auto untouched = blocks;
      std::vector<std::uint32_t> arrivals(1);
      std::uint32_t refused = was_refused ? 1 : 0;
      FinishParameters<TypeParam> given;
      given.shape = {core::KdGeometry::of(100, 16), 3, cpu::KdTree<TypeParam>::point_bytes_of(3), false};
      given.capacity = 256;
      given.is_staged = is_staged;
      given.source = {rows.data(), 3, 1, nullptr};
      given.tree.blocks = reinterpret_cast<std::byte*>(blocks.data());
      given.arrivals = arrivals.data();
      given.refused = &refused;
      given.looks_for_bad = !was_refused;
      finish_all(given, kFewRows);
      EXPECT_EQ(refused, 1u);
      EXPECT_EQ(blocks, untouched);
    }
  }
}

TYPED_TEST(FinishTest, PlansFitTheMachineAndTheTree) {
  constexpr std::uint32_t kHalfOfSharedMemory = 113 << 10;
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 8u, 9u, 16u, 17u, 33u, 4096u}) {
    for (const std::uint32_t leaf_size : kLeafSizes) {
      for (const std::uint64_t n :
           {0ull, 1ull, 2ull, 255ull, 257ull, 4096ull, 100'000ull, 1ull << 24, (1ull << 32) - 2}) {
        const FinishPlan plan = plan_finish<TypeParam>(n, dims, leaf_size);
        const core::KdGeometry geometry = core::KdGeometry::of(n, leaf_size);
        EXPECT_LE(plan.top_level, geometry.levels);
        EXPECT_LE((core::KdGeometry{n, plan.top_level}.most_per_leaf()), plan.capacity);
        EXPECT_LE(plan.shared_bytes, kHalfOfSharedMemory);
        EXPECT_EQ(plan.threads * plan.rows, plan.capacity);
        EXPECT_TRUE(plan.rows == kFewRows || (plan.is_staged && plan.rows % 2 == 0 && plan.rows <= kManyRows));
        EXPECT_LE(plan.threads, plan.is_staged && plan.rows == kFewRows ? 512u : 256u);
        if (plan.rows > kFewRows) {
          EXPECT_EQ(plan.threads, kManyRowsThreads);
          EXPECT_GT(plan.top_level, 0u);
          EXPECT_GE(n >> plan.top_level, (plan.rows - 2) * plan.threads);
        }
        EXPECT_GE(plan.threads, 32u);
      }
    }
  }
}

}  // namespace
}  // namespace kith::cuda
