// The whole build of the GPU, groups of levels and finish, on emulated threads: the same bytes as the CPU's builder.
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/finish.cuh"
#include "cuda/kd_tree/split_group.cuh"

#include "cpu/kd_tree/build.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using namespace kith::cuda;

/// Memory filled with garbage, aligned to 256 bytes.
class Garbage {
 public:
  explicit Garbage(std::uint64_t bytes) : memory_(bytes + 256, std::byte{0xcd}) {}
  std::byte* data() { return memory_.data() + (256 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 256) % 256; }

 private:
  std::vector<std::byte> memory_;
};

/// What is built, and how.
struct Plan {
  std::uint32_t leaf_size = 16;
  bool cycles = false;
  std::uint32_t top_level = 0;
  std::uint32_t capacity = 256;
  std::uint32_t processors = 2;  ///< of the device that is pretended
  bool is_sampled = false;       ///< however few points there are
  std::uint32_t most_bins = kMostBins;
};

GpuLimits limits_of(const Plan& plan) {
  GpuLimits limits{.processors = plan.processors};
  if (plan.is_sampled) limits.least_sampled = limits.least_in_segment = 1;
  return limits;
}

/// Launches a kernel on emulated threads.
constexpr auto run_kernel = [](const char*, std::uint64_t, auto kernel, std::uint32_t blocks, std::uint32_t threads,
                               std::size_t shared_bytes, bool is_cooperative, const auto&... arguments) {
  emulation::run_grid(blocks, threads, shared_bytes,
                      is_cooperative ? emulation::Residence::all_together : emulation::Residence::one_by_one,
                      [&] { kernel(arguments...); });
};

template <typename T>
void expect_the_tree_of_the_cpu(const std::vector<T>& rows, std::uint32_t dims, const Plan& wanted,
                                const FinishPlan& plan) {
  const std::uint64_t n = rows.size() / dims;
  const auto expected = cpu::build_kd_tree<T>(
      rows.data(), n, dims,
      {.leaf_size = wanted.leaf_size, .cycles = wanted.cycles, .threads = 1, .progress = nullptr});
  const TreeShape shape{core::KdGeometry::of(n, wanted.leaf_size), dims, expected.point_bytes, wanted.cycles};
  Garbage memory(lay_out_scratch<T>(shape, plan.top_level, limits_of(wanted), nullptr).bytes);
  auto scratch = lay_out_scratch<T>(shape, plan.top_level, limits_of(wanted), memory.data());
  for (GroupParameters<T>& group : scratch.groups) group.most_bins = std::min(group.most_bins, wanted.most_bins);
  std::memset(memory.data(), 0, scratch.zero_bytes);
  Garbage first(copy_bytes<T>(shape)), second(copy_bytes<T>(shape));
  std::byte* const copies[2] = {first.data(), second.data()};
  std::vector<std::uint16_t> split_dims(shape.geometry.leaves() - 1, 0xcdcd);
  std::vector<T> split_values(split_dims.size(), T(-7)), boxes(shape.geometry.nodes() * 2 * dims, T(-7));
  std::vector<std::uint32_t> smallest(shape.geometry.nodes(), 0xcdcdcdcd);
  const std::uint32_t blocks_in = run_build<T>(
      scratch, plan, shape, PointSource<T>{rows.data(), dims, 1, nullptr}, copies,
      TreeArrays<T>{nullptr, split_dims.data(), split_values.data(), boxes.data(), smallest.data()},
      [&](const GroupParameters<T>& group) { split_group<T>(group, limits_of(wanted), run_kernel); },
      [&](const FinishParameters<T>& last) {
        const auto kernel = plan.is_staged ? finish_subtrees<T, true, kFewRows> : finish_subtrees<T, false, kFewRows>;
        run_kernel("finish", 0, kernel, 1u << plan.top_level, plan.threads, plan.shared_bytes, false, last);
      });
  ASSERT_EQ(*scratch.refused, 0u);
  for (std::uint64_t node = 0; node < split_dims.size(); ++node) {
    ASSERT_EQ(split_dims[node], expected.split_dims[node]) << "node " << node;
    ASSERT_EQ(std::memcmp(&split_values[node], &expected.split_values[node], sizeof(T)), 0) << "node " << node;
  }
  EXPECT_EQ(std::memcmp(copies[blocks_in], expected.blocks.data(), expected.blocks.size_bytes()), 0);
  EXPECT_EQ(std::memcmp(boxes.data(), expected.boxes.data(), expected.boxes.size_bytes()), 0);
  EXPECT_EQ(std::memcmp(smallest.data(), expected.smallest.data(), expected.smallest.size_bytes()), 0);
}

/// With small subtrees, which make many levels of few points.
template <typename T>
void expect_the_tree_of_the_cpu(const std::vector<T>& rows, std::uint32_t dims, const Plan& wanted) {
  const std::uint32_t finish_threads = wanted.capacity / kFewRows;
  const FinishPlan plan{.threads = finish_threads,
                        .rows = kFewRows,
                        .capacity = wanted.capacity,
                        .top_level = wanted.top_level,
                        .shared_bytes = FinishLayout<T>(wanted.capacity, finish_threads, dims, true).bytes,
                        .is_staged = true};
  ASSERT_LE((core::KdGeometry{rows.size() / dims, wanted.top_level}.most_per_leaf()), wanted.capacity);
  expect_the_tree_of_the_cpu(rows, dims, wanted, plan);
}

/// A build without its finish.
template <typename T>
class Groups {
 public:
  Groups(const std::vector<T>& points, std::uint32_t dims, std::uint32_t top_level, const GpuLimits& limits)
      : scratch(lay_out_scratch<T>(shape_of(points, dims), top_level, limits, nullptr)),
        points_(points),
        limits_(limits),
        top_level_(top_level),
        shape_(shape_of(points, dims)),
        memory_(scratch.bytes),
        copies_{Garbage(copy_bytes<T>(shape_)), Garbage(copy_bytes<T>(shape_))},
        boxes_(shape_.geometry.nodes() * 2 * dims),
        split_values_(shape_.geometry.leaves()),
        split_dims_(shape_.geometry.leaves()) {
    scratch = lay_out_scratch<T>(shape_, top_level, limits, memory_.data());
    std::memset(memory_.data(), 0, scratch.zero_bytes);
  }

  void run() {
    std::byte* const copies[2] = {copies_[0].data(), copies_[1].data()};
    run_build<T>(
        scratch, FinishPlan{.top_level = top_level_}, shape_, PointSource<T>{points_.data(), shape_.dims, 1, nullptr},
        copies, TreeArrays<T>{nullptr, split_dims_.data(), split_values_.data(), boxes_.data(), nullptr},
        [&](const GroupParameters<T>& group) { split_group<T>(group, limits_, run_kernel); },
        [](const FinishParameters<T>&) {});
  }

  BuildScratch<T> scratch;

 private:
  static TreeShape shape_of(const std::vector<T>& points, std::uint32_t dims) {
    return tree_shape<T>(points.size() / dims, dims, 16, false);
  }

  const std::vector<T>& points_;
  GpuLimits limits_;
  std::uint32_t top_level_;
  TreeShape shape_;
  Garbage memory_, copies_[2];
  std::vector<T> boxes_, split_values_;
  std::vector<std::uint16_t> split_dims_;
};

template <typename T>
class SplitGroup : public testing::Test {
 protected:
  template <typename Make>
  std::vector<T> rows(std::uint64_t count, std::uint32_t dims, Make&& make) {
    std::vector<T> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::uint32_t d = 0; d < dims; ++d) values.push_back(static_cast<T>(make(i, d)));
    }
    return values;
  }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  std::mt19937_64 random_{48};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SplitGroup, Types);

TYPED_TEST(SplitGroup, UniformPointsInOneAndTwoGroups) {
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u}) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    const auto points = this->rows(5000, dims, [&](auto, auto) { return this->unit(); });
    expect_the_tree_of_the_cpu(points, dims, {.leaf_size = 20, .cycles = dims == 2, .top_level = 5});
    expect_the_tree_of_the_cpu(points, dims, {.leaf_size = 7, .cycles = dims == 3, .top_level = 7});
  }
}

TYPED_TEST(SplitGroup, AnyNumberOfLevels) {
  for (std::uint32_t levels = 1; levels <= 7; ++levels) {
    SCOPED_TRACE(testing::Message() << levels << " levels");
    const auto points = this->rows(101ull << levels, 3, [&](auto, auto) { return this->unit(); });
    expect_the_tree_of_the_cpu(points, 3, {.leaf_size = 30, .top_level = levels});
  }
}

TYPED_TEST(SplitGroup, TiesOfAllKinds) {
  const Plan plan{.leaf_size = 16, .top_level = 7, .processors = 4};
  const auto expect = [&](const char* name, const std::vector<TypeParam>& points, std::uint32_t dims) {
    SCOPED_TRACE(name);
    Plan one = plan;
    one.cycles = dims == 2;
    expect_the_tree_of_the_cpu(points, dims, one);
  };
  constexpr std::uint64_t kPoints = 12000;
  expect("two values", this->rows(kPoints, 3, [&](auto, auto) { return this->below(2); }), 3);
  expect("five values", this->rows(kPoints, 3, [&](auto, auto) { return this->below(5) - 2.0; }), 3);
  expect("all equal", this->rows(kPoints, 3, [](auto, auto) { return 0.5; }), 3);
  expect("a lattice", this->rows(kPoints, 2, [](auto i, auto d) { return d == 0 ? i % 150 : i / 150; }), 2);
  expect("mostly equal", this->rows(kPoints, 3, [&](auto i, auto) { return i % 100 == 0 ? this->unit() : 0.25; }), 3);
  expect("both zeros",
         this->rows(kPoints, 2,
                    [&](auto, auto) {
                      return this->below(3) > 0 ? this->unit() - 0.5 : this->below(2) > 0 ? 0.0 : -0.0;
                    }),
         2);
}

/// Then cells refine ties, down to the numbers of the points.
TYPED_TEST(SplitGroup, FewValuesInEveryDimension) {
  struct Case {
    std::uint32_t values, dims, levels;
  };
  for (const Case& c : {Case{2, 1, 3},
                        {2, 2, 5},
                        {2, 3, 7},
                        {3, 5, 4},
                        {32, 3, 7},
                        {32, 2, 4},
                        {32, 4, 4},
                        {5, 8, 4},
                        {5, 9, 4},
                        {250, 2, 4},
                        {300, 3, 4}}) {  // too many dims, too many values
    SCOPED_TRACE(testing::Message() << c.values << " values, " << c.dims << " dims");
    const auto points = this->rows(1500, c.dims, [&](auto, auto) { return this->below(c.values) * 0.75 - 1; });
    expect_the_tree_of_the_cpu(points, c.dims, {.cycles = c.levels == 4, .top_level = c.levels});
  }
}

TYPED_TEST(SplitGroup, FewValuesAndOthers) {
  const Plan two_groups{.top_level = 7}, by_turns{.cycles = true, .top_level = 4, .processors = 4};
  const auto expect = [&](const char* name, const Plan& plan, auto&& make) {
    SCOPED_TRACE(name);
    expect_the_tree_of_the_cpu(this->rows(2000, 3, make), 3, plan);
  };
  const auto one = [&](auto, auto d) { return d == 1 ? this->below(4) : this->unit(); };
  expect("in one dimension", two_groups, one);
  expect("in one dimension, by turns", by_turns, one);
  expect("in two dimensions", by_turns, [&](auto, auto d) { return d == 1 ? this->unit() : 5.0 * this->below(9); });
  expect("values that no sample has", two_groups,
         [&](auto i, auto) { return i % 40 == 0 ? 36 * this->unit() - 2 : static_cast<double>(this->below(32)); });
  expect("most are 0", {.top_level = 7, .is_sampled = true},
         [&](auto, auto) { return std::floor(20 * std::pow(this->unit(), 6)); });
  expect("denormal and huge", by_turns, [&](auto, auto) {
    constexpr double kValues[] = {
        std::numeric_limits<TypeParam>::denorm_min(), -0.0, 0.0, 1e-30, -1e30, std::numeric_limits<TypeParam>::max(),
        std::numeric_limits<TypeParam>::lowest()};
    return kValues[this->below(std::size(kValues))];
  });
}

/// However the values lie, and wherever there are others.
TYPED_TEST(SplitGroup, FewValuesAtUnevenDistances) {
  const Plan two_groups{.top_level = 7, .is_sampled = true}, by_turns{.cycles = true, .top_level = 4, .processors = 4};
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    for (const Plan& plan : {two_groups, by_turns}) {
      SCOPED_TRACE(testing::Message() << name << ", " << plan.top_level << " levels");
      expect_the_tree_of_the_cpu(this->rows(2500, dims, make), dims, plan);
    }
  };
  expect("powers of two", 3, [&](auto, auto) { return std::ldexp(1.0, static_cast<int>(this->below(40))); });
  expect("an outlier", 3, [&](auto i, auto) { return i % 9 == 0 ? 1e9 : static_cast<double>(this->below(32)); });
  expect("bytes and others", 3, [&](auto i, auto) { return i % 20 == 0 ? 300 * this->unit() : this->below(240); });
  expect("tenths", 2,
         [&](auto, auto) { return static_cast<TypeParam>(0.1) * static_cast<TypeParam>(this->below(90)); });
  expect("neighbours", 4,
         [&](auto, auto) { return TypeParam(1) + this->below(20) * std::numeric_limits<TypeParam>::epsilon(); });
  expect("many dims", 6, [&](auto, auto d) { return d % 2 == 0 ? this->below(4 + d) : std::pow(this->unit(), 3); });
}

/// So few points that all of them are samples: the tables have all values, or none if there are more than they hold.
TYPED_TEST(SplitGroup, TablesHaveTheValuesOfTheSamples) {
  constexpr double kTiny = std::numeric_limits<TypeParam>::denorm_min();
  const auto expect = [&](const char* name, std::uint64_t values, auto&& value) {
    SCOPED_TRACE(testing::Message() << name << ", " << values << " values");
    // The first ones are equal to others among 32, as often as is needed for a closer look.
    const auto points = this->rows(
        1000, 3, [&](auto i, auto d) { return d == 1 ? i % 7 : value((i < 128 ? i % 16 : i) * 37 % values); });
    Groups<TypeParam> groups(points, 3, 2, {.processors = 5});
    groups.run();
    const GroupParameters<TypeParam>& group = groups.scratch.groups[0];
    ASSERT_EQ(group.tied[0], 1u);
    for (std::uint32_t d = 0; d < 3; ++d) {
      std::vector<TypeParam> sorted;
      for (std::uint64_t i = 0; i < 1000; ++i) {
        if (std::isfinite(points[3 * i + d])) sorted.push_back(points[3 * i + d] + TypeParam(0));
      }
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      if (sorted.size() > kTableValues) sorted.clear();
      const TypeParam* table = group.tables + d * kTableValues;
      ASSERT_EQ(std::vector<TypeParam>(table, table + group.table_counts[d]), sorted) << "dimension " << d;
    }
  };
  for (const std::uint64_t values : {1u, 2u, 255u, 256u, 257u, 300u}) {
    expect("integers", values, [](auto i) { return static_cast<double>(i) - 100; });
    expect("neighbours", values,
           [](auto i) { return 1 + static_cast<double>(i) * std::numeric_limits<TypeParam>::epsilon(); });
    expect("denormal numbers", values, [&](auto i) { return (static_cast<double>(i) - 20) * kTiny; });
    expect("powers", values,
           [](auto i) { return std::ldexp(1.0, static_cast<int>(i % 240) - 120) * (i < 240 ? 1 : -1); });
  }
  expect("zeros of both signs", 2, [](auto i) { return i == 0 ? 0.0 : -0.0; });
  expect("what is not finite", 50, [](auto i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kBad[] = {kInfinity, -kInfinity, kNan, -kNan};
    return i < std::size(kBad) ? kBad[i] : static_cast<double>(i);
  });
}

/// Few enough that they are no more than those of points whose coordinates differ.
TYPED_TEST(SplitGroup, FewValuesMakeFewCandidates) {
  for (const std::uint32_t values : {2u, 32u, 1u << 20}) {
    const auto points = this->rows(30000, 3, [&](auto, auto) { return this->below(values); });
    Groups<TypeParam> groups(points, 3, 3, {.processors = 5});
    groups.run();
    std::uint64_t candidates = 0;
    for (std::uint32_t heap = 1; heap < 8; ++heap) candidates += groups.scratch.groups[0].nodes[heap].candidates;
    EXPECT_LT(candidates, points.size() / 3 / 50) << values << " values";
  }
}

/// Sorted, so that halves of halves are equal points in a box that is none.
TYPED_TEST(SplitGroup, FewValuesThatAreSorted) {
  const auto points = this->rows(12000, 3, [](auto i, auto d) { return (i / 1500 >> d & 1) * 2.0 - 1; });
  expect_the_tree_of_the_cpu(points, 3, {.top_level = 7, .processors = 8});
}

/// Most points are equal, but not so many that their dimensions have few values: the halves of the root have long
/// lists, too.
TYPED_TEST(SplitGroup, LongListsOfCandidatesAreSharedByBlocks) {
  const auto crowd = this->rows(50000, 2, [&](auto i, auto) { return i % 10 < 3 ? this->unit() : 0.25; });
  expect_the_tree_of_the_cpu(crowd, 2, {.leaf_size = 200, .top_level = 8, .processors = 8});
}

/// So few bins that lists are too long for comparing all pairs, but no longer than a block has threads.
TYPED_TEST(SplitGroup, CandidatesForManyThreads) {
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    SCOPED_TRACE(testing::Message() << name << ", " << dims << " dims");
    expect_the_tree_of_the_cpu(
        this->rows(5000, dims, make), dims,
        {.leaf_size = 100, .cycles = dims == 2, .top_level = 2, .capacity = 2048, .processors = 3, .most_bins = 12});
  };
  for (const std::uint32_t dims : {1u, 2u, 3u, 5u, 33u}) {
    expect("all differ", dims, [&](auto, auto) { return this->unit() - 0.5; });
  }
  expect("some ties", 3, [&](auto, auto) { return this->below(1500); });
  expect("many ties", 9, [&](auto, auto) { return this->below(20); });
  expect("many equal ones", 3, [&](auto, auto) { return this->below(2); });
  expect("crowds", 3, [&](auto, auto) { return static_cast<double>(this->below(300)) + 1e-6 * this->unit(); });
  expect("all equal", 3, [](auto, auto) { return 0.5; });
  expect("zeros", 2, [&](auto, auto) {
    return this->below(64) > 0 ? this->unit() - 0.5 : this->below(2) > 0 ? 0.0 : -0.0;
  });
  expect("huge", 2, [&](auto, auto) { return (this->unit() - 0.5) * std::numeric_limits<TypeParam>::max(); });
}

/// The same where cells refine ties: those of a node are ranked by what a thread each has of them, and counted.
TYPED_TEST(SplitGroup, TiedCandidatesForManyThreads) {
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    SCOPED_TRACE(testing::Message() << name << ", " << dims << " dims");
    const auto points = this->rows(4000, dims, make);
    expect_the_tree_of_the_cpu(
        points, dims,
        {.leaf_size = 100, .cycles = dims == 2, .top_level = 2, .capacity = 1024, .processors = 3, .most_bins = 16});
    if (dims == 3) expect_the_tree_of_the_cpu(points, dims, {.top_level = 7});
  };
  for (const std::uint32_t dims : {2u, 3u, 4u, 6u}) {
    expect("a grid", dims, [&](auto, auto) { return this->below(32) * 0.5 - 4; });
  }
  expect("a lattice", 4, [](auto i, auto d) { return (d == 0 ? i : d == 1 ? i / 8 : d == 2 ? i / 64 : i / 512) % 8; });
  expect("many values", 2, [&](auto, auto) { return this->below(250); });
  expect("others between them", 3,
         [&](auto, auto) { return this->below(9) > 0 ? static_cast<double>(this->below(12)) : 14 * this->unit() - 1; });
  expect("in one dimension", 4, [&](auto, auto d) { return d == 2 ? this->below(3) : this->unit(); });
}

TYPED_TEST(SplitGroup, SeveralCandidatesForEachThread) {
  // Outliers push all other points into few bins; the blocks of 16 nodes and more have but 128 threads.
  const auto points =
      this->rows(30000, 3, [&](auto i, auto) { return i % 500 == 0 ? 400 * this->unit() : this->unit(); });
  expect_the_tree_of_the_cpu(points, 3, {.leaf_size = 200, .top_level = 7, .capacity = 256, .processors = 2});
}

TYPED_TEST(SplitGroup, SeveralEqualCandidatesForEachThread) {
  const auto points = this->rows(20000, 2, [&](auto i, auto) { return i % 3000 == 7 ? 0.5 : this->below(2); });
  expect_the_tree_of_the_cpu(points, 2,
                             {.leaf_size = 200, .top_level = 4, .capacity = 2048, .processors = 5, .most_bins = 8});
}

TYPED_TEST(SplitGroup, ManyPointsForEachBlock) {  // then histograms use all their room
  for (const double power : {1.0, 6.0}) {
    const auto points = this->rows(40000, 3, [&](auto, auto) { return std::pow(this->unit(), power); });
    expect_the_tree_of_the_cpu(points, 3, {.leaf_size = 24, .top_level = 6, .capacity = 1024, .processors = 1});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SplitGroup, RangesOfAllSizes) {
  constexpr double kMost = std::numeric_limits<TypeParam>::max();
  constexpr double kDenormal = std::numeric_limits<TypeParam>::denorm_min();
  const Plan plan{.leaf_size = 16, .top_level = 4};
  const auto expect = [&](const char* name, const std::vector<TypeParam>& points) {
    SCOPED_TRACE(name);
    expect_the_tree_of_the_cpu(points, 3, plan);
  };
  constexpr std::uint64_t kPoints = 3000;
  expect("an outlier", this->rows(kPoints, 3, [&](auto i, auto) { return i == 77 ? 1e30 : this->unit(); }));
  expect("exponents", this->rows(kPoints, 3, [&](auto, auto) { return std::pow(10.0, this->unit() * 60 - 30); }));
  expect("huge", this->rows(kPoints, 3, [&](auto, auto) { return (this->unit() - 0.5) * 2 * kMost; }));
  expect("denormal",
         this->rows(kPoints, 3, [&](auto, auto) { return kDenormal * static_cast<double>(this->below(50)); }));
  expect("far away", this->rows(kPoints, 3, [&](auto, auto) { return 1e7 + this->unit(); }));
  expect("sorted",
         this->rows(kPoints, 3, [&](auto i, auto d) { return d == 0 ? static_cast<double>(i) : this->unit(); }));
}

TYPED_TEST(SplitGroup, ManyDimensions) {
  const auto points = this->rows(3000, 40, [&](auto, auto) { return this->unit(); });
  // Coordinates are not staged in shared memory by the real build; here they fit.
  expect_the_tree_of_the_cpu(points, 40, {.leaf_size = 24, .top_level = 4});
}

/// Where medians are guessed from samples, a guess that is right, one that is wrong and none give the same tree.
/// So far from the others, which are equal, that the distance overflows; and no sample sees it.
TYPED_TEST(SplitGroup, OutlierBeyondAllDistances) {
  const TypeParam far = std::numeric_limits<TypeParam>::max() / 2 * TypeParam(1.5);
  const auto points = this->rows(
      9000, 3, [&](auto i, auto d) { return d > 0 ? this->unit() : static_cast<double>(i == 1 ? -far : far); });
  expect_the_tree_of_the_cpu(points, 3, {.top_level = 6});
}

/// So large that the cells of the third dimension do not fit where the boxes will be.
TYPED_TEST(SplitGroup, LargeLeaves) {
  const Plan plan{.leaf_size = 500, .top_level = 3, .capacity = 1024, .processors = 4};
  const auto points = this->rows(8000, 3, [&](auto, auto) { return this->unit(); });
  EXPECT_FALSE(cells_fit_into_boxes<TypeParam>(tree_shape<TypeParam>(8000, 3, plan.leaf_size, false)));
  expect_the_tree_of_the_cpu(points, 3, plan);
}

TYPED_TEST(SplitGroup, UnevenPointsAreSampled) {
  const auto wall = [&](auto i, auto d) { return d == 2 && i % 8 != 0 ? 1 + 1e-4 * this->unit() : 5 * this->unit(); };
  for (const std::uint32_t dims : {3u, 8u}) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    const Plan plan{.top_level = 7, .capacity = 256, .is_sampled = true};
    expect_the_tree_of_the_cpu(this->rows(6000, dims, wall), dims, plan);
    expect_the_tree_of_the_cpu(this->rows(6000, dims, [&](auto, auto) { return std::pow(this->unit(), 9); }), dims,
                               plan);
    if (dims == 8) break;
    // Sorted, so that samples lie; with ties, so that they are of no use; and by turns.
    expect_the_tree_of_the_cpu(
        this->rows(6000, dims, [&](auto i, auto) { return i / 128 % 2 == 0 ? 1e-3 * static_cast<double>(i) : 7; }),
        dims, plan);
    expect_the_tree_of_the_cpu(this->rows(6000, dims, [&](auto, auto) { return this->below(3); }), dims,
                               {.cycles = true, .top_level = 7, .capacity = 256, .is_sampled = true});
  }
}

TYPED_TEST(SplitGroup, WhatIsNotFiniteIsRefused) {
  for (const TypeParam bad :
       {std::numeric_limits<TypeParam>::quiet_NaN(), std::numeric_limits<TypeParam>::infinity(),
        -std::numeric_limits<TypeParam>::infinity(), -std::numeric_limits<TypeParam>::quiet_NaN()}) {
    for (const std::uint32_t values : {0u, 2u}) {  // all differ, or cells refine ties
      auto points = this->rows(5000, 3, [&](auto, auto) { return values == 0 ? this->unit() : this->below(values); });
      points[this->below(points.size())] = bad;
      Groups<TypeParam> groups(points, 3, 7, {.processors = 5});
      groups.run();
      EXPECT_EQ(*groups.scratch.refused, 1u) << static_cast<double>(bad) << ", " << values << " values";
    }
  }
}

/// As it is done on a large GPU.
TYPED_TEST(SplitGroup, RandomCasesAsPlanned) {
  // Each is a case for one of the types; in the last one widths overflow.
  for (const std::uint64_t seed : {1, 2, 4, 1035}) {
    std::mt19937_64 random(seed);
    constexpr std::uint32_t kDims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 100};
    constexpr std::uint32_t kLeafSizes[] = {1, 3, 8, 24, 64, 500, 1024};
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const bool is_f32 = random() % 2 == 0;
    if (is_f32 != (sizeof(TypeParam) == 4)) continue;
    const std::uint32_t dims = kDims[random() % std::size(kDims)];
    const Plan plan{
        .leaf_size = kLeafSizes[random() % std::size(kLeafSizes)], .cycles = random() % 3 == 0, .processors = 132};
    const std::uint64_t n = random() % (dims > 9 ? 3750 : 20000);
    SCOPED_TRACE(testing::Message() << "seed " << seed << " n " << n << " dims " << dims);
    const PointSet points = nasty_points(shape, sizeof(TypeParam) == 4 ? DType::f32 : DType::f64, n, dims, random);
    const auto values = points.values<TypeParam>();
    expect_the_tree_of_the_cpu<TypeParam>({values.begin(), values.end()}, dims, plan,
                                          plan_finish<TypeParam>(n, dims, plan.leaf_size));
    if (this->HasFatalFailure()) return;
  }
}

/// A block of a smaller GPU of compute capability 8.6 may have 99 KiB.
TYPED_TEST(SplitGroup, AsksForNoMoreSharedMemoryThanThereIs) {
  constexpr std::uint32_t kLimit = 99 << 10;
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 8u, 64u}) {
    const TreeShape shape = tree_shape<TypeParam>(1 << 24, dims, 24, false);
    const FinishPlan plan = plan_finish<TypeParam>(1 << 24, dims, 24, kLimit);
    EXPECT_LE(plan.shared_bytes, kLimit) << dims << " dims";
    for (const GroupParameters<TypeParam>& group :
         lay_out_scratch<TypeParam>(shape, plan.top_level, {.processors = 40}, nullptr).groups) {
      split_group<TypeParam>(
          group, {.processors = 40, .shared_bytes = kLimit},
          [&](const char* name, std::uint64_t, auto, std::uint32_t, std::uint32_t, std::size_t shared_bytes, bool,
              const auto&...) { EXPECT_LE(shared_bytes, kLimit) << name << ", " << dims << " dims"; });
    }
  }
}

}  // namespace
}  // namespace kith::test
