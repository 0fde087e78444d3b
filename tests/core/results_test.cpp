// Results as ranges, and points from what callers hold.
#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace kith {
namespace {

/// On a line: 0, 1, 3, 7.
const std::vector<double> kLine = {0, 1, 3, 7};

using Triple = std::tuple<std::uint64_t, std::uint32_t, double>;

template <typename Result>
std::vector<Triple> triples_of(const Result& result) {
  std::vector<Triple> all;
  std::uint64_t query = 0;
  for (const auto row : result) {
    for (const auto [index, distance] : row) all.emplace_back(query, index, distance);
    ++query;
  }
  return all;
}

TEST(Results, NeighborsAreARangeOfRowsWithoutMissingOnes) {
  const Neighbors found = Index::build(PointView(kLine, 1)).knn_self(9, {.exclude_self = true, .max_distance = 2});
  EXPECT_EQ(triples_of(found), (std::vector<Triple>{{0, 1, 1}, {1, 0, 1}, {1, 2, 2}, {2, 1, 2}}));
  EXPECT_EQ(found[1].size(), 2u);
  EXPECT_EQ(found[1][1], (Neighbor{2, 2}));
  EXPECT_TRUE(found[3].empty());
}

TEST(Results, ListsAreARangeOfLists) {
  const Index index = Index::build(PointView(kLine, 1));
  const NeighborLists found = index.radius_self(1.5);
  EXPECT_EQ(triples_of(found), (std::vector<Triple>{{0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 0, 1}, {2, 2, 0}, {3, 3, 0}}));
  const std::array<double, 2> lower = {0.5, 9}, upper = {3, 10};
  const PointLists inside = index.box(PointView(lower, 1), PointView(upper, 1));
  EXPECT_TRUE(std::ranges::equal(inside[0], std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(inside[1].empty());
}

TEST(Results, NothingIsAnEmptyRange) {
  EXPECT_TRUE(triples_of(Neighbors()).empty());
  EXPECT_TRUE(triples_of(NeighborLists()).empty());
}

/// More queries than are searched at a time.
TEST(Results, AVisitorSeesWhatRadiusFinds) {
  std::vector<float> values(10'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 1000) / 8;
  const PointView points(values, 2);
  const Index index = Index::build(points);
  std::vector<std::uint32_t> below(points.rows());
  for (std::uint32_t i = 0; i < below.size(); ++i) below[i] = i;
  for (const std::span<const std::uint32_t> bounds :
       {std::span<const std::uint32_t>(), std::span<const std::uint32_t>(below)}) {
    std::vector<Triple> seen;
    index.for_each_within(
        points, 0.25,
        [&](std::uint64_t query, std::uint32_t i, double distance) { seen.emplace_back(query, i, distance); },
        {.index_below = bounds});
    EXPECT_EQ(seen, triples_of(index.radius(points, 0.25, {.index_below = bounds})));
    EXPECT_FALSE(seen.empty());
  }
  EXPECT_THROW(index.for_each_within(points, 1, [](auto...) {}, {.index_below = std::span(below).first(7)}),
               UsageError);
}

/// As Eigen has them.
template <bool kRowMajor>
struct Matrix {
  enum { IsRowMajor = kRowMajor };
  std::vector<double> values;
  long rows_, cols_, stride;
  const double* data() const { return values.data(); }
  long rows() const { return rows_; }
  long cols() const { return cols_; }
  long outerStride() const { return stride; }
};

TEST(Results, PointsComeFromVectorsArraysAndMatrices) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const PointView rows(values, 3), same = PointView(std::span<const float>(values), 3);
  EXPECT_EQ(rows.rows(), 2u);
  EXPECT_EQ(rows.dtype(), DType::f32);
  EXPECT_EQ(same.at(1, 0), 4);
  EXPECT_THROW(PointView(values, 4), UsageError);
  EXPECT_THROW(PointView(values, 0), UsageError);

  const Matrix<true> by_rows{{1, 2, 0, 3, 4, 0, 5, 6, 0}, 3, 2, 3};
  const Matrix<false> by_columns{{1, 2, 3, 4, 5, 6}, 2, 3, 2};
  for (const PointView& view : {PointView(by_rows), PointView(by_columns)}) {
    ASSERT_EQ(view.rows(), 3u);
    ASSERT_EQ(view.dims(), 2u);
    EXPECT_EQ(view.at(2, 1), 6);
  }
}

}  // namespace
}  // namespace kith
