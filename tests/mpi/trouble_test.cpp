// Errors on one rank are errors of the same type on all, in words that name the rank; and none waits for another.
#include "mpi/communicator.hpp"
#include "mpi/ranks.hpp"
#include "support/random_case.hpp"

#include <kith/error.hpp>
#include <kith/mpi/dedupe.hpp>
#include <kith/mpi/distributed_index.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using mpi::DistributedIndex;
using shards::ShardSearchOptions;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The type of an error by its exit code, and what it says; 0 if there is none.
struct Said {
  int code = 0;
  std::string text;
};

Said said_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  }
  return {};
}

/// The last rank is where things go wrong.
bool is_last() { return own_rank() == rank_count() - 1; }

/// What an error of the last rank says everywhere: of one rank alone it names none.
std::string of_last_rank(const std::string& text) {
  return rank_count() == 1 ? text : "rank " + std::to_string(rank_count() - 1) + ": " + text;
}

void expect_said(const Said& said, int code, const std::string& text) {
  EXPECT_EQ(code, said.code) << said.text;
  EXPECT_EQ(text, said.text);
}

PointSet some_points(std::uint64_t rows) {
  std::mt19937_64 random(rows + static_cast<std::uint64_t>(own_rank()));
  return nasty_points(NastyShape::uniform, DType::f32, rows, 3, random);
}

TEST(RankErrors, BadPointsAreNamedByTheirNumbersAmongAll) {
  PointSet points = some_points(50);
  if (is_last()) points.values<float>()[7 * 3 + 1] = kNaN;
  const std::string row = std::to_string(50 * (rank_count() - 1) + 7);
  const auto said = said_by([&] { DistributedIndex::build(MPI_COMM_WORLD, points.view()); });
  EXPECT_EQ(3, said.code);
  EXPECT_EQ(0u, said.text.find("points: row " + row + ", column 1 (counted from 0) is NaN")) << said.text;
  const auto deduping = said_by([&] { mpi::dedupe(MPI_COMM_WORLD, points.view()); });
  EXPECT_EQ(said.text, deduping.text);
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, PointsOfDifferentKindsAreRefused) {
  if (rank_count() == 1) GTEST_SKIP() << "one rank has points of one kind";
  const PointSet points = some_points(20);
  const PointView view = is_last() ? PointView(points.values<float>(), 2) : points.view();
  EXPECT_EQ(2, said_by([&] { DistributedIndex::build(MPI_COMM_WORLD, view); }).code);
  const BuildOptions other{.metric = is_last() ? Metric::l1() : Metric::l2()};
  expect_said(said_by([&] { DistributedIndex::build(MPI_COMM_WORLD, points.view(), other); }), 2,
              of_last_rank("options differ from those of rank 0; they must be the same"));
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, AllRanksSayTheSameWhereAllFailAlike) {
  const PointSet points = some_points(20);
  expect_said(said_by([&] { DistributedIndex::build(MPI_COMM_WORLD, points.view(), {.threads = -1}); }), 2,
              "threads must be at least 0, not -1");
  const BuildOptions without_parameters{.metric = Metric::seuclidean()};
  EXPECT_EQ(2, said_by([&] { DistributedIndex::build(MPI_COMM_WORLD, points.view(), without_parameters); }).code);
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view(), {.metric = Metric::l1()});
  expect_said(said_by([&] { index.knn(points.view(), 3, {.squared = true}); }), 2,
              "squared distances exist for the metric l2 only, not for l1");
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, QueriesOfOneRankStopAll) {
  const PointSet points = some_points(60);
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view());
  PointSet queries = points.clone();
  if (is_last()) queries.values<float>()[5 * 3] = kNaN;
  const Said said = said_by([&] { index.knn(queries.view(), 3); });
  EXPECT_EQ(3, said.code);
  const std::string whose = rank_count() == 1 ? "queries" : "queries of rank " + std::to_string(rank_count() - 1);
  EXPECT_EQ(0u, said.text.find(whose + ": row 5, column 0 (counted from 0) is NaN")) << said.text;
  EXPECT_EQ(3, said_by([&] { index.radius(queries.view(), 0.1); }).code);
  EXPECT_EQ(3, said_by([&] { index.count(queries.view(), 0.1); }).code);

  const double radius = is_last() ? -1 : 1;
  expect_said(said_by([&] { index.radius(points.view(), radius); }), 2,
              of_last_rank("the radius must be at least 0, not -1"));
  expect_said(said_by([&] { index.count_self(radius); }), 2, of_last_rank("the radius must be at least 0, not -1"));
  const std::vector<double> radii(is_last() ? 61 : 60, 0.1);
  expect_said(said_by([&] { index.radius_self(radii); }), 2,
              of_last_rank("radii: 61 for 60 points of this rank; give one for each"));
  // The index is as good as before.
  EXPECT_EQ(60u, index.knn_self(2).queries());
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, SelfSearchesAreTheSameOnAllRanks) {
  if (rank_count() == 1) GTEST_SKIP() << "one rank is like itself";
  const PointSet points = some_points(30);
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view());
  expect_said(said_by([&] { index.knn_self(is_last() ? 3 : 2); }), 2,
              of_last_rank("k and options differ from those of rank 0; they must be the same"));
  ShardSearchOptions options;
  options.exclude_self = is_last();
  expect_said(said_by([&] { index.knn_self(2, options); }), 2,
              of_last_rank("k and options differ from those of rank 0; they must be the same"));
  expect_said(said_by([&] { index.count_self(is_last() ? 0.5 : 0.25); }), 2,
              of_last_rank("radii differ from those of rank 0; they must be the same"));
  // Other searches may differ.
  EXPECT_EQ(is_last() ? 3u : 2u, index.knn(points.view(), is_last() ? 3 : 2).k());
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, TooLittleMemoryOnOneRankStopsAll) {
  const PointSet points = some_points(30);
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view());
  const std::uint32_t k = is_last() ? std::numeric_limits<std::uint32_t>::max() : 3;
  std::vector<float> many(3 * 100'000, 0.5f);
  const PointView queries = is_last() ? PointView(many, 3) : points.view();
  EXPECT_EQ(6, said_by([&] { index.knn(queries, k); }).code);
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, ACallbackOfOneRankStopsAll) {
  const PointSet points = some_points(2000);
  const auto stop = [](const Progress&) { return !is_last(); };
  EXPECT_EQ(130, said_by([&] { DistributedIndex::build(MPI_COMM_WORLD, points.view(), {.progress = stop}); }).code);
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view());
  ShardSearchOptions options;
  options.progress = stop;
  EXPECT_EQ(130, said_by([&] { index.knn(points.view(), 3, options); }).code);
  EXPECT_EQ(130, said_by([&] { index.knn_self(3, options); }).code);
  EXPECT_FALSE(failed_on_any_rank());
}

/// What is not kith's goes on where it was thrown.
TEST(RankErrors, ForeignExceptionsAreALostPeerToOthers) {
  const PointSet points = some_points(2000);
  const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view());
  ShardSearchOptions options;
  options.progress = [](const Progress&) -> bool {
    if (is_last()) throw std::runtime_error("the user's own");
    return true;
  };
  if (is_last()) {
    EXPECT_THROW(index.knn(points.view(), 3, options), std::runtime_error);
  } else {
    expect_said(said_by([&] { index.knn(points.view(), 3, options); }), 8, of_last_rank("the user's own"));
  }
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(RankErrors, EveryTypeArrivesAsItself) {
  const mpi::Communicator ranks(MPI_COMM_WORLD);
  const auto expect_code = [&](int code, const std::function<void()>& fail) {
    const Said said = said_by([&] {
      ranks.agree([&] {
        if (is_last()) fail();
      });
    });
    EXPECT_EQ(code, said.code) << said.text;
  };
  expect_code(2, [] { throw UsageError("usage"); });
  expect_code(3, [] { throw BadData("data"); });
  expect_code(3, [] { throw BadRow("points", 3, {}, "is NaN"); });
  expect_code(4, [] { throw CorruptFile("file"); });
  expect_code(5, [] { throw IoError("disk"); });
  expect_code(6, [] { throw OutOfMemory("memory"); });
  expect_code(6, [] { throw std::bad_alloc(); });
  expect_code(6, [] { throw std::length_error("long"); });
  expect_code(7, [] { throw DeviceError("GPU"); });
  expect_code(8, [] { throw LostPeer("peer"); });
  expect_code(130, [] { throw Interrupted(); });
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(Communicator, CarriesMessagesInPieces) {
  const mpi::Communicator ranks(MPI_COMM_WORLD);
  const int size = ranks.size(), rank = ranks.rank();
  const auto message = [](int from, int to, std::size_t bytes) {
    shards::Bytes made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      made[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(from * 13 + to));
    }
    return made;
  };
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{1} << 30}) {
    mpi::largest_piece() = piece;
    for (const std::size_t bytes : {0u, 1u, 2u, 5u, 63u, 64u, 65u, 1000u}) {
      if (bytes > 20 * piece) continue;  // of many messages, each waits for a core where ranks are more
      const mpi::Incoming incoming = ranks.exchange([&] {
        mpi::Outgoing outgoing = ranks.outgoing();
        outgoing.is_any = rank == 0;
        for (int to = 0; to < size; ++to) {
          outgoing.to[static_cast<std::size_t>(to)] = message(rank, to, (to + rank) % 3 == 1 ? 0 : bytes);
        }
        return outgoing;
      });
      EXPECT_TRUE(incoming.is_any);
      for (int from = 0; from < size; ++from) {
        EXPECT_EQ(message(from, rank, (from + rank) % 3 == 1 ? 0 : bytes),
                  incoming.from[static_cast<std::size_t>(from)]);
      }
      const auto gathered = ranks.gather([&] { return message(rank, 0, bytes * static_cast<std::size_t>(rank % 3)); });
      for (int from = 0; from < size; ++from) {
        EXPECT_EQ(message(from, 0, bytes * static_cast<std::size_t>(from % 3)),
                  gathered[static_cast<std::size_t>(from)]);
      }
      const auto sums =
          ranks.sum(bytes, [&] { return std::vector<std::uint64_t>(bytes, static_cast<std::uint64_t>(rank)); });
      EXPECT_EQ(std::vector<std::uint64_t>(bytes, static_cast<std::uint64_t>(size * (size - 1) / 2)), sums);
    }
  }
  mpi::largest_piece() = std::size_t{1} << 30;
  EXPECT_FALSE(failed_on_any_rank());
}

TEST(Communicator, SumsStopIfARankFails) {
  const mpi::Communicator ranks(MPI_COMM_WORLD);
  const Said said = said_by([&] {
    ranks.sum(5, [&]() -> std::vector<std::uint64_t> {
      if (is_last()) throw BadData("no counts");
      return std::vector<std::uint64_t>(5, 1);
    });
  });
  expect_said(said, 3, of_last_rank("no counts"));
  EXPECT_FALSE(failed_on_any_rank());
}

}  // namespace
}  // namespace kith::test
