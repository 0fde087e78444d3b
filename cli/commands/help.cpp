// kith help: the guide, or the flags and examples of one command.
#include "commands/all_commands.hpp"

#include "help_text.hpp"
#include "standard_output.hpp"

#include <memory>

namespace kith::cli {

Command help_command() {
  const auto topic = std::make_shared<std::string>();
  Command command;
  command.name = "help";
  command.summary = "explain a command, with examples";
  command.synopsis = "[COMMAND]";
  command.description = "Without COMMAND: what kith is and the list of its commands.";
  command.arguments = {{"COMMAND", "COMMAND", "the command to explain", topic.get()}};
  command.examples = {{"all about the search for nearest neighbours", "kith help knn"}};
  command.run = [topic] {
    const std::vector<Command> commands = all_commands();
    write_to_stdout(topic->empty() ? guide(commands) : help_of(command_named(commands, *topic, "help")));
    return 0;
  };
  return command;
}

}  // namespace kith::cli
