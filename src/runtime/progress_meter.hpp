// Calls a progress callback at a bearable rate and turns its "stop" into Interrupted.
#pragma once

#include <kith/error.hpp>
#include <kith/progress.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::runtime {

/// While it lives, `callback` watches the work of this thread: `look_for_stop` asks it, wherever the work is, and
/// passes on what the last meter reported, before the first one `stage`. A null or empty callback changes nothing.
class Watched {
 public:
  Watched(const ProgressCallback* callback, std::string_view stage);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  friend class ProgressMeter;
  friend void look_for_stop();
  using Clock = std::chrono::steady_clock;

  const ProgressCallback* callback_;
  Watched* outer_ = nullptr;
  std::string stage_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  Clock::time_point last_{};
};

/// To be called now and then by everything that may take longer than some milliseconds, on any thread: throws
/// Interrupted if the callback that watches this thread says stop, and leaves the task of a parallel loop that has
/// stopped. A branch or two without a watcher, else at most a look at the clock.
void look_for_stop();

/// How often this thread has looked for a stop or reported: what tests count instead of time.
std::uint64_t looks_for_stop();

/// One stage of work, reported from one thread. A null or empty callback costs one branch per call.
class ProgressMeter {
 public:
  ProgressMeter(const ProgressCallback* callback, std::string_view stage, std::uint64_t total);

  /// Throws Interrupted if the callback says stop.
  void report(std::uint64_t done);
  /// The last report of the stage, never left out.
  void finish();
  bool is_watched() const { return callback_ != nullptr; }

 private:
  bool is_on_watch() const;
  void note(std::uint64_t done);  ///< for `look_for_stop`
  void call(std::uint64_t done);

  const ProgressCallback* callback_;
  std::string_view stage_;
  std::uint64_t total_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace kith::runtime
