// See all_commands.hpp.
#include "commands/all_commands.hpp"

#include "suggestion.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {

std::vector<Command> all_commands() {
  return {generate_command(),  info_command(),       view_command(),     plan_command(),       build_command(),
          knn_command(),       radius_command(),     box_command(),      classify_command(),   dedupe_command(),
          transform_command(), downsample_command(), outliers_command(), distance_command(),   normals_command(),
          register_command(),  track_command(),      select_command(),   convert_command(),    export_command(),
          verify_command(),    bench_command(),      tune_command(),     completion_command(), man_command(),
          help_command()};
}

const Command& command_named(const std::vector<Command>& commands, const std::string& name, const std::string& asker) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  throw UsageError(fmt::format("{}: there is no command \"{}\"{}", asker, name, did_you_mean(name, names)));
}

}  // namespace kith::cli
