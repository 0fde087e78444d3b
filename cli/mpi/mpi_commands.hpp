// The commands of kith-mpi: knn, radius and count.
#pragma once

#include "command.hpp"

#include <vector>

namespace kith::cli {

/// For all ranks of MPI_COMM_WORLD, which run the same command.
std::vector<Command> mpi_commands();

}  // namespace kith::cli
