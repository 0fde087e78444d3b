// Threads that sleep until a loop calls them: one pool for the whole process, which never spins.
#pragma once

#include <functional>

namespace kith::runtime {

/// The threads that work on one loop: the caller, and those of the pool that it called and that came in time. A loop
/// waits only for helpers that have begun, so on a busy machine it never waits for a thread that does not get a core.
class Crew {
 public:
  /// `work(number)` is run by each helper once, numbers from 1 on. It must not throw, and returns when nothing is left.
  explicit Crew(const std::function<void(int)>& work) : work_(work) {}
  /// Waits for the helpers that have begun.
  ~Crew() { dismiss({}); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Wakes up to `helpers` threads of the pool, started when they are first needed. Fewer come if the process may not
  /// have more threads. To be called once at most.
  void call(int helpers);
  /// No helper begins any more; returns when those that have begun are done. `while_waiting` (may be empty) is called
  /// every 20 ms meanwhile; it must not throw.
  void dismiss(const std::function<void()>& while_waiting);

 private:
  friend class ThreadPool;

  const std::function<void(int)>& work_;
  bool was_called_ = false;
  // Guarded by the pool's mutex.
  int called_ = 0;   ///< who may still begin
  int begun_ = 0;    ///< how many have begun so far
  int running_ = 0;  ///< how many of these are not done
};

/// True in a process that was forked after the pool had started threads: they did not survive the fork.
bool forked_after_threads();

}  // namespace kith::runtime
