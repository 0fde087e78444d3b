// Results of all ranks on one rank, and work that all ranks must get done: for programs that write one file.
#pragma once

#include <kith/export.hpp>
#include <kith/neighbors.hpp>

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace kith::mpi::inline v0 {

/// Collective. Rank 0 gets the rows of all ranks, those of rank 0 first; the others get none. `own` has the same k and
/// type on all ranks. Throws OutOfMemory on all ranks if they do not fit into the memory of rank 0.
KITH_EXPORT WideNeighbors gather(MPI_Comm ranks, const WideNeighbors& own);
KITH_EXPORT WideNeighborLists gather(MPI_Comm ranks, const WideNeighborLists& own);
KITH_EXPORT std::vector<std::uint64_t> gather(MPI_Comm ranks, const std::vector<std::uint64_t>& own);

/// Collective. Runs `work` on every rank. If it throws on some, throws the same type of error on all of them, as
/// DistributedIndex does.
KITH_EXPORT void agree(MPI_Comm ranks, const std::function<void()>& work);

}  // namespace kith::mpi::inline v0
