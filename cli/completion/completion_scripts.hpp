// Shell completion, written from the descriptions of the commands.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace kith::cli {

/// A script for bash (4 or newer) to source.
std::string bash_completion(const std::vector<Command>& commands);

/// A script for zsh to load as the function _kith.
std::string zsh_completion(const std::vector<Command>& commands);

}  // namespace kith::cli
