// See terminal_progress.hpp.
#include "terminal_progress.hpp"

#include "interrupt.hpp"
#include "readable.hpp"
#include "standard_output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace kith::cli {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(300);
constexpr auto kBetweenFrames = std::chrono::milliseconds(100);
constexpr std::size_t kBarWidth = 24;
constexpr std::string_view kEraseLine = "\r\x1b[2K";

bool terminal_can_animate() {
  if (isatty(STDERR_FILENO) == 0) return false;
  const char* terminal = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !plain && (no_color == nullptr || *no_color == '\0');
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds, 359999.0) + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Columns of the terminal; a line that wraps could not be erased.
std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const Progress& progress, double seconds) {
  const auto done = static_cast<double>(progress.done);
  const double rate = seconds > 0 ? done / seconds : 0;
  if (progress.total == 0) {
    return fmt::format("{} {}  {}/s", progress.stage, readable_quantity(done), readable_quantity(rate));
  }
  const double part = std::min(1.0, done / static_cast<double>(progress.total));
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(kBarWidth));
  std::string line = fmt::format("{} [{}{}] {:3.0f}%", progress.stage, std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '-'), std::min(99.0, part * 100));
  if (rate > 0) {
    line += fmt::format("  {}/s  {} left", readable_quantity(rate), clock_text(seconds * (1 - part) / part));
  }
  return line;
}

TerminalProgress::TerminalProgress(bool quiet) : visible_(!quiet && terminal_can_animate()) {}

TerminalProgress::~TerminalProgress() { erase(); }

ProgressCallback TerminalProgress::callback() {
  return [this](const Progress& progress) {
    if (visible_) show(progress);
    return !interrupted();
  };
}

void TerminalProgress::show(const Progress& progress) {
  const auto now = Clock::now();
  if (progress.stage != stage_) {
    stage_ = progress.stage;
    stage_start_ = now;
  }
  if (now - stage_start_ < kPatience || now - last_drawn_ < kBetweenFrames) return;
  last_drawn_ = now;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - stage_start_).count();
  const std::string line = progress_line(progress, seconds);
  write_to_stderr(fmt::format("{}{}", kEraseLine, line.substr(0, terminal_columns() - 1)));
}

void TerminalProgress::erase() noexcept {
  if (drawn_) write_to_stderr(kEraseLine);
  drawn_ = false;
}

}  // namespace kith::cli
