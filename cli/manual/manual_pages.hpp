// Manual pages in roff for man(1), written from the descriptions of the commands.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace kith::cli {

/// kith(1): what kith is, its commands, exit codes.
std::string manual_page(const std::vector<Command>& commands);

/// kith-NAME(1): usage, description, arguments, flags and examples of one command.
std::string manual_page_of(const Command& command);

}  // namespace kith::cli
