// See all_commands.hpp.
#include "commands/all_commands.hpp"

namespace kith::cli {

std::vector<Command> all_commands() {
  return {generate_command(), info_command(),       build_command(),  knn_command(),    radius_command(),
          box_command(),      classify_command(),   dedupe_command(), export_command(), verify_command(),
          bench_command(),    completion_command(), help_command()};
}

}  // namespace kith::cli
