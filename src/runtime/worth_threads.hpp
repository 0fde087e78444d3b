// How many threads a piece of work is worth: the one place that decides it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith::runtime {

/// What a thread must have to do before waking it pays. To wake one takes the caller a system call of some
/// microseconds, and some 50 us until it runs on another core.
inline constexpr double kNanosecondsPerThread = 100'000;

/// Threads for `tasks` tasks that take one thread about `nanoseconds_per_task` each: at least 1, at most `threads`.
inline int threads_worth(int threads, std::uint64_t tasks, double nanoseconds_per_task) {
  const double shares = static_cast<double>(tasks) * nanoseconds_per_task / kNanosecondsPerThread;
  const double most = std::min({static_cast<double>(threads), static_cast<double>(tasks), shares});
  return std::max(1, static_cast<int>(most));
}

}  // namespace kith::runtime
