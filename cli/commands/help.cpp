// kith help: the guide, or the flags and examples of one command.
#include "commands/all_commands.hpp"

#include "help_text.hpp"
#include "standard_output.hpp"
#include "suggestion.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <memory>

namespace kith::cli {

Command help_command() {
  const auto topic = std::make_shared<std::string>();
  Command command;
  command.name = "help";
  command.summary = "explain a command, with examples";
  command.synopsis = "[COMMAND]";
  command.description = "Without COMMAND: what kith is and the list of its commands.";
  command.arguments = {
      {"COMMAND", "COMMAND", "the command to explain", [topic](const std::string& name) { *topic = name; }}};
  command.examples = {{"all about the search for nearest neighbours", "kith help knn"}};
  command.run = [topic] {
    const std::vector<Command> commands = all_commands();
    if (topic->empty()) {
      write_to_stdout(guide(commands));
      return 0;
    }
    std::vector<std::string> names;
    for (const Command& known : commands) {
      if (known.name == *topic) {
        write_to_stdout(help_of(known));
        return 0;
      }
      names.push_back(known.name);
    }
    throw UsageError(fmt::format("help: there is no command \"{}\"{}", *topic, did_you_mean(*topic, names)));
  };
  return command;
}

}  // namespace kith::cli
