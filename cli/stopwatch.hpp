// How long work takes: between two moments, or in one stage by its progress reports.
#pragma once

#include <kith/progress.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace kith::cli {

/// Runs from its construction.
class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds up the time from the first report of the stage to its last one, each time it runs.
class StageClock {
 public:
  /// Reports are passed on to `next`.
  StageClock(std::string stage, ProgressCallback next) : stage_(std::move(stage)), next_(std::move(next)) {}
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  /// To pass to the library. Must not outlive this.
  ProgressCallback callback() {
    return [this](const Progress& progress) {
      note(progress);
      return next_(progress);
    };
  }
  double milliseconds() const { return milliseconds_; }

 private:
  void note(const Progress& progress) {
    if (progress.stage != stage_) return;
    if (!running_) running_.emplace();
    if (progress.done < progress.total) return;
    milliseconds_ += running_->milliseconds();
    running_.reset();
  }

  std::string stage_;
  ProgressCallback next_;
  std::optional<Stopwatch> running_;
  double milliseconds_ = 0;
};

}  // namespace kith::cli
