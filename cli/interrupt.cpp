// See interrupt.hpp.
#include "interrupt.hpp"

#include <kith/error.hpp>

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace kith::cli {
namespace {

constexpr int kExitInterrupted = 130;

std::atomic<bool> asked_to_stop{false};
std::atomic<bool> exit_at_once{false};
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers may use lock-free atomics only");

void note_signal(int) {
  if (exit_at_once.load(std::memory_order_relaxed)) {
    constexpr char kMessage[] = "kith: interrupted\n";
    [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    _exit(kExitInterrupted);
  }
  asked_to_stop.store(true, std::memory_order_relaxed);
}

}  // namespace

void watch_for_interrupts() {
  struct sigaction note {};
  note.sa_handler = note_signal;
  sigemptyset(&note.sa_mask);
  note.sa_flags = 0;  // no SA_RESTART: a read that waits for a pipe must wake up
  // Also where SIGINT was ignored, as shells do for background jobs: who sends it then, means it.
  for (const int signal_number : {SIGINT, SIGTERM}) sigaction(signal_number, &note, nullptr);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &note, nullptr);  // nohup ignores it, and work goes on

  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) sigaction(signal_number, &ignore, nullptr);
}

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }

std::string& left_by_interrupt() {
  static std::string text;
  return text;
}

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

ExitOnInterrupt::ExitOnInterrupt(bool active) {
  if (!active) return;
  exit_at_once.store(true);
  stop_if_interrupted();  // a signal between the last check and the line above
}

ExitOnInterrupt::~ExitOnInterrupt() { exit_at_once.store(false); }

}  // namespace kith::cli
