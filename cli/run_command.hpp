// From the words of the command line to an exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kith::cli {

/// Runs `kith WORDS…`. Every error ends here as one line "kith: …" on standard error and the exit code of its kind.
int run_command_line(const std::vector<std::string>& words) noexcept;

/// What `work` returns. Every error ends here as one line "PROGRAM: …" on standard error, unless `says` is false, and
/// the exit code of its kind. `command` is the one that is run, for advice.
int run_and_report(const std::string& command, bool says, const std::function<int()>& work) noexcept;

}  // namespace kith::cli
