// A program of which one rank is killed in the middle of a search: killed_rank RANK.
#include <kith/apps/generate.hpp>
#include <kith/mpi/distributed_index.hpp>

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** words) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int killed = count > 1 ? std::atoi(words[1]) : 0;
  const kith::PointSet points =
      kith::apps::generate({.points = 1000, .dims = 3, .seed = static_cast<std::uint64_t>(rank)}).points;
  const auto index = kith::mpi::DistributedIndex::build(MPI_COMM_WORLD, points.view(), {.threads = 1});
  std::fprintf(stderr, "rank %d has built its shard\n", rank);
  kith::shards::ShardSearchOptions options;
  options.progress = [&](const kith::Progress& progress) {
    if (rank == killed && progress.done > 0) kill(getpid(), SIGKILL);
    return true;
  };
  index.knn(points.view(), 5, options);
  std::fprintf(stderr, "rank %d has found its neighbours\n", rank);
  MPI_Finalize();
  return 0;
}
