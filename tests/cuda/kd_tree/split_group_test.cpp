// The whole build of the GPU, groups of levels and finish, on emulated threads: the same bytes as the CPU's builder.
#include "cuda/kd_tree/emulated_group_build.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class SplitGroup : public RandomRows<T> {};
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

/// Most points are equal, but not so many that their dimensions have few values: the halves of the root have long
/// lists, too.
TYPED_TEST(SplitGroup, LongListsOfCandidatesAreSharedByBlocks) {
  const auto crowd = this->rows(50000, 2, [&](auto i, auto) { return i % 10 < 3 ? this->unit() : 0.25; });
  expect_the_tree_of_the_cpu(crowd, 2, {.leaf_size = 200, .top_level = 8, .processors = 8});
}

/// In the last level of a group, lists lie where their candidates go.
TYPED_TEST(SplitGroup, LongListsAreMovedToWhereTheyLie) {
  constexpr std::uint64_t kPoints = 50001;
  for (const std::uint32_t dims : {1u, 2u, 3u, 9u}) {
    for (const std::uint32_t processors : {2u, 8u}) {  // a block for the list, or several
      SCOPED_TRACE(testing::Message() << dims << " dims, " << processors << " processors");
      const auto points = this->rows(kPoints, dims, [&](auto i, auto) { return i % 10 < 3 ? this->unit() : 0.25; });
      Groups<TypeParam> groups(points, dims, 1, {.processors = processors});
      groups.run();
      EXPECT_GT(groups.scratch.groups[0].nodes[1].candidates, kLongList);
      std::vector<std::uint32_t> order(kPoints);
      std::iota(order.begin(), order.end(), 0u);
      const auto row = [&](std::uint32_t i) { return &points[std::uint64_t{i} * dims]; };
      const std::uint32_t dim = groups.scratch.groups[0].nodes[1].median.dim;
      std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        for (std::uint32_t d = dim; d < dim + dims; ++d) {
          if (row(a)[d % dims] != row(b)[d % dims]) return row(a)[d % dims] < row(b)[d % dims];
        }
        return a < b;
      });
      std::vector<std::uint32_t> found(groups.arranged.indices, groups.arranged.indices + kPoints);
      for (std::uint64_t i = 0; i < kPoints; ++i) {
        for (std::uint32_t d = 0; d < dims; ++d) ASSERT_EQ(groups.arranged.at(i, d), row(found[i])[d]) << i;
      }
      for (auto* half : {&order, &found}) {
        std::sort(half->begin(), half->begin() + kPoints / 2);
        std::sort(half->begin() + kPoints / 2, half->end());
      }
      EXPECT_TRUE(order == found);
    }
  }
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
  expect("crowds", 3, [&](auto, auto) {
    const auto whole = static_cast<double>(this->below(300));
    return whole + 1e-6 * this->unit();
  });
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

/// So far from the others, which are equal, that the distance overflows; and no sample sees it.
TYPED_TEST(SplitGroup, OutlierBeyondAllDistances) {
  const TypeParam far = std::numeric_limits<TypeParam>::max() / 2 * TypeParam(1.5);
  const auto points = this->rows(
      9000, 3, [&](auto i, auto d) { return d > 0 ? this->unit() : static_cast<double>(i == 1 ? -far : far); });
  expect_the_tree_of_the_cpu(points, 3, {.top_level = 6});
}

/// So large that the nodes of the points do not fit where the boxes will be.
TYPED_TEST(SplitGroup, LargeLeaves) {
  const Plan plan{.leaf_size = 500, .top_level = 3, .capacity = 1024, .processors = 4};
  const auto points = this->rows(8000, 3, [&](auto, auto) { return this->unit(); });
  EXPECT_FALSE(has_heap_in_boxes<TypeParam>(tree_shape<TypeParam>(8000, 3, plan.leaf_size, false)));
  expect_the_tree_of_the_cpu(points, 3, plan);
}

/// Where medians are guessed from samples, a guess that is right, one that is wrong and none give the same tree.
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

/// What a block may have on GPUs of compute capability 7.5, 8.6, 8.0 and 9.0.
TYPED_TEST(SplitGroup, AsksForNoMoreSharedMemoryThanThereIs) {
  for (const std::uint32_t limit : {64u << 10, 99u << 10, 163u << 10, 227u << 10}) {
    for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u, 64u, 511u}) {
      for (const std::uint64_t points : {std::uint64_t{1} << 16, std::uint64_t{1} << 24}) {
        SCOPED_TRACE(testing::Message() << limit << " bytes, " << points << " x " << dims);
        const GpuLimits limits{.processors = 40, .shared_bytes = limit};
        const TreeShape shape = tree_shape<TypeParam>(points, dims, 24, false);
        const FinishPlan plan = plan_finish<TypeParam>(points, dims, 24, limit);
        EXPECT_LE(plan.shared_bytes, limit);
        for (const GroupParameters<TypeParam>& group :
             lay_out_scratch<TypeParam>(shape, plan.top_level, limits).groups) {
          split_group<TypeParam>(
              group, limits,
              [&](const char* name, std::uint64_t, auto, std::uint32_t, std::uint32_t, std::size_t shared_bytes,
                  Together, const auto&...) { EXPECT_LE(shared_bytes, limit) << name; });
        }
      }
    }
  }
}

/// From 99 KiB on groups are planned as on the largest GPUs.
TYPED_TEST(SplitGroup, OnlySmallGpusHaveAnotherPlan) {
  for (std::uint32_t dims = 1; dims <= 9; ++dims) {
    const StepPlan wanted{.most_bins = kMostBins, .has_samples = dims <= kSampledDims};
    const StepPlan planned = fit_steps<TypeParam>(dims, wanted, 99 << 10);
    EXPECT_EQ(planned.most_bins, wanted.most_bins) << dims << " dims";
    EXPECT_EQ(planned.has_samples, wanted.has_samples) << dims << " dims";
    const StepPlan small = fit_steps<TypeParam>(dims, wanted, kLeastSharedBytes);
    EXPECT_GE(small.most_bins, 512u) << dims << " dims";
    EXPECT_EQ(small.has_samples, wanted.has_samples) << dims << " dims";
  }
}

}  // namespace
}  // namespace kith::test
