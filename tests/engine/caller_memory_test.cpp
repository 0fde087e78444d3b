// kNN into the caller's arrays, and of one row of bits or one sequence, gives what `Neighbors` holds.
#include "support/bit_oracle.hpp"
#include "support/engines.hpp"
#include "support/random_case.hpp"
#include "support/sequence_oracle.hpp"
#include "support/thrown_message.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

/// `view` is null in a self-search.
template <typename T, typename AnyIndex, typename View>
void expect_same_in_arrays(const AnyIndex& index, const View* view, std::uint32_t k, const SearchOptions& options) {
  const Neighbors all = view == nullptr ? index.knn_self(k, options) : index.knn(*view, k, options);
  std::vector<std::uint32_t> indices(all.queries() * k, 12345);
  std::vector<T> distances(all.queries() * k, T(-1));
  std::vector<std::uint8_t> exact(all.queries(), 7);
  if (view == nullptr) {
    index.knn_self(k, indices, distances, options, exact);
  } else {
    index.knn(*view, k, indices, distances, options, exact);
  }
  EXPECT_TRUE(std::ranges::equal(indices, all.indices()));
  EXPECT_TRUE(std::ranges::equal(distances, all.distances().template values<T>()));
  for (std::uint64_t q = 0; q < all.queries(); ++q) ASSERT_EQ(exact[q] != 0, all.is_exact(q)) << "query " << q;
}

class CallerMemory : public testing::TestWithParam<EngineOnDevice> {};

TEST_P(CallerMemory, HoldsWhatNeighborsHoldOnRandomCases) {
  for (std::uint64_t seed = 50000; seed < 50500; ++seed) {
    SearchCase c = random_case(seed);
    if ((!c.period.empty() && !knows_periods(GetParam())) || !knows_metric(GetParam(), c.metric)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    if (seed % 5 == 0) c.options.eps = 1.5;
    if (seed % 7 == 0) c.options.max_leaves = 1;
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    const PointView queries = c.queries.view();
    const PointView* view = c.is_self ? nullptr : &queries;
    if (c.points.dtype() == DType::f32) {
      expect_same_in_arrays<float>(index, view, c.k, c.options);
    } else {
      expect_same_in_arrays<double>(index, view, c.k, c.options);
    }
    if (HasFailure()) return;
  }
}

TEST_P(CallerMemory, SkippedRowsAreEmptyAndExact) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float points[] = {0, nan, 1, 5, nan, 2};
  const Index index = Index::build(PointView(points, 6, 1),
                                   {.engine = GetParam().engine, .device = GetParam().device, .skip_nonfinite = true});
  const PointView queries(points, 6, 1);
  expect_same_in_arrays<float>(index, &queries, 3, {.skip_nonfinite = true});
  expect_same_in_arrays<float, Index, PointView>(index, nullptr, 3, {.eps = 1.5});
}

INSTANTIATE_TEST_SUITE_P(Available, CallerMemory, testing::ValuesIn(available_engines()));

TEST(CallerMemoryCall, RefusesArraysThatDoNotFit) {
  const float points[] = {0, 1, 2};
  const Index index = Index::build(PointView(points, 3, 1));
  const PointView queries(points, 2, 1);
  std::vector<std::uint32_t> indices(4);
  std::vector<float> distances(4);
  std::vector<double> wide(4);
  std::vector<std::uint8_t> exact(3);
  const auto refusal = [&](auto&& call) { return thrown_message<UsageError>(call); };
  EXPECT_PRED2(holds, refusal([&] { index.knn(queries, 1, indices, distances); }),
               "indices: an array of 4, but 2 queries need 1 each");
  EXPECT_PRED2(holds, refusal([&] { index.knn(queries, 2, indices, std::span(distances).first(3)); }),
               "distances: an array of 3, but 2 queries need 2 each");
  EXPECT_PRED2(holds, refusal([&] { index.knn_self(0, indices, std::span<float>()); }), "indices");
  EXPECT_PRED2(holds, refusal([&] { index.knn(queries, 2, indices, distances, {}, exact); }), "exact: an array of 3");
  EXPECT_PRED2(holds, refusal([&] { index.knn(queries, 2, indices, wide); }), "distances: those of this index are f32");
  index.knn(queries, 0, std::span<std::uint32_t>(), std::span<float>());
  index.knn(queries, 2, indices, distances);
  EXPECT_EQ(indices, (std::vector<std::uint32_t>{0, 1, 1, 0}));
}

/// One query at a time against the rows of `all`.
template <typename AskOne>
void expect_rows(const Neighbors& all, const AskOne& ask) {
  std::vector<std::uint32_t> indices(all.k());
  std::vector<float> distances(all.k());
  for (std::uint64_t q = 0; q < all.queries(); ++q) {
    ASSERT_EQ(ask(q, indices, distances), all[q].size()) << "query " << q;
    for (std::uint32_t j = 0; j < all.k(); ++j) {
      ASSERT_EQ(indices[j], all.index(q, j)) << "query " << q << ", rank " << j;
      ASSERT_EQ(distances[j], all.distance(q, j)) << "query " << q << ", rank " << j;
    }
  }
}

TEST(CallerMemoryOfObjects, BitsInArraysAndOneByOne) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with BitCase(" << seed << ", 60)");
    const BitCase c(seed, 60);
    const Engine engine = seed % 2 == 0 ? Engine::brute_force : Engine::cover_tree;
    const BitIndex index = BitIndex::build(c.points.view(), {.engine = engine});
    const BitView queries = c.queries.view();
    expect_same_in_arrays<float>(index, &queries, 5, {});
    expect_same_in_arrays<float, BitIndex, BitView>(index, nullptr, 5, {.exclude_self = true});
    expect_rows(index.knn(queries, 5, {.max_distance = 9}), [&](std::uint64_t q, auto& indices, auto& distances) {
      return index.knn_one(queries.slice(q, 1), indices, distances, {.max_distance = 9});
    });
    std::uint64_t visited = 0;
    index.for_each_within(queries, std::vector<double>(queries.rows(), 9),
                          [&](std::uint64_t, std::uint32_t, double) { ++visited; });
    EXPECT_EQ(visited, index.radius(queries, 9).indices().size());
    if (HasFailure()) return;
  }
  const std::uint8_t rows[] = {1, 2};
  const BitIndex index = BitIndex::build(BitView(rows, 2, 8));
  std::uint32_t found[1];
  float distance[1];
  double wide[1];
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { index.knn_one(BitView(rows, 2, 8), found, distance); }),
               "indices: an array of 1, but 2 queries need 1 each");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { index.knn(BitView(rows, 1, 8), 1, found, wide); }), "f32");
}

TEST(CallerMemoryOfObjects, SequencesInArraysAndOneByOne) {
  const SequenceSet words = SequenceSet::from_text({"cat", "cart", "dog", "dig", "Straße"});
  for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
    const SequenceIndex index = SequenceIndex::build(words, SequenceMetric::edit, {.engine = engine});
    const SequenceView queries = words;
    expect_same_in_arrays<float>(index, &queries, 3, {});
    expect_same_in_arrays<float, SequenceIndex, SequenceView>(index, nullptr, 9, {.exclude_self = true});
    const Neighbors all = index.knn(words, 3, {.max_distance = 2});
    expect_rows(all, [&](std::uint64_t q, auto& indices, auto& distances) {
      return index.knn_one(queries.slice(q, 1), indices, distances, {.max_distance = 2});
    });
    std::uint64_t visited = 0;
    index.for_each_within(queries, 2, [&](std::uint64_t, std::uint32_t, double) { ++visited; });
    EXPECT_EQ(visited, index.radius(queries, 2).indices().size());
  }
  const SequenceSet sets = SequenceSet::from_sets({{1, 2, 3}, {7}});
  const SequenceIndex index = SequenceIndex::build(sets, SequenceMetric::jaccard);
  std::uint32_t found[3];
  float distances[3];
  EXPECT_EQ(index.knn_one(SequenceSet::from_sets({{3, 1, 2}}), found, distances), 2u);
  EXPECT_EQ(distances[0], 0.0f);
  EXPECT_EQ(found[2], 2u);
  EXPECT_THROW(index.knn_one(SequenceSet::from_text({"text"}), found, distances), UsageError);
}

}  // namespace
}  // namespace kith::test
