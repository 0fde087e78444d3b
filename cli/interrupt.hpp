// Ctrl-C, SIGTERM and a closed terminal: noticed at once, obeyed where nothing is left half done.
#pragma once

#include <string>

namespace kith::cli {

/// Installs the handlers, and ignores SIGPIPE and SIGXFSZ so that a closed pipe or a file that grows beyond the limit
/// is an error with a message.
void watch_for_interrupts();

/// True once the user or the system asked to stop.
bool interrupted();

/// What an interrupted command leaves behind, for its message: "nothing was written", unless the command says something
/// else.
std::string& left_by_interrupt();

/// Throws Interrupted if `interrupted()`.
void stop_if_interrupted();

/// While one of these lives, a signal ends the process at once with 130. For writing to standard output: a write to a
/// pipe without a reader would wait for ever, and there is no temporary file to remove.
class ExitOnInterrupt {
 public:
  explicit ExitOnInterrupt(bool active);
  ~ExitOnInterrupt();
  ExitOnInterrupt(const ExitOnInterrupt&) = delete;
  ExitOnInterrupt& operator=(const ExitOnInterrupt&) = delete;
};

}  // namespace kith::cli
