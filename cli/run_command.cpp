// See run_command.hpp.
#include "run_command.hpp"

#include "commands/all_commands.hpp"
#include "help_text.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "option_words.hpp"
#include "parse_command_line.hpp"
#include "printable.hpp"
#include "report/typed_command.hpp"
#include "standard_output.hpp"
#include "suggestion.hpp"

#include <kith/error.hpp>
#include <kith/memory_limit.hpp>
#include <kith/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kith::cli {
namespace {

constexpr int kInternalError = 1;
constexpr int kInputOutput = 5;
constexpr int kNotEnoughMemory = 6;

const Command& command_called(const std::vector<Command>& commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
  if (found != commands.end()) return *found;
  if (name.starts_with("-")) {
    throw UsageError(
        fmt::format("{}: flags come after the command: kith COMMAND {}; \"kith help\" lists the commands", name, name));
  }
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  const std::string suggestion = did_you_mean(name, names);
  throw UsageError(fmt::format("there is no command \"{}\"{}", name,
                               suggestion.empty() ? "; \"kith help\" lists the commands" : suggestion));
}

int run(const std::vector<std::string>& words) {
  guard_standard_descriptors();
  const std::vector<Command> commands = all_commands();
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    write_to_stdout(guide(commands));
    return 0;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    write_to_stdout(fmt::format("kith {}\n", KITH_VERSION));
    return 0;
  }
  const Command& command = command_called(commands, words[0]);
  memory_given() = 0;
  left_by_interrupt() = "nothing was written";
  typed_words() = words;
  if (!parse_words(command, {words.begin() + 1, words.end()})) {
    write_to_stdout(help_of(command));
    return 0;
  }
  const MemoryLimit limit(memory_given());
  return command.run();
}

/// One line, whatever the message holds: a file name may contain a line break.
void complain(const std::string& message) {
  std::string line = fmt::format("{}: {}", program_name(), message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_to_stderr(printable(line) + "\n");
}

/// What a command can be asked for less of.
std::string advice_on_memory(const std::string& command) {
  if (command == "knn") return "try fewer points, fewer queries at a time or a smaller k";
  if (command == "radius" || command == "box") return "try fewer points, fewer queries at a time or smaller ones";
  return "try fewer points, fewer columns or --dtype f32";
}

/// The words for the error that is being handled, and its exit code.
std::pair<std::string, int> words_of_error(const std::string& command) {
  try {
    throw;
  } catch (const Interrupted& error) {
    return {"interrupted; " + left_by_interrupt(), error.exit_code()};
  } catch (const Error& error) {
    return {with_flags(error.what()), error.exit_code()};
  } catch (const std::bad_alloc&) {
    return {"not enough memory for this; " + advice_on_memory(command), kNotEnoughMemory};
  } catch (const std::length_error&) {
    return {"this would take more than any memory; " + advice_on_memory(command), kNotEnoughMemory};
  } catch (const std::system_error& error) {
    return {error.what(), kInputOutput};
  } catch (const std::exception& error) {
    return {fmt::format("internal error, please report it: {}", error.what()), kInternalError};
  }
}

}  // namespace

int run_and_report(const std::string& command, bool says, const std::function<int()>& work) noexcept {
  try {
    try {
      return work();
    } catch (...) {
      const auto [message, code] = words_of_error(command);
      if (says) complain(message);
      return code;
    }
  } catch (...) {  // even the message found no memory
    if (says) write_to_stderr("kith: not enough memory\n");
    return kNotEnoughMemory;
  }
}

int run_command_line(const std::vector<std::string>& words) noexcept {
  try {
    return run_and_report(words.empty() ? "" : words[0], true, [&] { return run(words); });
  } catch (...) {  // not even the name of the command found memory
    return kNotEnoughMemory;
  }
}

}  // namespace kith::cli
