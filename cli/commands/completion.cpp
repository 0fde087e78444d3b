// kith completion: prints the script that teaches a shell the commands and flags of kith.
#include "commands/all_commands.hpp"

#include "help_text.hpp"
#include "standard_output.hpp"

#include <memory>

namespace kith::cli {

Command completion_command() {
  const auto shell = std::make_shared<std::string>();
  Command command;
  command.name = "completion";
  command.summary = "print the completion script for bash or zsh";
  command.synopsis = "bash|zsh";
  command.description =
      "Prints a script that completes commands, flags, their values and file names. It is generated from the same "
      "descriptions as the help, so it always matches the installed version.";
  command.arguments = {{"SHELL", "bash|zsh", "bash or zsh",
                        [shell](const std::string& name) {
                          require_choice("SHELL", "bash|zsh", name);
                          *shell = name;
                        },
                        true}};
  command.examples = {{"bash, for this session", "source <(kith completion bash)"},
                      {"bash, for good", "kith completion bash > ~/.local/share/bash-completion/completions/kith"},
                      {"zsh, for good (a folder of your $fpath)", "kith completion zsh > ~/.zfunc/_kith"}};
  command.run = [shell] {
    const std::vector<Command> commands = all_commands();
    write_to_stdout(*shell == "bash" ? bash_completion(commands) : zsh_completion(commands));
    return 0;
  };
  return command;
}

}  // namespace kith::cli
