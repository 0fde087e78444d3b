// The guide that "kith" prints, and the help of each command.
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

}  // namespace kith::cli
