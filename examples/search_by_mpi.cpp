// Every rank has its own points and queries; the neighbours of a query may be on any of them. Run it by
//   mpirun -n 4 example_search_by_mpi
#include <kith/apps/generate.hpp>
#include <kith/mpi/distributed_index.hpp>
#include <kith/mpi/gather.hpp>

#include <mpi.h>

#include <cstdint>
#include <cstdio>

namespace {

int search() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto seed = static_cast<std::uint64_t>(rank);
  const kith::PointSet points = kith::apps::generate({.points = 5000, .dims = 3, .seed = seed}).points;
  const kith::PointSet queries = kith::apps::generate({.points = 100, .dims = 3, .seed = 1000 + seed}).points;

  // Points move once, to the rank of their shard. Their numbers stay: those of this rank begin at first_number().
  const auto index = kith::mpi::DistributedIndex::build(MPI_COMM_WORLD, points.view());
  const kith::WideNeighbors near = index.knn(queries.view(), 8);
  std::printf("rank %d has the points from number %llu on; its first query is nearest to point %llu\n", rank,
              static_cast<unsigned long long>(index.first_number()), static_cast<unsigned long long>(near.index(0, 0)));

  // The points themselves: each rank gets the rows of its own, which find themselves first.
  const kith::WideNeighbors own = index.knn_self(8);
  for (std::uint64_t i = 0; i < own.queries(); ++i) {
    if (own.index(i, 0) != index.first_number() + i || own.distance(i, 0) != 0) return 1;
  }

  // One rank has all answers, to write them into one file, say.
  const kith::WideNeighbors all = kith::mpi::gather(MPI_COMM_WORLD, near);
  if (rank == 0) {
    std::printf("%llu queries on %d ranks\n", static_cast<unsigned long long>(all.queries()), index.ranks());
    if (all.queries() != 100 * static_cast<std::uint64_t>(index.ranks())) return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  const int code = search();  // its index is gone before MPI ends
  MPI_Finalize();
  return code;
}
