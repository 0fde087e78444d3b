// Threads for everything that runs on the CPU: one loop over tasks, with exceptions and cancellation carried out of it.
#pragma once

#include <kith/progress.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace kith::runtime {

/// What a caller's `threads` means here: 0 takes all cores; at least 1. In a child forked after the pool was used,
/// always 1, because the pool's threads did not survive the fork.
int resolve_threads(int threads);

/// True in a process that was forked after kith had started threads.
bool forked_after_threads();

/// How a loop over tasks runs and reports.
struct ParallelOptions {
  int threads = 0;  ///< 0 = all cores
  std::string_view stage = "working";
  const ProgressCallback* progress = nullptr;
  /// Units of one task for the report; the last task may be smaller, `total_units` caps the sum.
  std::uint64_t units_per_task = 1;
  std::uint64_t total_units = 0;  ///< 0: count * units_per_task
};

/// Runs `task(i)` for every i in [0, count) on up to `threads` threads, in no particular order. The first exception is
/// rethrown here after all threads have stopped taking tasks. With a progress callback the calling thread reports
/// `units_per_task` done per task and throws Interrupted when it is told to stop.
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

}  // namespace kith::runtime
