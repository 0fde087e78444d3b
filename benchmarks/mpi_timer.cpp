// Times kith::mpi: mpirun -n RANKS mpi_timer [POINTS] [K] [RUNS], with one thread for each rank; or one process alone
// with so many threads: mpi_timer --alone THREADS [POINTS] [K] [RUNS]. Prints the shortest times as JSON, in
// milliseconds.
//
// Uniform points of 3 dims (f32), dealt at random, so that nearly all of them move; as many other queries.
#include <kith/apps/generate.hpp>
#include <kith/index.hpp>
#include <kith/mpi/distributed_index.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace {

using kith::mpi::DistributedIndex;

struct Times {
  double build_ms = std::numeric_limits<double>::infinity();
  double knn_ms = build_ms, self_ms = build_ms;
};

/// From the moment that all ranks begin until the last one has ended.
template <typename Work>
void time(double& shortest, const Work& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  work();
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  shortest = std::min(shortest, ms);
}

/// The part of this rank of so many rows, as slices: what is uniform is dealt at random.
kith::PointView part_of(const kith::PointSet& all) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto place = [&](int r) {
    return all.rows() * static_cast<std::uint64_t>(r) / static_cast<std::uint64_t>(ranks);
  };
  return all.view().slice(place(rank), place(rank + 1) - place(rank));
}

}  // namespace

int main(int count, char** words) {
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int next = 1, alone = 0;
  if (count > 2 && std::string(words[1]) == "--alone") alone = std::atoi(words[2]), next = 3;
  const auto number = [&](std::uint64_t otherwise) {
    return next < count ? std::strtoull(words[next++], nullptr, 10) : otherwise;
  };
  const std::uint64_t rows = number(1'000'000);
  const auto k = static_cast<std::uint32_t>(number(8));
  const std::uint64_t runs = number(3);
  const kith::PointSet points = kith::apps::generate({.points = rows, .dims = 3, .seed = 1}).points;
  const kith::PointSet queries = kith::apps::generate({.points = rows, .dims = 3, .seed = 2}).points;
  Times times;
  for (std::uint64_t run = 0; run < runs; ++run) {
    if (alone > 0) {
      std::optional<kith::Index> index;
      time(times.build_ms, [&] { index = kith::Index::build(points.view(), {.threads = alone}); });
      time(times.knn_ms, [&] { index->knn(queries.view(), k, {.threads = alone}); });
      time(times.self_ms, [&] { index->knn_self(k, {.threads = alone}); });
    } else {
      std::optional<DistributedIndex> index;
      kith::shards::ShardSearchOptions options;
      options.threads = 1;
      time(times.build_ms, [&] { index = DistributedIndex::build(MPI_COMM_WORLD, part_of(points), {.threads = 1}); });
      time(times.knn_ms, [&] { index->knn(part_of(queries), k, options); });
      time(times.self_ms, [&] { index->knn_self(k, options); });
    }
  }
  if (rank == 0) {
    std::printf(
        "{\"points\": %llu, \"k\": %u, \"ranks\": %d, \"threads\": %d, \"build_ms\": %.1f, \"knn_ms\": %.1f, "
        "\"knn_self_ms\": %.1f}\n",
        static_cast<unsigned long long>(rows), k, alone > 0 ? 0 : ranks, alone > 0 ? alone : 1, times.build_ms,
        times.knn_ms, times.self_ms);
  }
  MPI_Finalize();
  return 0;
}
