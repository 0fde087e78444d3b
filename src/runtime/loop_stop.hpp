// How the threads of a parallel loop learn from wherever they are that it has stopped. For parallel.cpp.
#pragma once

#include <atomic>

namespace kith::runtime {

/// Leaves a task after another thread has failed or was told to stop; never seen outside the loop.
struct LoopStopped {};

/// While it lives, `look_for_stop` on this thread throws LoopStopped once the flag is set.
class LoopStop {
 public:
  explicit LoopStop(const std::atomic<bool>* flag);
  ~LoopStop();
  LoopStop(const LoopStop&) = delete;
  LoopStop& operator=(const LoopStop&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

}  // namespace kith::runtime
