// The flag --profile of commands that build or search: which numbers of kith tune they work with.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

namespace kith::cli {

/// Adds the flag after --threads or --device, and to `run` what goes before and after it: the profile is taken,
/// --explain says what it holds, and a note says if it is ignored. To be called when the command is complete; `output`
/// must live as long as its `run`.
void add_profile_flag(Command& command, const OutputFlags& output);

}  // namespace kith::cli
