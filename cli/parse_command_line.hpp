// Turns the words after "kith NAME" into calls of the command's flags. The only file that knows CLI11.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace kith::cli {

/// Calls `take` of each flag and argument that was given. Returns false if help was asked for instead. Throws
/// UsageError with a suggestion for what cannot be understood.
bool parse_words(const Command& command, const std::vector<std::string>& words);

}  // namespace kith::cli
