// The builders of the k-d tree as an option of an index: the same bytes from each, and where they are refused.
#include "support/random_case.hpp"
#include "support/sanitized.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace kith::test {
namespace {

constexpr std::array kOthers = {Builder::presort, Builder::select, Builder::segsort};

/// Builds by each builder and number of threads; every file must be that of the default builder.
void expect_same_files(PointView points, BuildOptions options, std::initializer_list<int> threads) {
  options.engine = Engine::kd_tree;
  options.device = Device::cpu();
  options.threads = 1;
  const auto expected = Index::build(points, options).to_bytes();
  for (const Builder builder : kOthers) {
    options.builder = builder;
    for (const int count : threads) {
      options.threads = count;
      ASSERT_TRUE(Index::build(points, options).to_bytes() == expected)
          << name_of(builder) << ", " << count << " threads";
    }
  }
}

std::string refusal_of(const BuildOptions& options) {
  const float points[] = {0, 1, 2, 3};
  try {
    Index::build(PointView(points, 2, 2), options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(KdBuilder, NamesAreReadAndWritten) {
  for (const std::string name : {"auto", "histogram", "presort", "select", "segsort"}) {
    EXPECT_EQ(name_of(parse_builder(name)), name);
  }
  EXPECT_THROW(parse_builder("sort"), UsageError);
}

TEST(KdBuilder, GivesTheSameFileOnRandomCases) {
  constexpr std::uint64_t kSizes[] = {0, 1, 2, 3, 5, 64, 127, 257, 1009, 2503, 5003};
  constexpr std::uint32_t kLeafSizes[] = {0, 1, 2, 3, 7, 24, 64, 100, 1024};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const auto dims = static_cast<std::uint32_t>(1 + random() % 20);
    const std::uint64_t rows = kSizes[random() % std::size(kSizes)];
    const std::uint32_t leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
    const SplitRule split = random() % 3 == 0 ? SplitRule::cycle : SplitRule::widest;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << rows << " x " << dims << ", leaves of " << leaf_size
                                    << ", shape " << static_cast<int>(shape));
    const PointSet points = nasty_points(shape, dtype, rows, dims, random);
    expect_same_files(points.view(), {.split = split, .leaf_size = leaf_size}, {1, 7});
    if (HasFatalFailure()) return;
  }
}

/// Large enough for what several threads do together.
TEST(KdBuilder, GivesTheSameFileOfManyPoints) {
  const std::uint64_t rows = KITH_TEST_SANITIZED ? 30011 : 100003;
  for (int s = 0; s < static_cast<int>(NastyShape::count_of_shapes); ++s) {
    std::mt19937_64 random(static_cast<std::uint64_t>(s));
    const DType dtype = s % 2 == 0 ? DType::f32 : DType::f64;
    const auto dims = static_cast<std::uint32_t>(s % 4 == 3 ? 10 : 2 + s % 3);
    SCOPED_TRACE(testing::Message() << "shape " << s << ", " << dims << " dims");
    const PointSet points = nasty_points(static_cast<NastyShape>(s), dtype, rows, dims, random);
    expect_same_files(points.view(), {.split = s % 5 == 0 ? SplitRule::cycle : SplitRule::widest}, {1, 2, 7});
    if (HasFatalFailure()) return;
  }
  std::mt19937_64 random(1);
  expect_same_files(nasty_points(NastyShape::uniform, DType::f32, 6 * rows, 3, random).view(), {}, {1, 2, 7});
  expect_same_files(nasty_points(NastyShape::grid, DType::f32, 6 * rows, 2, random).view(), {.leaf_size = 8}, {2});
  expect_same_files(nasty_points(NastyShape::all_equal, DType::f64, 3 * rows, 3, random).view(), {}, {2});
}

TEST(KdBuilder, IsNamedByExplainIfItIsNotTheDefault) {
  const float points[] = {0, 1, 2, 3};
  for (const Builder builder : kOthers) {
    const Index index = Index::build(PointView(points, 2, 2), {.engine = Engine::kd_tree, .builder = builder});
    EXPECT_NE(index.explain().find("builder " + std::string(name_of(builder))), std::string::npos) << index.explain();
  }
  const Index index = Index::build(PointView(points, 2, 2), {.engine = Engine::kd_tree, .builder = Builder::histogram});
  EXPECT_EQ(index.explain().find("builder"), std::string::npos) << index.explain();
}

TEST(KdBuilder, IsRefusedWhereItMeansNothing) {
  EXPECT_EQ(refusal_of({.engine = Engine::kd_tree, .builder = Builder::lists}),
            "builder lists: for engine covertree only, not for kdtree; choose histogram, presort, select or segsort");
  EXPECT_EQ(refusal_of({.engine = Engine::cover_tree, .builder = Builder::select}),
            "builder select: for engine kdtree only, not for covertree; choose batch or lists");
  EXPECT_EQ(refusal_of({.engine = Engine::brute_force, .builder = Builder::segsort}),
            "builder segsort: for engine kdtree only, not for brute, which builds no tree");
  EXPECT_EQ(refusal_of({.builder = Builder::presort}),
            "builder presort: for engine kdtree only, not for auto; name the engine, too");
  EXPECT_EQ(refusal_of({.engine = Engine::kd_tree, .builder = Builder::presort}), "");
}

}  // namespace
}  // namespace kith::test
