// Where the time of a build, a load or a search went.
#pragma once

#include <cstdint>

namespace kith::inline v0 {

/// Milliseconds by the clock of the caller's thread: the parts follow each other and add up to the total. Where work on
/// a GPU runs while the host copies, it counts as copying. On the CPU there is only the total.
struct WorkTimes {
  double total_ms = 0;
  double start_ms = 0;     ///< until the GPU was ready for work: in a process that uses it for the first time, long
  double copy_in_ms = 0;   ///< points or queries to the GPU
  double device_ms = 0;    ///< waiting for the GPU to build or search
  double copy_out_ms = 0;  ///< answers to the host
  /// Queries of kNN by brute force on a GPU that were retried, without the filter by tensor cores or by a scan that
  /// needs no room for candidates: where the filter cannot prove enough, or points are in an order made for it.
  std::uint64_t asked_again = 0;
  /// How many distances were measured: by cover trees, their builds and searches; 0 for other engines.
  std::uint64_t evaluations = 0;

  /// What the host did besides: checks, memory, distances and numbers as the caller knows them.
  double host_ms() const { return total_ms - start_ms - copy_in_ms - device_ms - copy_out_ms; }
};

}  // namespace kith::inline v0
