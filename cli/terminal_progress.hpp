// A progress bar on standard error, for people who wait; also where Ctrl-C reaches the work that runs.
#pragma once

#include <kith/progress.hpp>

#include <chrono>
#include <string>

namespace kith::cli {

/// Draws only if standard error is a terminal, TERM is not "dumb", NO_COLOR is not set and the work is not quiet; the
/// bar appears after a moment, so that short work stays silent. Erased at the end.
class TerminalProgress {
 public:
  explicit TerminalProgress(bool quiet);
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  /// To pass to the library. Says "stop" after an interrupt, whether anything is drawn or not. Must not outlive this.
  ProgressCallback callback();

  /// Removes the bar before something else is written to the terminal.
  void erase() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  void show(const Progress& progress);

  bool visible_ = false;  // whether a bar may be drawn at all
  bool drawn_ = false;    // whether one stands on the terminal now
  std::string stage_;
  Clock::time_point stage_start_;
  Clock::time_point last_drawn_;
};

/// The text of the bar, e.g. "searching [######------]  50%  1.20 M/s  0:12 left". Without a total: what is done so
/// far.
std::string progress_line(const Progress& progress, double seconds);

}  // namespace kith::cli
