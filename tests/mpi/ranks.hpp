// What tests of several ranks share: all of them run the same cases, and each has its part of the points.
#pragma once

#include <kith/point_view.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace kith::test {

inline int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int rank_count() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// Whether the test has failed on some rank: then all leave it, and none waits for another.
inline bool failed_on_any_rank() {
  int failed = testing::Test::HasFailure() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed != 0;
}

/// The seeds of a test, `count` of them several times: other ones for each number of ranks.
inline std::vector<std::uint64_t> rank_seeds(std::uint64_t first, std::uint64_t count) {
  count *= rank_count() > 4 ? 2 : 4;
  std::vector<std::uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), first + count * static_cast<std::uint64_t>(rank_count()));
  return seeds;
}

/// Rows of an array, one rank behind the other; some ranks have none. The same on all ranks for the same draws.
class RankParts {
 public:
  RankParts(std::uint64_t rows, std::mt19937_64& random) {
    const auto ranks = static_cast<std::size_t>(rank_count());
    const std::uint64_t way = random() % 4;
    for (std::size_t r = 1; r < ranks; ++r) {
      std::uint64_t start = r * rows / ranks;                  // alike
      if (way == 1) start = random() % (rows + 1);             // anyhow
      if (way == 2) start = random() % 2 == 0 ? 0 : rows;      // most have none
      if (way == 3) start = std::min<std::uint64_t>(r, rows);  // one each, the rest on the last
      starts_.push_back(start);
    }
    std::sort(starts_.begin(), starts_.end());
    starts_.insert(starts_.begin(), 0);
    starts_.push_back(rows);
  }

  std::uint64_t first() const { return starts_[static_cast<std::size_t>(own_rank())]; }
  std::uint64_t count() const { return starts_[static_cast<std::size_t>(own_rank()) + 1] - first(); }
  /// Those of this rank. One without rows has not even their type, if another one has some.
  PointView of(PointView all) const { return count() == 0 && !all.empty() ? PointView() : all.slice(first(), count()); }

 private:
  std::vector<std::uint64_t> starts_;
};

}  // namespace kith::test
