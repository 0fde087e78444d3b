// Removes points that are equal to one that is kept, whichever ranks have them.
#pragma once

#include <kith/export.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace kith::mpi::inline v0 {

struct DedupeOptions {
  /// Leave out points with NaN or infinity instead of throwing.
  bool skip_nonfinite = false;
  /// Threads on the CPU; 0: the ranks of a machine share its cores.
  int threads = 0;
  ProgressCallback progress = {};
};

/// What became of the points of this rank. Points are numbered by their rows in the arrays of all ranks, one behind the
/// other.
struct Deduped {
  /// The rows of this rank that are kept, ascending, counted from its first one.
  std::vector<std::uint64_t> kept;
  /// For each row of this rank the number of the point that stands for it: the lowest one that is equal to it, itself
  /// if it is kept. Of a row that was left out the number of points of all ranks.
  std::vector<std::uint64_t> stands_for;
  /// Points of all ranks that were left out.
  std::uint64_t skipped = 0;
};

/// Collective. Keeps what apps::dedupe without a tolerance keeps of the points of all ranks: of equal points (-0 equals
/// +0) the one with the lowest number. Each point that its own rank would keep moves once, to a rank that its
/// coordinates choose, and the answer comes back: 8 bytes. `skip_nonfinite` is the same on all ranks. Throws as
/// apps::dedupe does, on all ranks alike (kith/mpi/distributed_index.hpp).
KITH_EXPORT Deduped dedupe(MPI_Comm ranks, PointView local, const DedupeOptions& options = {});

}  // namespace kith::mpi::inline v0
