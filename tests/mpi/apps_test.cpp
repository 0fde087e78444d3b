// Votes and removed duplicates are those of one process.
#include "mpi/ranks.hpp"
#include "support/random_case.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/dedupe.hpp>
#include <kith/error.hpp>
#include <kith/mpi/dedupe.hpp>
#include <kith/mpi/distributed_index.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using mpi::DistributedIndex;

constexpr std::array kShapes{NastyShape::uniform, NastyShape::grid,       NastyShape::all_equal,
                             NastyShape::line,    NastyShape::two_values, NastyShape::signed_zeros};

TEST(RankVotes, AreThoseOfOneProcess) {
  for (const std::uint64_t seed : rank_seeds(0, 10)) {
    std::mt19937_64 random(seed);
    const NastyShape shape = kShapes[random() % kShapes.size()];
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const auto dims = static_cast<std::uint32_t>(1 + random() % 4);
    const PointSet points = nasty_points(shape, dtype, 1 + random() % 120, dims, random);
    const PointSet queries = nasty_points(shape, dtype, random() % 60, dims, random);
    const RankParts of_points(points.rows(), random), of_queries(queries.rows(), random);
    std::vector<std::uint32_t> labels(points.rows());
    const auto classes = static_cast<std::uint32_t>(1 + random() % 5);
    for (std::uint32_t& label : labels) label = static_cast<std::uint32_t>(random() % classes);
    apps::ClassifyOptions plain;
    plain.k = static_cast<std::uint32_t>(1 + random() % std::min<std::uint64_t>(points.rows(), 30));
    plain.weights = random() % 2 == 0 ? apps::Weights::uniform : apps::Weights::distance;
    plain.ties = std::array{apps::Ties::nearest, apps::Ties::lowest, apps::Ties::highest}[random() % 3];
    plain.threads = 1;
    const apps::Classified expected = apps::classify(points.view(), {labels, classes}, queries.view(), plain);

    SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << own_rank());
    const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, of_points.of(points.view()));
    const auto own = std::span(labels).subspan(of_points.first(), of_points.count());
    const auto found = index.classify({own, classes}, of_queries.of(queries.view()),
                                      {.k = plain.k, .weights = plain.weights, .ties = plain.ties});
    const auto first = expected.labels.begin() + static_cast<std::ptrdiff_t>(of_queries.first());
    EXPECT_EQ(std::vector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(of_queries.count())), found);
    if (failed_on_any_rank()) return;
  }
}

TEST(RankVotes, RefuseWhatMakesNoSense) {
  const std::vector<float> points{0, 1, 2, 3};
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, PointView(points, 1));
  const std::vector<std::uint32_t> labels{0, 1, 2, 3}, few{0, 1};
  const PointView queries(points, 1);
  EXPECT_THROW(index.classify({few, 4}, queries), UsageError);
  EXPECT_THROW(index.classify({labels, 3}, queries), UsageError);
  EXPECT_THROW(index.classify({labels, 4}, queries, {.k = 0}), UsageError);
  EXPECT_THROW(index.classify({labels, 4}, queries, {.k = static_cast<std::uint32_t>(4 * rank_count() + 1)}),
               UsageError);
  const auto classes = static_cast<std::uint32_t>(4 + own_rank());
  if (rank_count() > 1) {
    EXPECT_THROW(index.classify({labels, classes}, queries, {.k = 1}), UsageError);
  }
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankDedupe, KeepsWhatOneProcessKeeps) {
  for (const std::uint64_t seed : rank_seeds(0, 25)) {
    std::mt19937_64 random(seed);
    const NastyShape shape = kShapes[random() % kShapes.size()];
    const auto dims = static_cast<std::uint32_t>(1 + random() % 3);
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    PointSet points = nasty_points(shape, dtype, random() % 200, dims, random);
    const bool has_nan = random() % 2 == 0 && dtype == DType::f32;
    if (has_nan) {
      for (float& x : points.values<float>()) {
        if (random() % 10 == 0) x = std::numeric_limits<float>::quiet_NaN();
      }
    }
    const RankParts parts(points.rows(), random);
    apps::DedupeOptions plain;
    plain.skip_nonfinite = true;
    const apps::Deduped expected = apps::dedupe(points.view(), plain);

    SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << own_rank());
    const mpi::Deduped found = mpi::dedupe(MPI_COMM_WORLD, parts.of(points.view()), {.skip_nonfinite = true});
    EXPECT_EQ(expected.skipped, found.skipped);
    std::vector<std::uint64_t> kept, stands_for;
    for (const std::uint32_t row : expected.kept) {
      if (row >= parts.first() && row < parts.first() + parts.count()) kept.push_back(row - parts.first());
    }
    for (std::uint64_t row = parts.first(); row < parts.first() + parts.count(); ++row) {
      const std::uint32_t place = expected.map[row];
      stands_for.push_back(place == apps::kLeftOut ? points.rows() : expected.kept[place]);
    }
    EXPECT_EQ(kept, found.kept);
    EXPECT_EQ(stands_for, found.stands_for);
    if (failed_on_any_rank()) return;
  }
}

}  // namespace
}  // namespace kith::test
