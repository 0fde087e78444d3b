// See progress_meter.hpp.
#include "runtime/progress_meter.hpp"

#include "runtime/loop_stop.hpp"

#include <atomic>
#include <utility>

namespace kith::runtime {
namespace {

constexpr std::chrono::milliseconds kBetweenReports{20};

thread_local Watched* watched = nullptr;
thread_local const Watched* asked = nullptr;  ///< not to be called again: its callback runs
thread_local const std::atomic<bool>* loop_stop = nullptr;
thread_local std::uint64_t looks = 0;

/// Calls the callback. The watcher of this thread is not called meanwhile, so a callback may itself do work that looks
/// for stops.
bool goes_on(const ProgressCallback& callback, const Progress& progress) {
  struct Asking {
    const Watched* before = std::exchange(asked, watched);
    ~Asking() { asked = before; }
  };
  const Asking asking;
  return callback(progress);
}

const ProgressCallback* usable(const ProgressCallback* callback) {
  return callback != nullptr && *callback ? callback : nullptr;
}

}  // namespace

LoopStop::LoopStop(const std::atomic<bool>* flag) : outer_(loop_stop) { loop_stop = flag; }
LoopStop::~LoopStop() { loop_stop = outer_; }

Watched::Watched(const ProgressCallback* callback, std::string_view stage) : callback_(usable(callback)) {
  if (callback_ == nullptr) return;
  stage_ = stage;
  outer_ = watched;
  watched = this;
}

Watched::~Watched() {
  if (callback_ != nullptr) watched = outer_;
}

void look_for_stop() {
  ++looks;
  if (loop_stop != nullptr && loop_stop->load(std::memory_order_relaxed)) throw LoopStopped{};
  if (watched == nullptr || watched == asked) return;
  const auto now = Watched::Clock::now();
  if (now - watched->last_ < kBetweenReports) return;
  watched->last_ = now;
  const Progress progress{watched->stage_, watched->done_, watched->total_};
  if (!goes_on(*watched->callback_, progress)) throw Interrupted();
}

std::uint64_t looks_for_stop() { return looks; }

ProgressMeter::ProgressMeter(const ProgressCallback* callback, std::string_view stage, std::uint64_t total)
    : callback_(usable(callback)), stage_(stage), total_(total) {}

void ProgressMeter::report(std::uint64_t done) {
  ++looks;
  if (callback_ == nullptr) return;
  note(done);
  // Meters of one callback share its rate, so that many short stages do not report more often than one long one.
  auto& last = is_on_watch() ? watched->last_ : last_;
  const auto now = std::chrono::steady_clock::now();
  if (now - last < kBetweenReports) return;
  last = now;
  call(done);
}

void ProgressMeter::finish() {
  if (callback_ == nullptr) return;
  note(total_);
  call(total_);
}

bool ProgressMeter::is_on_watch() const { return watched != nullptr && watched->callback_ == callback_; }

void ProgressMeter::note(std::uint64_t done) {
  for (Watched* of = watched; of != nullptr; of = of->outer_) {
    if (of->callback_ != callback_) continue;
    of->stage_ = stage_;
    of->done_ = done;
    of->total_ = total_;
    return;
  }
}

void ProgressMeter::call(std::uint64_t done) {
  if (!goes_on(*callback_, {stage_, done, total_})) throw Interrupted();
}

}  // namespace kith::runtime
