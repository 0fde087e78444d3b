// Calls a progress callback at a bearable rate and turns its "stop" into Interrupted.
#pragma once

#include <kith/error.hpp>
#include <kith/progress.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace kith::runtime {

/// One stage of work, reported from one thread. A null or empty callback costs one branch per call.
class ProgressMeter {
 public:
  ProgressMeter(const ProgressCallback* callback, std::string_view stage, std::uint64_t total)
      : callback_(callback != nullptr && *callback ? callback : nullptr), stage_(stage), total_(total) {}

  /// Throws Interrupted if the callback says stop.
  void report(std::uint64_t done) {
    if (callback_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(20)) return;
    last_ = now;
    call(done);
  }

  /// The last report of the stage, never left out.
  void finish() {
    if (callback_ != nullptr) call(total_);
  }

 private:
  void call(std::uint64_t done) {
    if (!(*callback_)(Progress{stage_, done, total_})) throw Interrupted();
  }

  const ProgressCallback* callback_;
  std::string_view stage_;
  std::uint64_t total_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace kith::runtime
