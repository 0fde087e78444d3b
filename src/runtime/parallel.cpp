// See parallel.hpp. Tasks are handed out by a shared counter, so threads that finish early take more.
#include "runtime/parallel.hpp"

#include "runtime/progress_meter.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#if defined(__SANITIZE_THREAD__)
#include <thread>
#include <vector>
#endif

namespace kith::runtime {
namespace {

/// Leaves a task after another thread has failed; never seen outside this file.
struct StoppedElsewhere {};

std::atomic<bool> pool_started{false};
std::atomic<bool> pool_lost{false};

void note_child_of_fork() {
  if (pool_started.load(std::memory_order_relaxed)) pool_lost.store(true, std::memory_order_relaxed);
}

void watch_for_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, note_child_of_fork);
  (void)registered;
}

#if defined(__SANITIZE_THREAD__)
// The thread sanitizer does not see how libgomp synchronises and would report races that are none.
template <typename Work>
void run_on_threads(int threads, const Work& work) {
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
}
#else
template <typename Work>
void run_on_threads(int threads, const Work& work) {
#pragma omp parallel num_threads(threads)
  work(omp_get_thread_num());
}
#endif

}  // namespace

bool forked_after_threads() { return pool_lost.load(std::memory_order_relaxed); }

int resolve_threads(int threads) {
  if (forked_after_threads()) return 1;
  if (threads > 0) return std::min(threads, 1024);
  return std::max(1, omp_get_num_procs());
}

void parallel_for_workers(std::uint64_t count, const ParallelOptions& options,
                          const std::function<void(std::uint64_t, Worker&)>& task) {
  const std::uint64_t total = options.total_units ? options.total_units : count * options.units_per_task;
  ProgressMeter meter(options.progress, options.stage, total);
  const int threads =
      static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(resolve_threads(options.threads)), count));

  std::atomic<std::uint64_t> next{0};
  // Thousandths of tasks that are done, so that a long task shows that it moves.
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_lock;

  const auto work = [&](int thread) {
    std::uint64_t counted = 0;  // of the task at hand
    const std::function<void(double)> checkpoint = [&, thread](double share) {
      if (stop.load(std::memory_order_relaxed)) throw StoppedElsewhere{};
      const auto now = std::max(counted, static_cast<std::uint64_t>(1000 * std::clamp(share, 0.0, 1.0)));
      const std::uint64_t all = done.fetch_add(now - counted, std::memory_order_relaxed) + now - counted;
      counted = now;
      if (thread != 0) return;  // one thread reports, so the callback is never called twice at once
      const double units = static_cast<double>(all) / 1000 * static_cast<double>(options.units_per_task);
      meter.report(std::min(static_cast<std::uint64_t>(units), total));
    };
    Worker worker(thread, checkpoint);
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= count) break;
        task(i, worker);
        worker.checkpoint(1);
        counted = 0;
      }
    } catch (const StoppedElsewhere&) {
      // the thread that asked for the stop holds the reason
    } catch (...) {
      const std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
      stop.store(true, std::memory_order_relaxed);
    }
  };

  if (threads <= 1) {
    work(0);
  } else {
    watch_for_forks();
    pool_started.store(true, std::memory_order_relaxed);
    run_on_threads(threads, work);
  }
  if (failure) std::rethrow_exception(failure);
  meter.finish();
}

void parallel_for(std::uint64_t count, const ParallelOptions& options, const std::function<void(std::uint64_t)>& task) {
  parallel_for_workers(count, options, [&task](std::uint64_t i, Worker&) { task(i); });
}

}  // namespace kith::runtime
