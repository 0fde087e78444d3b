// What one command of kith is made of: its flags and arguments, its help text and the function that runs it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kith::cli {

/// One flag. Help, parsing, suggestions and completion all read the same description, so they never disagree.
struct Flag {
  std::string names;  ///< "-k", "--json" or "-o,--out"
  std::string value;  ///< what follows it: "K", "FILE", or the choices "yes|no|auto"; empty for a switch
  std::string text;   ///< one line for the help
  std::function<void(const std::string&)> take;  ///< called with the value ("" for a switch); throws UsageError
  bool required = false;
};

/// Flags that stand together under one heading of the help.
struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

/// One argument that is no flag.
struct Argument {
  std::string name;   ///< "POINTS"; "COMMAND" and choices such as "bash|zsh" are completed as what they are
  std::string value;  ///< "FILE", "COMMAND" or choices, as for a flag
  std::string text;
  std::function<void(const std::string&)> take;
  bool required = false;
  bool repeated = false;  ///< one or more; `take` is called for each
};

/// One example of the help: what it does, and the line to type.
struct Example {
  std::string text;
  std::string line;
};

struct Command {
  std::string name;
  std::string summary;      ///< a few words for the list of commands
  std::string synopsis;     ///< what follows "kith NAME" in the usage line
  std::string description;  ///< a few sentences
  std::vector<Argument> arguments;
  std::vector<FlagGroup> groups;
  std::vector<Example> examples;
  std::function<int()> run;  ///< called after all flags were taken; returns the exit code
};

/// The parts of "a,b,c" between the separators; one empty part for an empty text.
std::vector<std::string> split(const std::string& text, char separator);

/// The values of "auto|cpu|cuda"; empty if `value` is no list of choices.
std::vector<std::string> choices_of(const std::string& value);

/// Every name of every flag of a command, e.g. "-o" and "--out".
std::vector<std::string> flag_names(const Command& command);

/// Throws UsageError, with a suggestion, unless `text` is one of the choices.
void require_choice(const std::string& flag, const std::string& choices, const std::string& text);

}  // namespace kith::cli
