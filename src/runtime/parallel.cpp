// See parallel.hpp. Tasks are handed out by a shared counter, so threads that finish early take more.
#include "runtime/parallel.hpp"

#include "runtime/loop_stop.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

namespace kith::runtime {
namespace {

/// Set on threads that run a task of a loop with helpers.
thread_local bool is_in_loop = false;

class Loop {
 public:
  using Task = std::function<void(std::uint64_t, Worker&)>;

  Loop(std::uint64_t count, const ParallelOptions& options, const Task& task)
      : count_(count),
        options_(options),
        task_(task),
        total_(options.total_units ? options.total_units : count * options.units_per_task),
        meter_(options.progress, options.stage, total_) {}

  void run() {
    const int threads = count_ < 2 || is_in_loop ? 1 : resolve_threads(options_.threads);
    if (threads == 1 || (options_.nanoseconds_per_task > 0 && worth(threads, count_) == 1)) {
      take_tasks(0, [] {});
    } else {
      run_with_help(threads);
    }
    look_for_stop();  // helpers may have done all tasks
    meter_.finish();
  }

 private:
  int worth(int threads, std::uint64_t tasks) const {
    return threads_worth(threads, tasks, options_.nanoseconds_per_task);
  }

  void run_with_help(int threads) {
    const std::function<void(int)> work = [this](int thread) { guarded([&] { take_tasks(thread, [] {}); }); };
    Crew crew(work);
    bool was_called = options_.nanoseconds_per_task > 0;
    if (was_called) crew.call(worth(threads, count_) - 1);
    // Without an estimate this thread's own tasks show what one takes: it looks after 1, 2, 4, 8, … of them.
    std::uint64_t tasks = 0;
    const auto start = std::chrono::steady_clock::now();
    guarded([&] {
      take_tasks(0, [&] {
        if (was_called || !std::has_single_bit(++tasks)) return;
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
        const int useful = threads_worth(threads, count_ - tasks, taken.count() / static_cast<double>(tasks));
        was_called = useful > 1;
        crew.call(useful - 1);
      });
    });
    crew.dismiss([this] { guarded([this] { report(); }); });
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Runs `work` and keeps what it throws for the caller; the other threads stop then.
  template <typename Work>
  void guarded(Work&& work) {
    const LoopStop stop(&stop_);
    const bool was_in_loop = std::exchange(is_in_loop, true);
    try {
      work();
    } catch (const LoopStopped&) {
      // the thread that asked for the stop holds the reason
    } catch (...) {
      const std::lock_guard guard(failure_lock_);
      if (!failure_) failure_ = std::current_exception();
      stop_.store(true, std::memory_order_relaxed);
    }
    is_in_loop = was_in_loop;
  }

  template <typename After>
  void take_tasks(int thread, After&& after_task) {
    std::uint64_t counted = 0;  // of the task at hand
    const std::function<void(double)> checkpoint = [&, thread](double share) {
      const auto now = std::max(counted, static_cast<std::uint64_t>(1000 * std::clamp(share, 0.0, 1.0)));
      done_.fetch_add(now - counted, std::memory_order_relaxed);
      counted = now;
      if (thread == 0) {  // one thread reports, so the callback is never called twice at once
        report();
      } else {
        look_for_stop();
      }
    };
    Worker worker(thread, checkpoint);
    for (;;) {
      const std::uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_) break;
      task_(i, worker);
      worker.checkpoint(1);
      counted = 0;
      after_task();
    }
  }

  void report() {
    if (!meter_.is_watched()) return look_for_stop();
    if (stop_.load(std::memory_order_relaxed)) throw LoopStopped{};
    const double tasks = static_cast<double>(done_.load(std::memory_order_relaxed)) / 1000;
    const double units = tasks * static_cast<double>(options_.units_per_task);
    meter_.report(std::min(static_cast<std::uint64_t>(units), total_));
  }

  std::uint64_t count_;
  const ParallelOptions& options_;
  const Task& task_;
  std::uint64_t total_;
  ProgressMeter meter_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> done_{0};  ///< thousandths of tasks, so that a long task shows that it moves
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
  std::mutex failure_lock_;
};

}  // namespace

int resolve_threads(int threads) {
  if (forked_after_threads()) return 1;
  if (threads > 0) return std::min(threads, 1024);
  if (omp_in_parallel()) return 1;
  return std::max(1, std::min(omp_get_max_threads(), omp_get_num_procs()));
}

void parallel_for_workers(std::uint64_t count, const ParallelOptions& options,
                          const std::function<void(std::uint64_t, Worker&)>& task) {
  Loop(count, options, task).run();
}

void parallel_for(std::uint64_t count, const ParallelOptions& options, const std::function<void(std::uint64_t)>& task) {
  parallel_for_workers(count, options, [&task](std::uint64_t i, Worker&) { task(i); });
}

}  // namespace kith::runtime
