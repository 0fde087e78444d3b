// Threads for everything that runs on the CPU: one loop over tasks, with exceptions and cancellation carried out of it.
#pragma once

#include "runtime/progress_meter.hpp"
#include "runtime/thread_pool.hpp"

#include <kith/progress.hpp>
#include <kith/tuning.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

namespace kith::runtime {

/// What a caller's `threads` means here; at least 1. 0 takes what OpenMP would take, which OMP_NUM_THREADS and
/// threadpoolctl limit, but not more than the process has cores; 1 inside a parallel region of OpenMP. In a child
/// forked after the pool was used always 1, because the pool's threads did not survive the fork.
int resolve_threads(int threads);

/// How a loop over tasks runs and reports.
struct ParallelOptions {
  int threads = 0;  ///< as for resolve_threads
  std::string_view stage = "working";
  const ProgressCallback* progress = nullptr;
  /// Units of one task for the report; the last task may be smaller, `total_units` caps the sum.
  std::uint64_t units_per_task = 1;
  std::uint64_t total_units = 0;  ///< 0: count * units_per_task
  /// About what a task takes one thread; 0: the first tasks show it. `threads_worth` decides by it how many threads
  /// come. To be given where there are few tasks for each thread and they are long, because until it is known the
  /// caller works alone.
  double nanoseconds_per_task = 0;
};

/// Runs `task(i)` for every i in [0, count) on up to `threads` threads, in no particular order. The first exception is
/// rethrown here after all threads have stopped taking tasks. With a progress callback the calling thread reports
/// `units_per_task` done per task and throws Interrupted when it is told to stop; without one it looks for stops
/// between tasks (`look_for_stop`). Loops inside a task run on its thread alone.
void parallel_for(std::uint64_t count, const ParallelOptions& options, const std::function<void(std::uint64_t)>& task);

/// What a task of `parallel_for_workers` knows of the thread that runs it.
class Worker {
 public:
  /// 0 .. threads - 1, for scratch space per thread.
  int thread() const { return thread_; }
  /// To be called now and then inside long tasks with the share of the task that is done, 0 to 1: reports progress and
  /// leaves the task by an exception when the loop was told to stop.
  void checkpoint(double share) { checkpoint_(share); }

  Worker(int thread, const std::function<void(double)>& checkpoint) : thread_(thread), checkpoint_(checkpoint) {}

 private:
  int thread_;
  const std::function<void(double)>& checkpoint_;
};

/// The same for tasks that are long or need scratch space.
void parallel_for_workers(std::uint64_t count, const ParallelOptions& options,
                          const std::function<void(std::uint64_t, Worker&)>& task);

/// Threads for `tasks` tasks that take one thread about `nanoseconds_per_task` each: at least 1, at most `threads`. A
/// thread must have `thread_nanoseconds` to do before waking it pays: that takes the caller a system call of some
/// microseconds, and some 50 us until it runs on another core.
inline int threads_worth(int threads, std::uint64_t tasks, double nanoseconds_per_task) {
  const double shares =
      static_cast<double>(tasks) * nanoseconds_per_task / static_cast<double>(tuning().thread_nanoseconds);
  const double most = std::min({static_cast<double>(threads), static_cast<double>(tasks), shares});
  return std::max(1, static_cast<int>(most));
}

}  // namespace kith::runtime
