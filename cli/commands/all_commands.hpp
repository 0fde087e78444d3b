// Every command of kith, one file each beside this one.
#pragma once

#include "command.hpp"

#include <string>
#include <vector>

namespace kith::cli {

Command generate_command();
Command info_command();
Command view_command();
Command build_command();
Command plan_command();
Command knn_command();
Command radius_command();
Command box_command();
Command classify_command();
Command dedupe_command();
Command transform_command();
Command downsample_command();
Command outliers_command();
Command distance_command();
Command normals_command();
Command register_command();
Command track_command();
Command select_command();
Command convert_command();
Command export_command();
Command verify_command();
Command bench_command();
Command tune_command();
Command completion_command();
Command man_command();
Command help_command();

/// In the order in which a newcomer meets them.
std::vector<Command> all_commands();

/// The command of this name; otherwise a UsageError of the command `asker` with a suggestion.
const Command& command_named(const std::vector<Command>& commands, const std::string& name, const std::string& asker);

}  // namespace kith::cli
