// Starts a program by mpirun, with more ranks than cores if need be.
#pragma once

#include "cli/run_command.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kith::test {

/// What mpirun needs in a container, where ranks may be more than cores: those that wait leave them to others.
inline std::vector<std::string> rank_environment() {
  return {"OMP_NUM_THREADS=1",
          "OMPI_ALLOW_RUN_AS_ROOT=1",
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
          "OMPI_MCA_rmaps_base_oversubscribe=1",
          "OMPI_MCA_hwloc_base_binding_policy=none",
          "OMPI_MCA_mpi_yield_when_idle=1",
          "OMPI_MCA_btl_vader_single_copy_mechanism=none"};
}

/// `mpirun -n RANKS PROGRAM WORDS…`.
inline Outcome run_ranks(int ranks, const std::string& program, const std::vector<std::string>& words) {
  RunningCommand::Settings settings;
  settings.program = KITH_MPIRUN;
  settings.words = {KITH_MPIRUN_RANKS, std::to_string(ranks), program};
  settings.words.insert(settings.words.end(), words.begin(), words.end());
  settings.environment = rank_environment();
  return RunningCommand(settings).finish();
}

}  // namespace kith::test
