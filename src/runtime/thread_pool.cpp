// See thread_pool.hpp. Helpers wait on a condition variable. OpenMP's threads would spin after each loop, for
// milliseconds unless environment variables forbid it, which a library cannot set for the process that loads it.
#include "runtime/thread_pool.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace kith::runtime {
namespace {

std::atomic<bool> pool_started{false};
std::atomic<bool> pool_lost{false};

void note_child_of_fork() {
  if (pool_started.load(std::memory_order_relaxed)) pool_lost.store(true, std::memory_order_relaxed);
}

/// Waits are bounded, for a time that does not matter: the unbounded wait of std::condition_variable is a symbol of
/// libstdc++ 12, and without it wheels run where the library is older.
constexpr std::chrono::hours kLong{1};

/// Signals are for the threads of the program, which may wait for one in a system call.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

bool forked_after_threads() { return pool_lost.load(std::memory_order_relaxed); }

class ThreadPool {
 public:
  /// Never destroyed: its threads sleep until the process ends.
  static ThreadPool& shared() {
    static ThreadPool* const pool = new ThreadPool;
    return *pool;
  }

  void call(Crew& crew, int helpers) {
    {
      const std::lock_guard guard(mutex_);
      start_threads(helpers);
      helpers = std::min(helpers, threads_);
      if (helpers == 0) return;
      crew.called_ = helpers;
      waiting_.push_back(&crew);
    }
    for (int i = 0; i < helpers; ++i) wake_.notify_one();
  }

  void dismiss(Crew& crew, const std::function<void()>& while_waiting) {
    std::unique_lock lock(mutex_);
    if (crew.called_ > 0) {
      crew.called_ = 0;
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &crew));
    }
    while (crew.running_ > 0) {
      if (!while_waiting) {
        done_.wait_for(lock, kLong);
      } else if (done_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout) {
        lock.unlock();
        while_waiting();
        lock.lock();
      }
    }
  }

 private:
  ThreadPool() {
    pthread_atfork(nullptr, nullptr, note_child_of_fork);
    // The code that the threads run must stay, even if a program unloads the library.
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&note_child_of_fork), &info) != 0 && info.dli_fname != nullptr) {
      dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
  }

  void start_threads(int wanted) {
    if (threads_ >= wanted) return;
    const AllSignalsBlocked blocked;  // new threads inherit the mask
    pool_started.store(true, std::memory_order_relaxed);
    try {
      for (; threads_ < wanted; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      // the process may not have more threads: those that there are do the work
    }
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (waiting_.empty()) wake_.wait_for(lock, kLong);
      Crew& crew = *waiting_.front();
      const int number = ++crew.begun_;
      ++crew.running_;
      if (--crew.called_ == 0) waiting_.pop_front();
      lock.unlock();
      crew.work_(number);
      lock.lock();
      if (--crew.running_ == 0) done_.notify_all();  // the crew's memory may be gone from here on
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;  ///< helpers: a crew waits
  std::condition_variable done_;  ///< callers: a crew's last helper is done
  std::deque<Crew*> waiting_;     ///< crews that may still get helpers
  int threads_ = 0;
};

void Crew::call(int helpers) {
  if (helpers <= 0) return;
  was_called_ = true;
  ThreadPool::shared().call(*this, helpers);
}

void Crew::dismiss(const std::function<void()>& while_waiting) {
  if (was_called_) ThreadPool::shared().dismiss(*this, while_waiting);
}

}  // namespace kith::runtime
