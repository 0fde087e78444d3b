// What commands say of themselves: the guide that "kith" prints, help, manual pages and completion of shells.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace kith::cli {

/// Five lines for a newcomer to type, one after the other.
std::vector<Example> first_steps();

/// What kith is and what to try first.
std::string guide(const std::vector<Command>& commands);

/// Usage, description, arguments, flags and examples of one command.
std::string help_of(const Command& command);

/// kith(1): what kith is, its commands, exit codes.
std::string manual_page(const std::vector<Command>& commands);

/// kith-NAME(1): usage, description, arguments, flags and examples of one command.
std::string manual_page_of(const Command& command);

/// A script for bash (4 or newer) to source.
std::string bash_completion(const std::vector<Command>& commands);

/// A script for zsh to load as the function _kith.
std::string zsh_completion(const std::vector<Command>& commands);

}  // namespace kith::cli
