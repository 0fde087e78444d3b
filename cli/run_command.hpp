// From the words of the command line to an exit code.
#pragma once

#include <string>
#include <vector>

namespace kith::cli {

/// Runs `kith WORDS…`. Every error ends here as one line "kith: …" on standard error and the exit code of its kind.
int run_command_line(const std::vector<std::string>& words) noexcept;

}  // namespace kith::cli
