// kith man: prints the manual page of kith or of one command.
#include "commands/all_commands.hpp"

#include "help_text.hpp"
#include "standard_output.hpp"

#include <memory>

namespace kith::cli {

Command man_command() {
  const auto topic = std::make_shared<std::string>();
  Command command;
  command.name = "man";
  command.summary = "print a manual page for man";
  command.synopsis = "[COMMAND]";
  command.description =
      "Prints the manual page of COMMAND, or without it that of kith, as roff. It is generated from the same "
      "descriptions as the help, so it always matches the installed version. Packages install these pages: man "
      "kith-knn.";
  command.arguments = {{"COMMAND", "COMMAND", "which command; without it the page of kith", topic.get()}};
  command.examples = {{"read the page of the search for nearest neighbours", "kith man knn | man -l -"},
                      {"install the overview for yourself", "kith man > ~/.local/share/man/man1/kith.1"}};
  command.run = [topic] {
    const std::vector<Command> commands = all_commands();
    write_to_stdout(topic->empty() ? manual_page(commands) : manual_page_of(command_named(commands, *topic, "man")));
    return 0;
  };
  return command;
}

}  // namespace kith::cli
