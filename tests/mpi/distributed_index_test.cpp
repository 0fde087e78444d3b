// Every rank gets its part of the answer of one index over all points, byte for byte, whoever has which points.
#include "mpi/communicator.hpp"
#include "mpi/ranks.hpp"
#include "shards/widened.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"

#include <kith/mpi/distributed_index.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace kith::test {
namespace {

using mpi::DistributedIndex;
using shards::ShardSearchOptions;

/// A random search, of which each rank has a part.
struct RankCase {
  SearchCase search;
  RankParts points, queries;
  BuildOptions build;
  std::vector<std::uint64_t> index_below;
  ShardSearchOptions options;

  RankCase(SearchCase random_search, std::uint64_t seed) : RankCase(std::move(random_search), std::mt19937_64(seed)) {}

  DistributedIndex distributed() const {
    return DistributedIndex::build(MPI_COMM_WORLD, points.of(search.points.view()), build);
  }
  /// Of all points, on this rank alone.
  Index whole() const { return Index::build(search.points.view(), build); }
  PointView own_queries() const { return queries.of(search.queries.view()); }

  /// The options of an index for this rank's queries.
  SearchOptions own_options() const {
    SearchOptions own = search.options;
    if (!own.index_below.empty()) own.index_below = own.index_below.subspan(queries.first(), queries.count());
    return own;
  }

 private:
  RankCase(SearchCase random_search, std::mt19937_64 random)
      : search(std::move(random_search)), points(search.points.rows(), random), queries(search.queries.rows(), random) {
    Engine engine = Engine::automatic;
    if (random() % 3 == 0) engine = search.metric.info().has_kd_tree ? Engine::kd_tree : Engine::brute_force;
    build = search.build_options(engine, Device::cpu());
    build.threads = 1;
    search.options.threads = 1;
    const SearchOptions& from = search.options;
    options.squared = from.squared;
    options.exclude_self = from.exclude_self;
    options.allowed = from.allowed;
    options.earlier_only = from.earlier_only;
    options.threads = 1;
    if (!from.index_below.empty()) {
      const auto own = from.index_below.subspan(queries.first(), queries.count());
      index_below.assign(own.begin(), own.end());
    }
    options.index_below = index_below;
    options.shards_per_round = static_cast<std::uint32_t>(std::array{0, 0, 1, 2}[random() % 4]);
    // Messages of these cases have a few KB. Sums of counts go in pieces, too, of which each waits for all ranks.
    mpi::largest_piece() = random() % 3 == 0 ? std::size_t{4000} : std::size_t{1} << 30;
  }
};

/// The rows of this rank out of those of all.
WideNeighbors own_rows(const Neighbors& found, const RankParts& parts) {
  std::vector<std::uint64_t> numbers;
  const std::uint64_t first = parts.first() * found.k(), entries = parts.count() * found.k();
  for (std::uint64_t i = 0; i < entries; ++i) numbers.push_back(found.indices()[first + i]);
  Distances distances(found.dtype(), entries);
  std::visit(
      [&](auto zero) {
        using T = decltype(zero);
        std::ranges::copy(found.distances().values<T>().subspan(first, entries), distances.values<T>().begin());
      },
      found.dtype() == DType::f32 ? std::variant<float, double>(0.0f) : std::variant<float, double>(0.0));
  return WideNeighbors(parts.count(), found.k(), found.missing(), numbers, std::move(distances));
}

WideNeighborLists own_rows(const NeighborLists& found, const RankParts& parts) {
  std::vector<std::uint64_t> offsets{0}, numbers;
  for (std::uint64_t q = parts.first(); q < parts.first() + parts.count(); ++q) {
    offsets.push_back(offsets.back() + found.count(q));
  }
  const std::uint64_t first = found.offsets()[parts.first()], entries = offsets.back();
  for (std::uint64_t i = 0; i < entries; ++i) numbers.push_back(found.indices()[first + i]);
  Distances distances(found.dtype(), entries);
  std::visit(
      [&](auto zero) {
        using T = decltype(zero);
        std::ranges::copy(found.distances().values<T>().subspan(first, entries), distances.values<T>().begin());
      },
      found.dtype() == DType::f32 ? std::variant<float, double>(0.0f) : std::variant<float, double>(0.0));
  return WideNeighborLists(found.points(), offsets, numbers, std::move(distances));
}

std::vector<std::uint64_t> own_rows(const std::vector<std::uint32_t>& counts, const RankParts& parts) {
  const auto first = counts.begin() + static_cast<std::ptrdiff_t>(parts.first());
  return {first, first + static_cast<std::ptrdiff_t>(parts.count())};
}

#define KITH_RANK_TRACE(seed, c)                                                                              \
  SCOPED_TRACE(testing::Message() << "replay with random_case(" << (seed) << "), rank " << own_rank() << ": " \
                                  << (c).search.text)

TEST(DistributedIndex, KnnEqualsOneIndexOnRandomCases) {
  for (const std::uint64_t seed : rank_seeds(0, 30)) {
    RankCase c(random_case(seed), seed);
    KITH_RANK_TRACE(seed, c);
    c.options.max_distance = c.search.options.max_distance = c.search.max_distance;
    const DistributedIndex index = c.distributed();
    EXPECT_EQ(index.size(), c.search.points.rows());
    EXPECT_EQ(index.first_number(), c.points.first());
    if (c.search.is_self) {
      const WideNeighbors expected = own_rows(c.whole().knn_self(c.search.k, c.search.options), c.points);
      expect_same(expected, index.knn_self(c.search.k, c.options));
    } else {
      const WideNeighbors found = index.knn(c.own_queries(), c.search.k, c.options);
      const PointView queries = c.search.queries.view().slice(c.queries.first(), c.queries.count());
      expect_same(widened(c.whole().knn(queries, c.search.k, c.own_options())), found);
    }
    if (failed_on_any_rank()) return;
  }
}

TEST(DistributedIndex, InnerProductsEqualOneIndexOnRandomCases) {
  for (const std::uint64_t seed : rank_seeds(5000, 8)) {
    const RankCase c(inner_product_case(seed), seed);
    KITH_RANK_TRACE(seed, c);
    const DistributedIndex index = c.distributed();
    if (c.search.is_self) {
      const WideNeighbors expected = own_rows(c.whole().knn_self(c.search.k, c.search.options), c.points);
      expect_same(expected, index.knn_self(c.search.k, c.options));
    } else {
      const WideNeighbors found = index.knn(c.own_queries(), c.search.k, c.options);
      const PointView queries = c.search.queries.view().slice(c.queries.first(), c.queries.count());
      expect_same(widened(c.whole().knn(queries, c.search.k, c.own_options())), found);
    }
    if (failed_on_any_rank()) return;
  }
}

TEST(DistributedIndex, RadiusEqualsOneIndexOnRandomCases) {
  for (const std::uint64_t seed : rank_seeds(10000, 20)) {
    RankCase c(random_case(seed), seed);
    KITH_RANK_TRACE(seed, c);
    c.options.max_neighbors = c.search.options.max_neighbors = c.search.most;
    const DistributedIndex index = c.distributed();
    if (c.search.is_self) {
      expect_same(own_rows(c.whole().radius_self(c.search.radius, c.search.options), c.points),
                  index.radius_self(c.search.radius, c.options));
    } else {
      const WideNeighborLists found = index.radius(c.own_queries(), c.search.radius, c.options);
      const PointView queries = c.search.queries.view().slice(c.queries.first(), c.queries.count());
      expect_same(widened(c.whole().radius(queries, c.search.radius, c.own_options())), found);
    }
    if (failed_on_any_rank()) return;
  }
}

TEST(DistributedIndex, CountEqualsOneIndexOnRandomCasesWithRadiiOfTheirOwn) {
  for (const std::uint64_t seed : rank_seeds(20000, 20)) {
    const RankCase c(random_case(seed), seed);
    KITH_RANK_TRACE(seed, c);
    const RankParts& parts = c.search.is_self ? c.points : c.queries;
    const std::uint64_t queries = c.search.is_self ? c.search.points.rows() : c.search.queries.rows();
    std::vector<double> radii(queries);
    for (std::uint64_t q = 0; q < queries; ++q) radii[q] = c.search.radius * static_cast<double>(q % 4) / 2;
    const std::span<const double> own = std::span(radii).subspan(parts.first(), parts.count());
    const DistributedIndex index = c.distributed();
    if (c.search.is_self) {
      EXPECT_EQ(own_rows(c.whole().count_self(radii, c.search.options), parts), index.count_self(own, c.options));
      expect_same(own_rows(c.whole().radius_self(radii, c.search.options), parts), index.radius_self(own, c.options));
    } else {
      const std::vector<std::uint64_t> found = index.count(c.own_queries(), own, c.options);
      EXPECT_EQ(own_rows(c.whole().count(c.search.queries.view(), radii, c.search.options), parts), found);
    }
    if (failed_on_any_rank()) return;
  }
}

TEST(DistributedIndex, LeavesOutRowsWithNaNAndKeepsTheNumbersOfOthers) {
  for (const std::uint64_t seed : rank_seeds(0, 10)) {
    std::mt19937_64 random(seed);
    PointSet points = nasty_points(NastyShape::grid, DType::f32, random() % 150, 3, random);
    const std::uint64_t share = 1 + random() % 4;
    for (float& x : points.values<float>()) {
      if (random() % (5 * share) == 0) x = std::numeric_limits<float>::quiet_NaN();
    }
    std::vector<float> queries{1, 1, 1, std::numeric_limits<float>::infinity(), 2, 0};
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << own_rank());
    const RankParts parts(points.rows(), random);
    const BuildOptions build{.skip_nonfinite = true, .threads = 1};
    const Index whole = Index::build(points.view(), build);
    const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, parts.of(points.view()), build);
    EXPECT_EQ(whole.skipped(), index.skipped());
    const SearchOptions options{.skip_nonfinite = true, .threads = 1};
    ShardSearchOptions same;
    same.skip_nonfinite = true;
    const PointView asked(queries, 3);
    expect_same(widened(whole.knn(asked, 9, options)), index.knn(asked, 9, same));
    expect_same(own_rows(whole.knn_self(7, options), parts), index.knn_self(7, same));
    expect_same(own_rows(whole.radius_self(1.5, options), parts), index.radius_self(1.5, same));
    EXPECT_EQ(own_rows(whole.count_self(1.5, options), parts), index.count_self(1.5, same));
    if (failed_on_any_rank()) return;
  }
}

TEST(DistributedIndex, FewPointsLeaveRanksWithoutAShard) {
  std::mt19937_64 random(3);
  for (const std::uint64_t rows : {0u, 1u, 2u, 5u}) {
    const PointSet points = nasty_points(NastyShape::uniform, DType::f64, rows, 2, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f64, 3, 2, random);
    const RankParts parts(rows, random);
    const Index whole = Index::build(points.view());
    const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, parts.of(points.view()));
    if (rows > 0) {  // else even the type of the points is not known
      expect_same(widened(whole.knn(queries.view(), 4)), index.knn(queries.view(), 4));
      expect_same(widened(whole.radius(queries.view(), 0.5)), index.radius(queries.view(), 0.5));
    }
    EXPECT_EQ(index.knn_self(4).queries(), parts.count());
    if (rows > 0) expect_same(own_rows(whole.knn_self(4), parts), index.knn_self(4));
    EXPECT_EQ(own_rows(whole.count_self(0.5), parts), index.count_self(0.5));
    if (failed_on_any_rank()) return;
  }
}

/// Shards of a communicator with some of the ranks; the others do something else meanwhile.
TEST(DistributedIndex, WorksOnAPartOfTheRanks) {
  std::mt19937_64 random(4);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 300, 3, random);
  const int half = own_rank() % 2;
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, half, 0, &some);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(some, &rank);
  MPI_Comm_size(some, &ranks);
  const auto first = static_cast<std::uint64_t>(300 * rank / ranks),
             end = static_cast<std::uint64_t>(300 * (rank + 1) / ranks);
  {
    const DistributedIndex index = DistributedIndex::build(some, points.view().slice(first, end - first));
    MPI_Comm_free(&some);  // the index has its own
    const std::uint32_t k = half == 0 ? 3 : 8;
    expect_same(widened(Index::build(points.view()).knn(points.view(), k)), index.knn(points.view(), k));
  }
  EXPECT_FALSE(failed_on_any_rank());
}

}  // namespace
}  // namespace kith::test
